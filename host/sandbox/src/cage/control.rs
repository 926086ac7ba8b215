//! What of a repository's control folder a command may write that may commit: what git itself
//! writes there for commits, branches, merges, stashes and fetches, name by name.
//!
//! All else in it decides which programs git runs, where it looks for settings and objects, or is
//! nothing that git knows. A list of what is dangerous would miss what a later git adds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::names::folded;

/// The control folder of a repository.
const GIT: &[u8] = b".git";

/// Files, with or without `.lock` behind them.
const FILES: &[&str] = &[
    "ADD_EDIT.patch",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "COMMIT_EDITMSG",
    "EDIT_DESCRIPTION",
    "FETCH_HEAD",
    "HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "NOTES_EDITMSG",
    "ORIG_HEAD",
    "REBASE_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "addp-hunk-edit.diff",
    "gc.log",
    "gc.pid",
    "index",
    "packed-refs",
    "packed-refs.new",
    "shallow",
];

/// How names of temporary files and of families of files begin.
const BEGINNINGS: &[&str] = &[
    "BISECT_",
    "NOTES_MERGE_",
    "index.",
    "next-index-",
    "shallow_",
    "sharedindex.",
    "sharedindex_",
];

/// Folders. The names of branches and tags are below the first two.
const FOLDERS: &[&str] = &[
    "refs",
    "logs",
    "objects",
    "lfs",
    "rebase-apply",
    "rebase-merge",
    "reftable",
    "rr-cache",
    "sequencer",
    "NOTES_MERGE_WORKTREE",
];

/// In `objects/info`: how names begin that are written beside the packs.
const ABOUT_OBJECTS: &[&str] = &["commit-graph", "packs"];

/// What decides, in any folder but those of branches, so that no other repository is made there.
const CONTROLS: &[&str] = &[
    "config",
    "config.lock",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "modules",
    "worktrees",
    "alternates",
    "http-alternates",
];

/// Without these git sees no repository here and looks further, or takes the folder around for one:
/// they stay as they are. What is in the folders changes all the time.
const FOLDERS_THAT_STAY: [&str; 2] = ["objects", "refs"];
const HEAD: &str = "HEAD";

/// Where a repository gets further objects from.
const ALTERNATES: [&str; 2] = ["objects/info/alternates", "objects/info/http-alternates"];

/// Whether a name means the control folder of a repository.
pub(crate) fn is_git(name: &OsStr) -> bool {
    *folded(name.as_bytes()) == *GIT
}

/// Whether git writes a path itself, given by its parts below the control folder.
pub(crate) fn is_gits_own(inside: &[&OsStr]) -> bool {
    let Some((first, rest)) = inside.split_first() else {
        return false;
    };
    let Some(first) = first.to_str() else {
        return false;
    };
    if !FOLDERS.contains(&first) {
        let name = first.strip_suffix(".lock").unwrap_or(first);
        let begins = || BEGINNINGS.iter().any(|begin| first.starts_with(begin));
        return rest.is_empty() && (FILES.contains(&name) || begins());
    }
    match first {
        "refs" | "logs" => true,
        "objects" => is_object(rest) && !rest.iter().any(|name| is_control(name)),
        _ => !rest.iter().any(|name| is_control(name)),
    }
}

/// Whether a path, given by its parts below the control folder, is a folder that makes it one.
pub(crate) fn is_folder_that_stays(inside: &[&OsStr]) -> bool {
    matches!(inside, [name] if FOLDERS_THAT_STAY.iter().any(|one| name == one))
}

/// The same for the file.
pub(crate) fn is_head(inside: &[&OsStr]) -> bool {
    matches!(inside, [name] if *name == HEAD)
}

fn is_object(inside: &[&OsStr]) -> bool {
    let is_info = |name: &OsStr| *folded(name.as_bytes()) == *b"info";
    match inside {
        [folder, name, ..] if is_info(folder) => {
            let begins = |begin: &&str| name.as_bytes().starts_with(begin.as_bytes());
            ABOUT_OBJECTS.iter().any(begins)
        }
        [] | [_, ..] => true,
    }
}

