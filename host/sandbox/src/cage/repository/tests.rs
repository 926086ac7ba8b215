//! What is closed because of a repository's settings, where git is asked and where it is not.
#![allow(clippy::unwrap_used)]

use std::fs;

use super::super::ground::Paths;
use super::*;

fn ground(root: &Path, path: &str) -> Ground {
    let variable = |name: &str, value: &Path| (name.into(), value.into());
    Ground::new(&Paths {
        roots: vec![root.to_owned()],
        names: crate::names::of_tests(),
        environment: vec![
            variable("HOME", &root.with_file_name("home")),
            variable("PATH", Path::new(path)),
        ],
        ..Paths::default()
    })
    .unwrap()
}

fn project(config: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    for part in [".git/objects", ".git/refs", "../home"] {
        fs::create_dir_all(root.join(part)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join(".git/config"), config).unwrap();
    (folder, root)
}

fn learned(ground: &Ground, root: &Path) -> Result<Repositories, PathError> {
    Repositories::of(ground, &[root.join(".git")])
}

#[test]
fn it_is_asked_again_when_a_file_that_counts_has_changed() {
    let (_folder, root) = project("[include]\npath = ../more\n");
    let ground = ground(&root, "/usr/local/bin:/usr/bin:/bin");
    let names = [root.join(".git")];
    for (file, text) in [
        (".git/config", "[include]\npath = ../more\n[core]\nx = y\n"),
        ("more", "[core]\nhooksPath = a\n"),
        ("../home/.gitconfig", "[core]\nhooksPath = b\n"),
        (".git/config.worktree", "[core]\nhooksPath = c\n"),
    ] {
        let known = learned(&ground, &root).unwrap();
        assert!(known.are_current(&names), "{file}");
        fs::write(root.join(file), text).unwrap();
        assert!(!known.are_current(&names), "{file}");
    }
    let known = learned(&ground, &root).unwrap();
    assert!(!known.are_current(&[root.join("sub/.git")]));
    for hooks in ["a", "b"] {
        assert!(known.closed.contains(&root.join(hooks)), "{hooks}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_and_named() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (_folder, root) = project("[include]\npath = ../more\n");
    let more = root.join("more");
    let ground = ground(&root, "/usr/bin:/bin");
    mknodat(CWD, &more, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let error = learned(&ground, &root).unwrap_err().to_string();
    assert!(
        error.contains("more") && error.contains("not a regular file"),
        "{error}"
    );
    fs::remove_file(&more).unwrap();
    fs::write(&more, b"[core]\nhooksPath = \xff\n").unwrap();
    let error = learned(&ground, &root).unwrap_err().to_string();
    assert!(
        error.contains("more") && error.contains("core.hookspath"),
        "{error}"
    );
    // No file that counts: the user's name may be written in any way.
    fs::write(&more, b"[user]\nname = \xff\n").unwrap();
    assert!(learned(&ground, &root).is_ok());
}

#[test]
fn git_is_not_taken_from_a_place_that_commands_can_write_to() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, root) = project("");
    let bin = root.join("bin");
    fs::create_dir(&bin).unwrap();
    let mark = root.join("ran");
    let script = format!("#!/bin/sh\necho x > {}\n", mark.display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let ground = ground(&root, bin.to_str().unwrap());
    learned(&ground, &root).unwrap();
    assert!(!mark.exists());
}

#[test]
fn a_root_is_never_closed_as_a_whole() {
    let (_folder, root) = project("[core]\nhooksPath = .\nfsmonitor = ./\n");
    let ground = ground(&root, "/usr/bin:/bin");
    let mut found = Found::default();
    learned(&ground, &root)
        .unwrap()
        .close(&ground, GitAccess::Writes, &mut found);
    assert!(!found.targets.contains(&root));
    assert!(found.targets.contains(&root.join("pre-commit")));
}
