//! What a new name means for what is named: folders with their content, links with their target.

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::changing::{Change, apply, refuses};
use super::folder::TestFolder;
use super::session::Session;

const BELOW: &str = "rename of a folder above";

fn folder() -> TestFolder {
    let folder = TestFolder::with_files();
    folder.write("project/docs/deep/plain/x/y.txt", "y");
    folder.link("y.txt", "project/docs/deep/plain/x/near");
    folder.write("project/docs/deep/linked/x/y.txt", "y");
    // From one folder higher, this leads out of the project.
    folder.link("../../../../a.txt", "project/docs/deep/linked/x/far");
    folder.link("../../a.txt", "project/docs/deep/up");
    folder.link("{}/project/a.txt", "project/docs/deep/absolute");
    folder.link("../../outside/o.txt", "project/docs/out");
    folder
}

#[test]
fn folders_move_with_what_may_have_another_name() {
    for change in [
        Change::Rename("docs/deep/plain", "docs/plain"),
        Change::Rename("docs/deep/plain", "docs/deep/other"),
        Change::Rename("docs/deep/linked", "docs/deep/other"),
        Change::Rename("docs/deep/absolute", "docs/absolute"),
        Change::Rename("docs/deep/up", "docs/sub/up"),
        Change::Rename("docs/out", "docs/out2"),
        Change::Link("docs/deep/up", "docs/sub/up"),
        Change::Link("docs/out", "docs/out2"),
        Change::Link("docs/deep/absolute", "docs/absolute"),
    ] {
        let folder = folder();
        let before = folder.snapshot();
        let mut session = Session::writing(&folder);
        assert_eq!(apply(&mut session, change), Ok(()), "{change:?}");
        assert_eq!(session.refused(), [], "{change:?}");
        let (from, to) = match change {
            Change::Rename(from, to) => (from, to),
            Change::Link(from, to) => {
                let kept = format!("project/{from}");
                assert_eq!(folder.snapshot()[&kept], before[&kept], "{change:?}");
                (from, to)
            }
            other => panic!("{other:?}"),
        };
        let wanted: Vec<_> = before
            .iter()
            .filter_map(|(path, kind)| Some((path.strip_prefix(&format!("project/{from}"))?, kind)))
            .collect();
        let after = folder.snapshot();
        for (below, kind) in wanted {
            assert_eq!(after[&format!("project/{to}{below}")], *kind, "{change:?}");
        }
    }
}

#[test]
fn a_folder_does_not_move_what_is_closed_or_protected() {
    let folder = folder();
    folder.write("project/docs/outer/.git/config", "x");
    folder.write("project/docs/outer/z.txt", "z");
    let path = "docs/outer/.git";
    let change = Change::Rename("docs/outer", "docs/renamed");
    refuses(&folder, change, ErrorCode::Access, Some((BELOW, path)));

    // Its own name is free, what lies in it is not.
    let closed = vec![folder.at("project/docs/deep/plain/x/y.txt")];
    let zones = vec![toolbay_policy::Zone::Folder(folder.at("project/docs"))];
    let mut session = Session::with(&folder, zones, closed);
    let before = folder.snapshot();
    let change = Change::Rename("docs/deep", "docs/opened");
    assert_eq!(apply(&mut session, change), Err(ErrorCode::Access));
    let told = format!("files: {BELOW}");
    let path = "project/docs/deep/plain/x/y.txt";
    assert_eq!(session.refused(), [(told, path.into())]);
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn a_folder_does_not_get_a_name_that_would_close_what_lies_in_it() {
    let folder = folder();
    let closed = vec![folder.at("project/docs/target/c.txt")];
    let zones = vec![toolbay_policy::Zone::Folder(folder.at("project/docs"))];
    let mut session = Session::with(&folder, zones, closed);
    let before = folder.snapshot();
    let change = Change::Rename("docs/sub", "docs/target");
    assert_eq!(apply(&mut session, change), Err(ErrorCode::Access));
    let told = format!("files: {BELOW}");
    let path = "project/docs/target/c.txt";
    assert_eq!(session.refused(), [(told, path.into())]);
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn links_do_not_move_to_where_they_lead_out() {
    let folder = folder();
    for change in [
        Change::Rename("docs/deep/linked", "docs/linked"),
        Change::Rename("docs/deep/linked/x/far", "docs/far"),
        Change::Link("docs/deep/linked/x/far", "docs/far"),
        Change::Rename("docs/deep/up", "new.txt"),
    ] {
        let before = folder.snapshot();
        let mut session = Session::writing(&folder);
        let answer = apply(&mut session, change);
        assert_eq!(answer, Err(ErrorCode::NotPermitted), "{change:?}");
        let told = session.refused();
        assert_eq!(told.len(), 1, "{change:?}");
        assert_eq!(told[0].0, "files: symlink", "{change:?}");
        assert_eq!(folder.snapshot(), before, "{change:?}");
    }
}

#[test]
fn links_are_made_only_to_what_may_be_read() {
    let folder = folder();
    let absolute: &'static str = folder.at("project/a.txt").display().to_string().leak();
    for (target, wanted) in [
        ("b.txt", Ok(())),
        ("../a.txt", Ok(())),
        ("./sub/c.txt", Ok(())),
        ("not/there/yet", Ok(())),
        ("..", Ok(())),
        ("../../outside/o.txt", Err(ErrorCode::NotPermitted)),
        ("../..", Err(ErrorCode::NotPermitted)),
        ("secret/key", Err(ErrorCode::NotPermitted)),
        (absolute, Err(ErrorCode::NotPermitted)),
        ("/etc/passwd", Err(ErrorCode::NotPermitted)),
        // Where it leads depends on what `sub` is by then.
        ("sub/../b.txt", Err(ErrorCode::NotPermitted)),
        ("../docs/../a.txt", Err(ErrorCode::NotPermitted)),
    ] {
        let mut session = Session::writing(&folder);
        let change = Change::Symlink(target.to_owned().leak(), "docs/made");
        assert_eq!(apply(&mut session, change), wanted, "{target}");
        let made = std::fs::read_link(folder.at("project/docs/made"));
        match wanted {
            Ok(()) => {
                assert_eq!(made.unwrap().to_str(), Some(target));
                std::fs::remove_file(folder.at("project/docs/made")).unwrap();
                assert_eq!(session.refused(), [], "{target}");
            }
            Err(_) => {
                assert!(made.is_err(), "{target}");
                assert_eq!(session.refused().len(), 1, "{target}");
            }
        }
    }
}

#[test]
fn a_folder_with_too_many_files_to_check_keeps_its_name() {
    let folder = TestFolder::new();
    let many = folder.at("project/docs/many");
    std::fs::create_dir_all(&many).unwrap();
    for number in 0..=20_000 {
        std::fs::File::create(many.join(number.to_string())).unwrap();
    }
    let mut session = Session::writing(&folder);
    let change = Change::Rename("docs/many", "docs/more");
    assert_eq!(apply(&mut session, change), Err(ErrorCode::Access));
    let told = ("files: rename".into(), "project/docs/many".into());
    assert_eq!(session.refused(), [told]);
    assert!(many.exists() && !folder.at("project/docs/more").exists());
    std::fs::remove_file(many.join("0")).unwrap();
    assert_eq!(apply(&mut session, change), Ok(()));
    assert!(!many.exists() && folder.at("project/docs/more/1").exists());
}