fn is_control(name: &OsStr) -> bool {
    let name = folded(name.as_bytes());
    CONTROLS.iter().any(|one| one.as_bytes() == &*name)
}

/// What exists in a control folder and is not git's own to write. All of it, where it cannot be
/// listed. Links cannot be covered by a mount; the doorman knows their names.
pub(crate) fn controls_that_exist(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![folder.to_owned()];
    };
    let mut all = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else {
            return vec![folder.to_owned()];
        };
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !is_link && !is_gits_own(&[&entry.file_name()]) {
            all.push(entry.path());
        }
    }
    let others = ALTERNATES.map(|name| folder.join(name)).into_iter();
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_file());
    all.extend(others.filter(is_file));
    all
}

/// What is looked at before it is put in place below a `.git`, which no other folder has.
const LOOKED_AT: [&str; 4] = [HEAD, "index", "MERGE_RR", "sequencer"];
const SHARED_INDEX: &[u8] = b"sharedindex.";

/// The same for a control folder that has another name, which no rule about names covers: with
/// what does not exist yet.
pub(crate) fn git_controls(folder: &Path) -> Vec<PathBuf> {
    let mut all = controls_that_exist(folder);
    let further = CONTROLS.iter().chain(&ALTERNATES).chain(&["info"]);
    all.extend(further.chain(&LOOKED_AT).map(|name| folder.join(name)));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let shared = names.filter(|name| name.as_bytes().starts_with(SHARED_INDEX));
    all.extend(shared.map(|name| folder.join(name)));
    all
}

/// The folders in it that must stay where they are.
pub(crate) fn folders_that_stay(folder: &Path) -> [PathBuf; 2] {
    FOLDERS_THAT_STAY.map(|name| folder.join(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn git_writes_what_it_needs_and_nothing_that_decides() {
        for (path, wanted) in [
            ("HEAD", true),
            ("HEAD.lock", true),
            ("index.lock", true),
            ("index.stash.123.lock", true),
            ("next-index-12.lock", true),
            ("refs/heads/feature/config", true),
            ("logs/refs/stash", true),
            ("objects/ab/cdef", true),
            ("objects/pack/tmp_pack_x", true),
            ("objects/info/commit-graphs/commit-graph-chain.lock", true),
            ("objects/info", true),
            ("rebase-merge/git-rebase-todo", true),
            ("rebase-apply/info", true),
            ("BISECT_LOG", true),
            ("config", false),
            ("config.lock", false),
            ("config.worktree", false),
            ("CONFIG", false),
            ("hooks/pre-commit", false),
            ("commondir", false),
            ("info/attributes", false),
            ("info/exclude", false),
            ("modules/a/config", false),
            ("worktrees/a/config.worktree", false),
            ("objects/info/alternates", false),
            ("objects/INFO/alternates", false),
            ("objects/info/http-alternates.lock", false),
            ("objects/x/hooks", false),
            ("rr-cache/x/config", false),
            ("lfs/x/hooks/pre-commit", false),
            ("HEAD/config", false),
            ("index.x/config", false),
            ("x", false),
            ("x/.git", false),
            ("", false),
        ] {
            let parts: Vec<&OsStr> = Path::new(path).iter().collect();
            assert_eq!(is_gits_own(&parts), wanted, "{path}");
        }
    }

    #[test]
    fn what_exists_and_is_not_gits_own_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        for file in [
            "HEAD",
            "config",
            "hooks/x",
            "objects/info/alternates",
            "my/x",
        ] {
            let file = git.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let mut found = controls_that_exist(&git);
        found.sort();
        let wanted = ["config", "hooks", "my", "objects/info/alternates"];
        assert_eq!(found, wanted.map(|name| git.join(name)));
        let missing = folder.path().join("missing");
        assert_eq!(
            controls_that_exist(&missing),
            std::slice::from_ref(&missing)
        );
        std::fs::write(git.join("sharedindex.01"), "").unwrap();
        let all = git_controls(&git);
        for name in ["commondir", "index", "sharedindex.01"] {
            assert!(all.contains(&git.join(name)), "{name}");
        }
    }
}
