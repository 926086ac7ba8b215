//! What of a session's paths is real, and what in them is protected.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn tree() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    for part in [
        ".git/hooks",
        "a/b/c/d/e/.git",
        "a/.vscode",
        "node_modules/x/.claude",
        "src",
    ] {
        fs::create_dir_all(root.join(part)).unwrap();
    }
    (folder, root)
}

fn ground(root: &Path) -> Ground {
    Ground::new(&Paths {
        roots: vec![root.to_owned()],
        names: crate::names::of_tests(),
        ..Paths::default()
    })
    .unwrap()
}

#[test]
fn protected_names_are_found_however_deep_they_are() {
    let (_folder, root) = tree();
    let [closed, _] = ground(&root).search();
    let expected = [
        ".git",
        "a/.vscode",
        "a/b/c/d/e/.git",
        "node_modules/x/.claude",
    ]
    .map(|part| root.join(part));
    assert_eq!(closed.places, expected);
}

#[test]
fn a_repository_that_is_open_to_git_keeps_its_controls() {
    let (_folder, root) = tree();
    fs::write(root.join(".git/config"), "").unwrap();
    let [_, open] = ground(&root).search();
    assert!(!open.places.contains(&root.join(".git")));
    for control in [".git/hooks", ".git/config"] {
        assert!(open.places.contains(&root.join(control)), "{control}");
    }
}

#[test]
fn names_that_git_may_change_are_open_to_it_and_hold_what_it_may_not() {
    let (_folder, root) = tree();
    fs::create_dir_all(root.join("a/.GitHub/.vscode")).unwrap();
    let [closed, open] = ground(&root).search();
    let (ci, editor) = (root.join("a/.GitHub"), root.join("a/.GitHub/.vscode"));
    assert!(closed.places.contains(&ci));
    assert!(!open.places.contains(&ci) && open.places.contains(&editor));
}

#[test]
fn where_a_link_leads_is_protected_if_it_could_be_written_to() {
    let (_folder, root) = tree();
    symlink("../src", root.join("a/.agents")).unwrap();
    symlink("/etc", root.join(".idea")).unwrap();
    // A link to the ground itself must not close the ground.
    symlink("..", root.join("a/.zed")).unwrap();
    let [closed, _] = ground(&root).search();
    assert_eq!(closed.targets, [root.join("src")]);
}

#[test]
fn what_appears_at_the_top_is_seen_by_the_next_command() {
    let (_folder, root) = tree();
    let ground = ground(&root);
    let [known, _] = ground.search();
    fs::create_dir(root.join(".codex")).unwrap();
    fs::remove_dir_all(root.join("a/.vscode")).unwrap();
    let found = ground.search_top(GitAccess::ReadOnly, known);
    assert!(found.places.contains(&root.join(".codex")));
    assert!(!found.places.contains(&root.join("a/.vscode")));
}

#[test]
fn what_is_left_of_too_large_a_tree_is_told() {
    let (_folder, root) = tree();
    let ground = ground(&root);
    let whole = ground.hits(Depth::Whole, ground.writable(), 1000);
    assert_eq!(whole.unsearched, []);
    for most in 0..12 {
        let hits = ground.hits(Depth::Whole, ground.writable(), most);
        let is_left = |hit: &Hit| {
            let mut left = hits.unsearched.iter();
            left.any(|one| hit.path.starts_with(one.path.path()))
        };
        let is_found = |hit: &Hit| hits.names.iter().any(|found| found.path == hit.path);
        let missed = whole
            .names
            .iter()
            .find(|hit| !is_found(hit) && !is_left(hit));
        assert!(missed.is_none(), "{most}: {missed:?}");
    }
    let hits = ground.hits(Depth::Whole, ground.writable(), 3);
    let found = ground.found(&hits, GitAccess::ReadOnly, Found::default());
    assert!(
        found
            .unsearched
            .iter()
            .all(|one| one.reason == UnsearchedReason::TooMany)
    );
    assert!(!found.unsearched.is_empty());
    // Looking again before each command would take as long.
    let next = ground.search_top(GitAccess::ReadOnly, found.clone());
    assert_eq!(next.unsearched, found.unsearched);
}

#[test]
fn what_cannot_be_listed_is_closed_and_what_is_gone_is_not() {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    for (kind, is_closed) in [
        (PermissionDenied, true),
        (NotFound, false),
        (NotADirectory, false),
    ] {
        let (_folder, root) = tree();
        let mut hits = Hits::default();
        hits.miss(&root.join("a/b"), &kind.into());
        // The last part that is there stands for what is behind it.
        hits.miss(&root.join("src/not/there"), &kind.into());
        let closed = [root.join("a/b"), root.join("src")];
        let closed = closed.map(|path| Unsearched::unreadable(&path));
        let wanted = if is_closed { &closed[..] } else { &[] };
        assert_eq!(hits.unsearched, wanted, "{kind:?}");
    }
}

#[test]
fn a_folder_that_can_be_listed_again_is_looked_through_again() {
    let (_folder, root) = tree();
    let ground = ground(&root);
    let dark = Found {
        unsearched: vec![Unsearched::unreadable(&root.join("a"))],
        ..Found::default()
    };
    let found = ground.search_top(GitAccess::ReadOnly, dark);
    assert_eq!(found.unsearched, []);
    assert!(found.places.contains(&root.join("a/.vscode")));
}

#[test]
fn paths_are_real_before_they_are_used() {
    let (_folder, root) = tree();
    fs::write(root.join("src/below"), "").unwrap();
    let link = root.with_file_name("link");
    symlink(&root, &link).unwrap();
    let ground = Ground::new(&Paths {
        roots: vec![link.clone(), root.clone()],
        protect: vec![link.join("not/yet/there")],
        deny_read: ["src", "src/below", "missing"]
            .map(|part| link.join(part))
            .to_vec(),
        ..Paths::default()
    })
    .unwrap();
    assert_eq!(ground.roots, std::slice::from_ref(&root));
    assert_eq!(ground.protect, [root.join("not/yet/there")]);
    let hidden = ["missing", "src", "src/below"].map(|part| root.join(part));
    assert_eq!(ground.hidden, hidden);
    assert_eq!(ground.covered(), [root.join("src")]);
    for path in ["/", "/etc", "/proc/self", "relative", "/nowhere/at/all"] {
        let wide = Paths {
            roots: vec![path.into()],
            ..Paths::default()
        };
        assert!(Ground::new(&wide).is_err(), "{path}");
    }
}
