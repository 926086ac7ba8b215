//! Replacing a whole file in one step.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::super::{Located, ReplaceFailure};
use super::folder::TestFolder;
use super::session::Session;

const SEED: u64 = 7;

fn replace(
    session: &Session<'_>,
    path: &std::path::Path,
    expected: impl Fn(Option<&str>) -> Result<(), String>,
) -> Result<String, ReplaceFailure> {
    let located = Located::find(&session.fence, path).map_err(ReplaceFailure::Refused)?;
    located.replace(&session.fence, b"fresh", SEED, &|| false, expected)
}

fn class(failure: &ReplaceFailure) -> &'static str {
    match failure {
        ReplaceFailure::Unexpected(_) => "unexpected",
        ReplaceFailure::Refused(_) => "refused",
        ReplaceFailure::Failed(_) => "failed",
    }
}

#[test]
fn files_are_replaced_where_the_zones_allow_it() {
    for (path, lands, exists) in [
        ("docs/b.txt", "docs/b.txt", true),
        ("new.txt", "new.txt", false),
        ("docs/made/deep/x", "docs/made/deep/x", false),
        ("docs/to_b", "docs/b.txt", true),
        ("to_docs/b.txt", "docs/b.txt", true),
        ("to_docs/made.txt", "docs/made.txt", false),
    ] {
        let folder = TestFolder::with_files();
        folder.link("b.txt", "project/docs/to_b");
        folder.link("{}/project/docs", "project/to_docs");
        let mut wanted = folder.snapshot();
        let session = Session::writing(&folder);
        let at = folder.at("project").join(path);
        let digest = replace(&session, &at, |old| {
            assert_eq!(old.is_some(), exists, "{path}");
            Ok(())
        });
        assert!(digest.unwrap().starts_with("5-"), "{path}");
        wanted.insert(format!("project/{lands}"), "file fresh".into());
        if lands.starts_with("docs/made/") {
            wanted.insert("project/docs/made".into(), "folder".into());
            wanted.insert("project/docs/made/deep".into(), "folder".into());
        }
        assert_eq!(folder.snapshot(), wanted, "{path}");
        assert_eq!(session.refused(), [], "{path}");
    }
}

#[test]
fn what_is_not_replaced_stays_as_it_was() {
    let folder = TestFolder::with_files();
    folder.link("../a.txt", "project/docs/to_a");
    folder.link("nowhere", "project/docs/dangling");
    let before = folder.snapshot();
    let long = format!("project/docs/{}", "x".repeat(300));
    for (path, wanted, reported) in [
        ("project/a.txt", "refused", 1),
        ("project/docs/to_a", "refused", 1),
        ("project/made/x", "refused", 1),
        ("project/docs/.git/config", "refused", 1),
        ("project/docs/secret/key", "refused", 1),
        ("outside/o.txt", "refused", 1),
        ("project/docs/../../outside/o.txt", "refused", 1),
        ("project/docs/sub", "unexpected", 0),
        ("project/docs/dangling", "failed", 0),
        ("project/docs/b.txt/x", "failed", 0),
        (&long, "failed", 0),
    ] {
        let session = Session::writing(&folder);
        let failure = replace(&session, &folder.at(path), |_| panic!("{path}")).unwrap_err();
        assert_eq!(class(&failure), wanted, "{path}: {failure:?}");
        assert_eq!(session.refused().len(), reported, "{path}");
        assert_eq!(folder.snapshot(), before, "{path}");
    }
}

#[test]
fn an_expectation_that_does_not_hold_keeps_the_file() {
    let folder = TestFolder::with_files();
    let before = folder.snapshot();
    let session = Session::writing(&folder);
    for path in ["project/docs/b.txt", "project/docs/new"] {
        let failure = replace(&session, &folder.at(path), |_| Err("changed".into()));
        assert_eq!(class(&failure.unwrap_err()), "unexpected", "{path}");
        assert_eq!(folder.snapshot(), before, "{path}");
    }
    let located = Located::find(&session.fence, &folder.at("project/docs/b.txt")).unwrap();
    let stopped = located.replace(&session.fence, b"fresh", SEED, &|| true, |_| Ok(()));
    assert_eq!(class(&stopped.unwrap_err()), "failed");
    let new = Located::find(&session.fence, &folder.at("project/docs/new")).unwrap();
    let stopped = new.replace(&session.fence, b"fresh", SEED, &|| true, |_| Ok(()));
    assert_eq!(class(&stopped.unwrap_err()), "failed");
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn a_file_that_appears_meanwhile_is_kept() {
    let folder = TestFolder::with_files();
    let session = Session::writing(&folder);
    let at = folder.at("project/docs/new");
    let failure = replace(&session, &at, |_| {
        folder.write("project/docs/new", "theirs");
        Ok(())
    });
    assert_eq!(class(&failure.unwrap_err()), "unexpected");
    assert_eq!(folder.read("project/docs/new"), "theirs");
    assert_eq!(
        std::fs::read_dir(folder.at("project/docs"))
            .unwrap()
            .count(),
        5
    );
}

#[test]
fn the_new_content_keeps_mode_and_owner() {
    let folder = TestFolder::with_files();
    let at = folder.at("project/docs/b.txt");
    // Only root may give files away; for others the owner is the same before and after.
    let _ = std::os::unix::fs::chown(&at, Some(1234), Some(1234));
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o751)).unwrap();
    let before = std::fs::metadata(&at).unwrap();
    let session = Session::writing(&folder);
    replace(&session, &at, |_| Ok(())).unwrap();
    let after = std::fs::metadata(&at).unwrap();
    assert_eq!(after.mode(), before.mode());
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!(folder.read("project/docs/b.txt"), "fresh");
}
