use super::super::pattern::{ClosedPattern, ClosedTo};
use super::*;

fn pattern(glob: &str, closes: ClosedTo) -> PathGlob {
    let pattern = ClosedPattern::new(Path::new("/tmp/p"), glob, closes);
    PathGlob::from(&pattern.unwrap())
}

fn guard(git: GitAccess) -> Guard {
    Guard {
        zones: vec![
            Zone {
                path: "/tmp".into(),
                kind: ZoneKind::Private,
                identity: None,
            },
            Zone {
                path: "/tmp/p".into(),
                kind: ZoneKind::Shared,
                identity: None,
            },
        ],
        shown: vec!["/tmp/q".into()],
        names: vec![".git".into(), ".claude".into()],
        paths: vec!["/tmp/p/a/b/c".into()],
        targets: Vec::new(),
        pins: vec!["/tmp/p/nested/.git".into()],
        unsearched: vec![Unsearched::unreadable(Path::new("/tmp/p/dark"))],
        unreadable: vec!["/tmp/p/keys".into(), "/home/u/.netrc".into()],
        patterns: vec![
            pattern("**/*.pem", ClosedTo::Reading),
            pattern("gen", ClosedTo::Writing),
        ],
        git,
    }
}

#[test]
fn protected_names_hold_at_any_depth_and_in_any_case() {
    let guard = guard(GitAccess::ReadOnly);
    for (path, is_refused) in [
        ("/tmp/p/new", false),
        ("/tmp/p/.claude", true),
        ("/tmp/p/x/y/.CLAUDE/settings.json", true),
        ("/tmp/p/.git/config", true),
        ("/tmp/p/.gitignore", false),
        ("/tmp/p/sub/.git", true),
        ("/tmp/p/dark", true),
        ("/tmp/p/dark/new", true),
        ("/tmp/p/darker", false),
        ("/tmp/p/new.pem", true),
        ("/tmp/p/gen/new", true),
        ("/tmp/new.pem", false),
        // A private folder is nobody's project.
        ("/tmp/.git/config", false),
        ("/elsewhere/.git", false),
    ] {
        let refused = guard.refuses(Act::Make, Path::new(path)).is_some();
        assert_eq!(refused, is_refused, "{path}");
    }
}

#[test]
fn what_is_shown_in_a_private_folder_is_not_private() {
    let guard = guard(GitAccess::ReadOnly);
    for (path, is_in_zone) in [
        ("/tmp/own", true),
        ("/tmp/q", false),
        ("/tmp/q/x", false),
        ("/tmp/qx", true),
        ("/tmp/p/x", true),
    ] {
        assert_eq!(guard.zone(Path::new(path)).is_some(), is_in_zone, "{path}");
    }
}

#[test]
fn the_way_to_a_protected_path_can_be_made_but_not_replaced() {
    let guard = guard(GitAccess::ReadOnly);
    for (act, path, is_refused) in [
        (Act::Make, "/tmp/p/a", false),
        (Act::Make, "/tmp/p/a/b", false),
        (Act::Make, "/tmp/p/a/b/c", true),
        (Act::Make, "/tmp/p/a/b/c/d", true),
        (Act::Place, "/tmp/p/a", true),
        (Act::Remove, "/tmp/p/a/b", true),
        (Act::Place, "/tmp/p/ab", false),
        (Act::Remove, "/tmp/p/nested", true),
        (Act::Make, "/tmp/p/nested/new", false),
    ] {
        let refused = guard.refuses(act, Path::new(path)).is_some();
        assert_eq!(refused, is_refused, "{act:?} {path}");
    }
}

#[test]
fn what_is_closed_to_reading_is_so_with_all_below_and_after_its_removal() {
    let guard = guard(GitAccess::ReadOnly);
    for (path, is_refused) in [
        ("/tmp/p/keys", true),
        ("/tmp/p/keys/a", true),
        ("/tmp/p/keys/a (deleted)", true),
        ("/home/u/.netrc (deleted)", true),
        ("/tmp/p/keys2", false),
        ("/tmp/p/a/k.pem", true),
        ("/tmp/p/a/k.pem (deleted)", true),
        ("/tmp/q/k.pem", false),
        ("/tmp/p/gen", false),
        ("/home/u/.netrc2", false),
        ("/tmp/p", false),
        ("pipe:[7]", false),
    ] {
        let refused = guard.closes_reading(Path::new(path));
        assert_eq!(refused, is_refused, "{path}");
    }
}

#[test]
fn git_may_write_all_but_what_makes_it_run_programs() {
    let guard = guard(GitAccess::Writes);
    for (path, is_refused) in [
        ("/tmp/p/.git/objects/ab/cd", false),
        ("/tmp/p/.git/index.lock", false),
        ("/tmp/p/.git/index", true),
        ("/tmp/p/.git/sequencer/opts", true),
        ("/tmp/p/.git/sequencer/opts.lock", false),
        ("/tmp/p/.git/hooks/pre-commit", true),
        ("/tmp/p/.git/commondir", true),
        ("/tmp/p/.git/config.lock", true),
        ("/tmp/p/.git", true),
        ("/tmp/p/.claude/x", true),
        ("/tmp/p/.git/x", true),
        ("/tmp/p/.git/objects/.claude", true),
        ("/tmp/p/.git/objects/.git/objects/x", true),
        ("/tmp/p/.git/refs/heads/.git", true),
        ("/tmp/p/.git/objects/info/alternates", true),
    ] {
        let refused = guard.refuses(Act::Make, Path::new(path)).is_some();
        assert_eq!(refused, is_refused, "{path}");
    }
    let link = Path::new("/tmp/p/.git/refs/heads/x");
    assert!(guard.refuses(Act::Place, link).is_none());
    assert!(guard.refuses(Act::Link, link).is_some());
}

#[test]
fn nothing_moves_between_a_repository_and_the_tree() {
    let guard = guard(GitAccess::Writes);
    for (from, to, moved, is_refused) in [
        ("a", "b", Moved::Folder, false),
        (".git/index.lock", ".git/index", Moved::File, false),
        (".git/objects/a", ".git/objects/b", Moved::Folder, true),
        (".git/refs/heads/a", "a", Moved::File, true),
        ("a", ".git/refs/heads/a", Moved::File, true),
        (".git/HEAD", "sub/.git/HEAD", Moved::File, true),
        ("../own/.git/a", "../own/b", Moved::Folder, false),
    ] {
        let path = |part: &str| match part.strip_prefix("../") {
            Some(part) => Path::new("/tmp").join(part),
            None => Path::new("/tmp/p").join(part),
        };
        let refused = guard.refuses_move(&path(from), &path(to), moved);
        assert_eq!(refused.is_some(), is_refused, "{from} {to}");
    }
}
