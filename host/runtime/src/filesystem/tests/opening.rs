//! `open-at`: what is opened, created and truncated, and what is not.

use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor as _, OpenFlags, PathFlags,
};

use super::super::Fence;
use super::folder::TestFolder;
use super::session::{Session, again, at_once, code};

const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;
const CREATE: OpenFlags = OpenFlags::CREATE;
const EXCLUSIVE: OpenFlags = OpenFlags::EXCLUSIVE;
const TRUNCATE: OpenFlags = OpenFlags::TRUNCATE;
const DIRECTORY: OpenFlags = OpenFlags::DIRECTORY;
const READ: DescriptorFlags = DescriptorFlags::READ;
const WRITE: DescriptorFlags = DescriptorFlags::WRITE;

fn stay() -> PathFlags {
    PathFlags::empty()
}

fn none() -> OpenFlags {
    OpenFlags::empty()
}

fn folder() -> TestFolder {
    let folder = TestFolder::with_files();
    folder.link("docs/b.txt", "project/to_b");
    folder.link("../a.txt", "project/docs/to_a");
    folder.link("../outside/o.txt", "project/out");
    folder.link("secret/key", "project/docs/to_key");
    folder.link("nowhere", "project/docs/dangling");
    folder
}

#[test]
fn what_is_opened_has_the_type_and_the_access_that_was_requested() {
    let folder = folder();
    let before = folder.snapshot();
    let file = DescriptorType::RegularFile;
    let directory = DescriptorType::Directory;
    let mutable = READ | DescriptorFlags::MUTATE_DIRECTORY;
    let nothing = DescriptorFlags::empty();
    for (path, path_flags, open_flags, flags, kind, has) in [
        ("a.txt", stay(), none(), READ, file, READ),
        ("a.txt", stay(), none(), nothing, file, READ),
        ("a.txt", stay(), EXCLUSIVE, READ, file, READ),
        ("./docs/../a.txt", stay(), none(), READ, file, READ),
        ("docs/b.txt", stay(), none(), WRITE, file, WRITE),
        (
            "docs/b.txt",
            stay(),
            none(),
            READ | WRITE,
            file,
            READ | WRITE,
        ),
        ("docs/b.txt", stay(), CREATE, WRITE, file, WRITE),
        ("docs/b.txt", stay(), CREATE, READ, file, READ),
        ("to_b", FOLLOW, none(), READ, file, READ),
        ("to_b", FOLLOW, none(), WRITE, file, WRITE),
        ("docs", stay(), none(), READ, directory, mutable),
        ("docs", stay(), DIRECTORY, READ, directory, mutable),
        (".", stay(), DIRECTORY, nothing, directory, mutable),
    ] {
        let label = format!("{path} {open_flags:?} {flags:?}");
        let mut session = Session::writing(&folder);
        let handle = session.open(path, path_flags, open_flags, flags).unwrap();
        let found = at_once(session.view().get_type(again(&handle)));
        assert_eq!(code(found), Ok(kind), "{label}");
        let found = at_once(session.view().get_flags(handle));
        assert_eq!(code(found), Ok(has), "{label}");
        assert_eq!(session.refused(), [], "{label}");
        assert_eq!(folder.snapshot(), before, "{label}");
    }
}

