//! Making, removing, renaming and linking: what each changes, and what is refused.

use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor as _, PathFlags};

use super::super::change::lexical;
use super::folder::TestFolder;
use super::session::{Session, again, at_once, code};

/// One change of the project's files.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Make(&'static str),
    Unlink(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    /// A link with this target at this path.
    Symlink(&'static str, &'static str),
}

pub(super) fn apply(session: &mut Session<'_>, change: Change) -> Result<(), ErrorCode> {
    let root = session.root();
    let mut view = session.view();
    code(match change {
        Change::Make(path) => at_once(view.create_directory_at(root, path.into())),
        Change::Unlink(path) => at_once(view.unlink_file_at(root, path.into())),
        Change::Remove(path) => at_once(view.remove_directory_at(root, path.into())),
        Change::Rename(from, to) => {
            let to_root = again(&root);
            at_once(view.rename_at(root, from.into(), to_root, to.into()))
        }
        Change::Link(from, to) => {
            let (flags, to_root) = (PathFlags::empty(), again(&root));
            at_once(view.link_at(root, flags, from.into(), to_root, to.into()))
        }
        Change::Symlink(target, path) => at_once(view.symlink_at(root, target.into(), path.into())),
    })
}

/// Runs a change that must be refused, leave the disk alone and report this power and path.
pub(super) fn refuses(
    folder: &TestFolder,
    change: Change,
    wanted: ErrorCode,
    told: Option<(&str, &str)>,
) {
    let before = folder.snapshot();
    let mut session = Session::writing(folder);
    assert_eq!(apply(&mut session, change), Err(wanted), "{change:?}");
    let told: Vec<_> = told
        .into_iter()
        .map(|(power, path)| (format!("files: {power}"), format!("project/{path}")))
        .collect();
    assert_eq!(session.refused(), told, "{change:?}");
    assert_eq!(folder.snapshot(), before, "{change:?}");
}

#[test]
fn changes_inside_the_zones_are_made() {
    // What each change removes from the disk and adds to it.
    for (change, gone, come) in [
        (
            Change::Make("docs/made"),
            None,
            Some(("docs/made", "folder")),
        ),
        (Change::Unlink("docs/b.txt"), Some("docs/b.txt"), None),
        (Change::Unlink("docs/to_b"), Some("docs/to_b"), None),
        (Change::Remove("docs/empty"), Some("docs/empty"), None),
        (
            Change::Rename("docs/b.txt", "docs/sub/d.txt"),
            Some("docs/b.txt"),
            Some(("docs/sub/d.txt", "file beta")),
        ),
        (
            Change::Rename("docs/b.txt", "new.txt"),
            Some("docs/b.txt"),
            Some(("new.txt", "file beta")),
        ),
        (
            Change::Rename("docs/empty", "docs/full"),
            Some("docs/empty"),
            Some(("docs/full", "folder")),
        ),
        (
            Change::Link("docs/b.txt", "docs/second"),
            None,
            Some(("docs/second", "file beta")),
        ),
        (
            Change::Symlink("../a.txt", "docs/new_link"),
            None,
            Some(("docs/new_link", "link to ../a.txt")),
        ),
    ] {
        let folder = TestFolder::with_files();
        folder.link("b.txt", "project/docs/to_b");
        std::fs::create_dir(folder.at("project/docs/empty")).unwrap();
        let mut wanted = folder.snapshot();
        let mut session = Session::writing(&folder);
        assert_eq!(apply(&mut session, change), Ok(()), "{change:?}");
        if let Some(path) = gone {
            wanted.remove(&format!("project/{path}")).unwrap();
        }
        if let Some((path, kind)) = come {
            wanted.insert(format!("project/{path}"), kind.into());
        }
        assert_eq!(folder.snapshot(), wanted, "{change:?}");
        assert_eq!(session.refused(), [], "{change:?}");
    }
}

#[test]
fn changes_outside_the_zones_are_refused_and_reported() {
    let folder = TestFolder::with_files();
    folder.link("../a.txt", "project/docs/to_a");
    std::fs::create_dir(folder.at("project/empty")).unwrap();
    std::fs::create_dir(folder.at("project/docs/secret/deep")).unwrap();
    for (change, power, path) in [
        (Change::Make("made"), "create-directory", "made"),
        (
            Change::Make("docs/.git/x"),
            "create-directory",
            "docs/.git/x",
        ),
        (
            Change::Make("docs/.VSCode"),
            "create-directory",
            "docs/.VSCode",
        ),
        (
            Change::Make("docs/secret/x"),
            "create-directory",
            "docs/secret/x",
        ),
        (Change::Unlink("a.txt"), "unlink-file", "a.txt"),
        (
            Change::Unlink("docs/.git/config"),
            "unlink-file",
            "docs/.git/config",
        ),
        (
            Change::Unlink("docs/secret/key"),
            "unlink-file",
            "docs/secret/key",
        ),
        (Change::Remove("empty"), "remove-directory", "empty"),
        (
            Change::Remove("docs/secret/deep"),
            "remove-directory",
            "docs/secret/deep",
        ),
        (Change::Rename("a.txt", "docs/x"), "rename", "a.txt"),
        (Change::Rename("docs/b.txt", "b.txt"), "rename", "b.txt"),
        (
            Change::Rename("docs/b.txt", "docs/.envrc"),
            "rename",
            "docs/.envrc",
        ),
        (
            Change::Rename("docs/.git", "docs/git"),
            "rename",
            "docs/.git",
        ),
        (
            Change::Rename("docs/secret/key", "docs/key"),
            "rename",
            "docs/secret/key",
        ),
        (Change::Rename("docs", "docs2"), "rename", "docs"),
        (Change::Link("a.txt", "docs/a"), "link", "a.txt"),
        (Change::Link("docs/b.txt", "b.txt"), "link", "b.txt"),
        (
            Change::Link("docs/secret/key", "docs/key"),
            "link",
            "docs/secret/key",
        ),
        (Change::Symlink("docs/b.txt", "to_b"), "symlink", "to_b"),
        (
            Change::Symlink("b.txt", "docs/.bashrc"),
            "symlink",
            "docs/.bashrc",
        ),
    ] {
        refuses(&folder, change, ErrorCode::Access, Some((power, path)));
    }
}

