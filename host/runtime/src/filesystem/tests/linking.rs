//! Links on the way to a file: relative ones, and absolute ones that lead back inside.

use std::sync::Arc;

use toolbay_contract::RulesNow;
use toolbay_policy::{Zone, Zones};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor as _, OpenFlags, PathFlags,
};

use super::super::Fence;
use super::folder::TestFolder;
use super::session::{Session, at_once, code};

fn folder() -> TestFolder {
    let folder = TestFolder::with_files();
    for (target, name) in [
        ("docs/b.txt", "relative"),
        ("relative", "chain"),
        ("{}/project/docs/b.txt", "absolute"),
        ("{}/project/docs", "absolute_folder"),
        ("{}/project", "home"),
        ("absolute", "to_absolute"),
        ("{}/project/docs/secret/key", "closed"),
        ("{}/outside/o.txt", "out"),
        ("{}/outside", "out_folder"),
        ("../outside/o.txt", "relative_out"),
        ("/etc/hosts", "hosts"),
        ("{}/project/missing", "dangling"),
        ("loop", "loop"),
    ] {
        folder.link(target, &format!("project/{name}"));
    }
    folder.link("b.txt", "project/docs/inner");
    folder
}

#[test]
fn links_are_followed_inside_and_refused_outside() {
    let folder = folder();
    let mut session = Session::writing(&folder);
    for (path, wanted) in [
        ("relative", Ok("beta")),
        ("chain", Ok("beta")),
        ("absolute", Ok("beta")),
        ("to_absolute", Ok("beta")),
        ("absolute_folder/b.txt", Ok("beta")),
        ("absolute_folder/inner", Ok("beta")),
        ("absolute_folder/sub/c.txt", Ok("gamma")),
        ("home/a.txt", Ok("alpha")),
        ("home/home/absolute_folder/b.txt", Ok("beta")),
        ("closed", Err(ErrorCode::Access)),
        ("absolute_folder/secret/key", Err(ErrorCode::Access)),
        ("out", Err(ErrorCode::NotPermitted)),
        ("out_folder/o.txt", Err(ErrorCode::NotPermitted)),
        ("relative_out", Err(ErrorCode::NotPermitted)),
        ("hosts", Err(ErrorCode::NotPermitted)),
        ("dangling", Err(ErrorCode::NotPermitted)),
        ("loop", Err(ErrorCode::Loop)),
    ] {
        let found = session.content(path);
        let wanted = wanted.map(str::to_owned);
        assert_eq!(found, wanted, "{path}");
        let reported = usize::from(wanted == Err(ErrorCode::Access));
        assert_eq!(session.refused().len(), reported, "{path}");
    }
}

#[test]
fn a_link_to_the_root_itself_opens_the_root() {
    let folder = folder();
    let mut session = Session::reading(&folder);
    let home = session.open_to_read("home").unwrap();
    let names = session.names(home).unwrap();
    assert!(names.contains(&"a.txt".to_owned()), "{names:?}");
}

#[test]
fn the_last_name_is_the_link_itself_unless_it_is_to_be_followed() {
    let folder = folder();
    let mut session = Session::reading(&folder);
    let stay = PathFlags::empty();
    let follow = PathFlags::SYMLINK_FOLLOW;
    let file = DescriptorType::RegularFile;
    let link = DescriptorType::SymbolicLink;
    let directory = DescriptorType::Directory;
    for (path, flags, wanted) in [
        ("relative", stay, Ok(link)),
        ("relative", follow, Ok(file)),
        ("absolute", stay, Ok(link)),
        ("absolute", follow, Ok(file)),
        ("absolute_folder/inner", stay, Ok(link)),
        ("absolute_folder/inner", follow, Ok(file)),
        ("home", stay, Ok(link)),
        ("home", follow, Ok(directory)),
        ("out", stay, Ok(link)),
        ("out", follow, Err(ErrorCode::NotPermitted)),
        ("out_folder/o.txt", stay, Err(ErrorCode::NotPermitted)),
    ] {
        let root = session.root();
        let found = at_once(session.view().stat_at(root, flags, path.into()));
        let found = code(found).map(|stat| stat.type_);
        assert_eq!(found, wanted, "{path} {flags:?}");
    }
    for path in ["relative", "absolute", "absolute_folder/inner", "out"] {
        let opened = session.open(path, stay, OpenFlags::empty(), DescriptorFlags::READ);
        assert_eq!(opened.err(), Some(ErrorCode::Loop), "{path}");
    }
}

#[test]
fn writing_through_a_link_is_writing_its_target() {
    let folder = folder();
    folder.link("{}/project/a.txt", "project/docs/to_a");
    let mut session = Session::writing(&folder);
    let follow = PathFlags::SYMLINK_FOLLOW;
    let write = DescriptorFlags::WRITE;
    for (path, flags, wanted) in [
        ("absolute", OpenFlags::TRUNCATE, None),
        ("absolute_folder/made.txt", OpenFlags::CREATE, None),
        ("docs/to_a", OpenFlags::TRUNCATE, Some(ErrorCode::Access)),
        ("home/made.txt", OpenFlags::CREATE, Some(ErrorCode::Access)),
        (
            "out_folder/made.txt",
            OpenFlags::CREATE,
            Some(ErrorCode::NotPermitted),
        ),
    ] {
        let opened = session.open(path, follow, flags, write);
        assert_eq!(opened.err(), wanted, "{path}");
    }
    assert_eq!(folder.read("project/docs/b.txt"), "");
    assert_eq!(folder.read("project/docs/made.txt"), "");
    assert_eq!(folder.read("project/a.txt"), "alpha");
    assert!(!folder.at("project/made.txt").exists());
    assert!(!folder.at("outside/made.txt").exists());
}

#[test]
fn a_link_leads_from_one_granted_folder_to_another() {
    let folder = folder();
    let extra = Zones::new(vec![Zone::File(folder.at("outside/o.txt"))]);
    let fence = Fence::reading(Arc::from([folder.project()]), RulesNow::default());
    let mut session = Session::over(&folder, fence.with_extra_reads(extra));
    folder.link("{}/outside/p.txt", "project/not_granted");
    assert_eq!(session.content("out"), Ok("outer".into()));
    assert_eq!(session.content("out_folder/o.txt"), Ok("outer".into()));
    assert_eq!(session.refused(), []);
    assert_eq!(session.content("not_granted"), Err(ErrorCode::Access));
    let told = ("files: open".into(), "outside/p.txt".into());
    assert_eq!(session.refused(), [told]);
    // Going up by name is no matter of links, and stays refused.
    let up = session.content("../outside/o.txt");
    assert_eq!(up, Err(ErrorCode::NotPermitted));
}

#[test]
fn the_target_of_a_link_is_read_where_the_link_may_be() {
    let folder = folder();
    folder.link("key", "project/docs/secret/link");
    let mut session = Session::writing(&folder);
    for (path, wanted) in [
        ("relative", Ok("docs/b.txt")),
        ("relative_out", Ok("../outside/o.txt")),
        ("docs/inner", Ok("b.txt")),
        ("docs/secret/link", Err(ErrorCode::Access)),
        ("a.txt", Err(ErrorCode::Invalid)),
        ("missing", Err(ErrorCode::NoEntry)),
    ] {
        let root = session.root();
        let found = code(at_once(session.view().readlink_at(root, path.into())));
        assert_eq!(found, wanted.map(str::to_owned), "{path}");
    }
    let told = ("files: readlink".into(), "project/docs/secret/link".into());
    assert_eq!(session.refused(), [told]);
}