#[test]
fn what_is_refused_changes_nothing_and_is_reported_once() {
    let folder = folder();
    let before = folder.snapshot();
    let open = Some("files: open");
    let write = Some("files: open for writing");
    let create = Some("files: create");
    use ErrorCode::{
        Access, Exist, Invalid, IsDirectory, Loop, NoEntry, NotDirectory, NotPermitted,
    };
    for (path, path_flags, open_flags, flags, wanted, power) in [
        // Rules, wherever the path starts.
        ("docs/secret/key", stay(), none(), READ, Access, open),
        ("docs/secret/key", stay(), none(), WRITE, Access, write),
        ("docs/secret", stay(), DIRECTORY, READ, Access, open),
        ("docs/to_key", FOLLOW, none(), READ, Access, open),
        ("docs/secret/new", stay(), CREATE, WRITE, Access, create),
        // Zones, by where the file really lies.
        ("a.txt", stay(), none(), WRITE, Access, write),
        ("a.txt", stay(), TRUNCATE, READ, Access, write),
        ("docs/to_a", FOLLOW, TRUNCATE, WRITE, Access, write),
        ("docs/.git/config", stay(), TRUNCATE, WRITE, Access, write),
        ("docs/.git/new", stay(), CREATE, WRITE, Access, create),
        ("docs/.envrc", stay(), CREATE, WRITE, Access, create),
        ("beside.txt", stay(), CREATE, WRITE, Access, create),
        (
            "beside.txt",
            stay(),
            CREATE | EXCLUSIVE,
            WRITE,
            Access,
            create,
        ),
        // What leads out of the folder.
        ("out", FOLLOW, none(), READ, NotPermitted, None),
        ("../outside/o.txt", stay(), none(), READ, NotPermitted, None),
        ("/etc/hosts", stay(), none(), READ, NotPermitted, None),
        ("../outside/new", stay(), CREATE, WRITE, NotPermitted, None),
        // What the flags rule out.
        ("missing", stay(), none(), READ, NoEntry, None),
        ("docs/missing", stay(), none(), WRITE, NoEntry, None),
        ("docs/missing", stay(), TRUNCATE, WRITE, NoEntry, None),
        ("docs/no/missing", stay(), CREATE, WRITE, NoEntry, None),
        ("docs/missing", stay(), DIRECTORY, READ, NoEntry, None),
        (
            "docs/missing",
            stay(),
            CREATE | DIRECTORY,
            READ,
            Invalid,
            None,
        ),
        ("docs/b.txt", stay(), CREATE | EXCLUSIVE, WRITE, Exist, None),
        (
            "docs/dangling",
            FOLLOW,
            CREATE | EXCLUSIVE,
            WRITE,
            Exist,
            None,
        ),
        ("docs/b.txt", stay(), DIRECTORY, READ, NotDirectory, None),
        ("docs/b.txt/x", stay(), none(), READ, NotDirectory, None),
        ("docs/sub", stay(), none(), WRITE, IsDirectory, None),
        ("to_b", stay(), none(), READ, Loop, None),
        ("to_b", stay(), TRUNCATE, WRITE, Loop, None),
    ] {
        let label = format!("{path} {open_flags:?} {flags:?}");
        let mut session = Session::writing(&folder);
        let answer = session.open(path, path_flags, open_flags, flags);
        assert_eq!(answer.err(), Some(wanted), "{label}");
        let powers: Vec<_> = session.refused().into_iter().map(|told| told.0).collect();
        let expected: Vec<_> = power.into_iter().map(str::to_owned).collect();
        assert_eq!(powers, expected, "{label}");
        assert_eq!(folder.snapshot(), before, "{label}");
    }
}

#[test]
fn a_refusal_names_the_file_that_a_link_leads_to() {
    let folder = folder();
    let mut session = Session::writing(&folder);
    let opened = session.open("docs/to_a", FOLLOW, none(), WRITE);
    assert_eq!(opened.err(), Some(ErrorCode::Access));
    let told = ("files: open for writing".into(), "project/a.txt".into());
    assert_eq!(session.refused(), [told]);
}