#[test]
fn a_read_only_call_changes_nothing() {
    let folder = TestFolder::with_files();
    let before = folder.snapshot();
    for change in [
        Change::Make("docs/made"),
        Change::Unlink("docs/b.txt"),
        Change::Remove("docs/sub"),
        Change::Rename("docs/b.txt", "docs/x"),
        Change::Link("docs/b.txt", "docs/x"),
        Change::Symlink("b.txt", "docs/x"),
    ] {
        let mut session = Session::reading(&folder);
        let answer = apply(&mut session, change);
        assert_eq!(answer, Err(ErrorCode::ReadOnly), "{change:?}");
        assert_eq!(session.refused().len(), 1, "{change:?}");
        assert_eq!(folder.snapshot(), before, "{change:?}");
    }
}

#[test]
fn changes_need_a_name_that_lies_below_the_folder() {
    let folder = TestFolder::with_files();
    folder.link("../../outside", "project/docs/out");
    for (change, wanted) in [
        (Change::Make("docs/x/.."), ErrorCode::Invalid),
        (Change::Make(".."), ErrorCode::Invalid),
        (Change::Make("."), ErrorCode::Invalid),
        (Change::Make(""), ErrorCode::NoEntry),
        (Change::Make("/"), ErrorCode::NotPermitted),
        (Change::Unlink("../outside/o.txt"), ErrorCode::NotPermitted),
        (Change::Unlink("docs/out/o.txt"), ErrorCode::NotPermitted),
        (Change::Make("docs/no/x"), ErrorCode::NoEntry),
        (Change::Make("docs/sub"), ErrorCode::Exist),
        (Change::Unlink("docs/missing"), ErrorCode::NoEntry),
        (Change::Remove("docs/sub"), ErrorCode::NotEmpty),
        (Change::Remove("docs/b.txt"), ErrorCode::NotDirectory),
        (Change::Rename("docs/missing", "docs/x"), ErrorCode::NoEntry),
        (Change::Link("docs/missing", "docs/x"), ErrorCode::NoEntry),
        (
            Change::Link("docs/b.txt", "docs/sub/c.txt"),
            ErrorCode::Exist,
        ),
        (Change::Symlink("b.txt", "docs/sub"), ErrorCode::Exist),
    ] {
        refuses(&folder, change, wanted, None);
    }
}

#[test]
fn folders_on_the_way_to_a_named_file_may_be_made() {
    let folder = TestFolder::new();
    let named = toolbay_policy::Zone::File(folder.at("project/src/deep/x.rs"));
    let mut session = Session::with(&folder, vec![named], Vec::new());
    for (path, wanted) in [
        ("src", Ok(())),
        ("src/other", Err(ErrorCode::Access)),
        ("src/deep", Ok(())),
    ] {
        assert_eq!(apply(&mut session, Change::Make(path)), wanted, "{path}");
    }
    let found: Vec<_> = folder.snapshot().into_keys().collect();
    assert_eq!(
        found,
        ["outside", "project", "project/src", "project/src/deep"]
    );
}

#[test]
fn hard_links_do_not_follow() {
    let folder = TestFolder::with_files();
    let before = folder.snapshot();
    let mut session = Session::writing(&folder);
    let (from, to) = (session.root(), session.root());
    let linking = at_once(session.view().link_at(
        from,
        PathFlags::SYMLINK_FOLLOW,
        "docs/b.txt".into(),
        to,
        "docs/x".into(),
    ));
    assert_eq!(code(linking), Err(ErrorCode::Invalid));
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn dots_are_resolved_by_name() {
    for (path, wanted) in [
        ("/p/a/../b", "/p/b"),
        ("/p/./a/.", "/p/a"),
        ("/../../p", "/p"),
        ("a/b/../../c", "c"),
    ] {
        let found = lexical(std::path::Path::new(path));
        assert_eq!(found, std::path::Path::new(wanted), "{path}");
    }
}