#[test]
fn a_read_only_call_opens_to_read_and_nothing_else() {
    let folder = folder();
    let before = folder.snapshot();
    for (path, open_flags, flags, wanted) in [
        ("a.txt", none(), READ, None),
        ("docs", DIRECTORY, READ, None),
        ("missing", none(), READ, Some(ErrorCode::NoEntry)),
        ("a.txt", none(), WRITE, Some(ErrorCode::ReadOnly)),
        ("a.txt", TRUNCATE, READ, Some(ErrorCode::ReadOnly)),
        ("a.txt", CREATE, READ, Some(ErrorCode::ReadOnly)),
        ("missing", none(), WRITE, Some(ErrorCode::ReadOnly)),
        ("missing", CREATE, READ, Some(ErrorCode::ReadOnly)),
    ] {
        let mut session = Session::reading(&folder);
        let answer = session.open(path, stay(), open_flags, flags);
        assert_eq!(answer.err(), wanted, "{path} {open_flags:?} {flags:?}");
        let reported = usize::from(wanted == Some(ErrorCode::ReadOnly));
        assert_eq!(session.refused().len(), reported, "{path} {open_flags:?}");
        assert_eq!(folder.snapshot(), before, "{path} {open_flags:?} {flags:?}");
    }
    let mut session = Session::reading(&folder);
    let docs = session.open_to_read("docs").unwrap();
    assert_eq!(code(at_once(session.view().get_flags(docs))), Ok(READ));
}

#[test]
fn files_are_created_and_truncated_where_the_zones_allow_it() {
    let folder = folder();
    let mut session = Session::writing(&folder);
    for (path, open_flags, flags, has) in [
        ("new.txt", CREATE, WRITE, WRITE),
        ("docs/x", CREATE | EXCLUSIVE, READ | WRITE, READ | WRITE),
        // What is created can be written, or there would be no use in it.
        ("docs/sub/y", CREATE, READ, READ | WRITE),
        ("docs/z", CREATE | TRUNCATE, WRITE, WRITE),
        ("docs/b.txt", TRUNCATE, WRITE, WRITE),
        ("docs/sub/c.txt", TRUNCATE, READ, READ | WRITE),
    ] {
        let handle = session.open(path, stay(), open_flags, flags).unwrap();
        let found = code(at_once(session.view().get_flags(handle)));
        assert_eq!(found, Ok(has), "{path}");
        assert_eq!(folder.read(&format!("project/{path}")), "", "{path}");
    }
    assert_eq!(session.refused(), []);
}

#[cfg(target_os = "linux")]
#[test]
fn fifos_and_the_kernels_files_are_no_files() {
    let folder = folder();
    folder.fifo("project/docs/fifo");
    let mut session = Session::writing(&folder);
    let told = |path: String| ("files: open".to_owned(), path);
    let opened = session.open_to_read("docs/fifo");
    assert_eq!(opened.err(), Some(ErrorCode::Unsupported));
    assert_eq!(session.refused(), [told("project/docs/fifo".into())]);

    let process = format!("/proc/{}", std::process::id());
    let roots = [std::path::PathBuf::from(&process)];
    let fence = Fence::reading(roots.into(), toolbay_contract::RulesNow::default());
    let mut session = Session::over(&folder, fence);
    let opened = session.open_to_read("environ");
    assert_eq!(opened.err(), Some(ErrorCode::Unsupported));
    assert_eq!(session.refused(), [told(format!("{process}/environ"))]);
    assert_eq!(session.open_to_read("task").err(), Some(ErrorCode::Access));
}

#[test]
fn a_file_that_was_removed_or_moved_is_judged_by_where_it_is_now() {
    let folder = folder();
    let mut session = Session::writing(&folder);
    let sub = session.open_to_read("docs/sub").unwrap();
    std::fs::rename(folder.at("project/docs/sub"), folder.at("outside/sub")).unwrap();
    let mut view = session.view();
    let opening = view.open_at(again(&sub), stay(), "c.txt".into(), none(), READ);
    assert_eq!(code(at_once(opening)).err(), Some(ErrorCode::Access));
    assert_eq!(session.names(again(&sub)).err(), Some(ErrorCode::Access));
    std::fs::remove_dir_all(folder.at("outside/sub")).unwrap();
    assert_eq!(session.names(sub).err(), Some(ErrorCode::NoEntry));
}
