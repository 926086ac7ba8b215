#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;

use super::*;

const HEADER: usize = 12;

/// What an index is made of, by hand.
#[derive(Clone)]
struct Made {
    version: u32,
    entries: Vec<(usize, Vec<u8>, u32)>,
    parts: Vec<(&'static [u8], Vec<u8>)>,
}

fn made(version: u32, paths: &[&str]) -> Made {
    let entries = paths
        .iter()
        .map(|path| (0, path.as_bytes().to_vec(), 0o100_644));
    Made {
        version,
        entries: entries.collect(),
        parts: Vec::new(),
    }
}

impl Made {
    fn bytes(&self) -> Vec<u8> {
        let mut all = b"DIRC".to_vec();
        all.extend(self.version.to_be_bytes());
        all.extend((self.entries.len() as u32).to_be_bytes());
        let mut before: Vec<u8> = Vec::new();
        for (kept, text, mode) in &self.entries {
            let start = all.len();
            all.extend([0; MODE]);
            all.extend(mode.to_be_bytes());
            all.extend([0; STATUS - MODE - 4 + 20]);
            let length = (kept + text.len()).min(0xfff) as u16;
            all.extend(length.to_be_bytes());
            if self.version == 4 {
                let dropped = before.len() - kept;
                assert!(dropped < 128);
                all.push(dropped as u8);
            }
            before.truncate(*kept);
            before.extend(text);
            all.extend(text);
            all.push(0);
            while self.version < 4 && !(all.len() - start).is_multiple_of(8) {
                all.push(0);
            }
        }
        for (kind, body) in &self.parts {
            all.extend(*kind);
            all.extend((body.len() as u32).to_be_bytes());
            all.extend(body);
        }
        all.extend([0; 20]);
        all
    }

    fn with(mut self, kind: &'static [u8], body: &[u8]) -> Self {
        self.parts.push((kind, body.to_vec()));
        self
    }
}

fn problem(bytes: &[u8]) -> Option<String> {
    check(bytes, ObjectNames::Sha1).err()
}

#[test]
fn entries_lie_in_the_work_tree() {
    for version in [2, 3, 4] {
        for (paths, wanted) in [
            (&[][..], None),
            (&["a", "b/c", ".gitignore"][..], None),
            (&["a", "../x"], Some("`../x`")),
            (&[".git/hooks/post-checkout"], Some("post-checkout")),
            (&["sub/.git/config"], Some("config")),
            (&["/etc/x"], Some("/etc/x")),
            (&[""], Some("empty path")),
        ] {
            let found = problem(&made(version, paths).bytes());
            let is_right = match (&found, wanted) {
                (None, None) => true,
                (Some(found), Some(wanted)) => found.contains(wanted),
                (Some(_), None) | (None, Some(_)) => false,
            };
            assert!(is_right, "{version} {paths:?}: {found:?}");
        }
    }
    let long = "x/".repeat(3000) + "y";
    assert_eq!(problem(&made(2, &[&long]).bytes()), None);
    let sparse = Made {
        entries: vec![(0, b"folder/".to_vec(), SPARSE_FOLDER)],
        ..made(3, &[])
    };
    assert_eq!(problem(&sparse.bytes()), None);
}

#[test]
fn what_two_readers_understand_in_two_ways_is_refused() {
    // `a` and `a.git/x`, where a thread that begins with the second entry reads `.git/x`.
    let mut two = made(4, &["a"]);
    two.entries.push((1, b".git/x".to_vec(), 0o100_644));
    assert_eq!(problem(&two.bytes()), None);
    let first = HEADER as u32;
    let second = first + 62 + 1 + 2;
    let blocks = |all: &[(u32, u32)]| {
        let mut body = 1_u32.to_be_bytes().to_vec();
        for (offset, count) in all {
            body.extend(offset.to_be_bytes());
            body.extend(count.to_be_bytes());
        }
        body
    };
    let end = second + 62 + 1 + 7;
    let fine = two
        .clone()
        .with(BLOCKS, &blocks(&[(first, 2)]))
        .with(END, &end.to_be_bytes());
    assert_eq!(problem(&fine.bytes()), None);
    for wrong in [
        two.clone()
            .with(BLOCKS, &blocks(&[(first, 1), (second, 1)])),
        two.clone().with(BLOCKS, &blocks(&[(first, 1)])),
        two.clone().with(BLOCKS, &blocks(&[(first + 1, 2)])),
        two.clone()
            .with(BLOCKS, &blocks(&[(first, 1), (second, u32::MAX)])),
        two.clone().with(END, &(end - 1).to_be_bytes()),
        two.clone().with(b"evil", b""),
        two.clone().with(b"LATE", b""),
        two.clone().with(UNDONE, b"../x\x000\x000\x000\0"),
        two.clone().with(UNDONE, b"x\x00100644\x000\x000\0short"),
    ] {
        assert!(problem(&wrong.bytes()).is_some(), "{:?}", wrong.parts);
    }
    let undone = [&b"x\x00100644\x000\x000\0"[..], &[7; 20]].concat();
    assert_eq!(problem(&two.clone().with(UNDONE, &undone).bytes()), None);
    let shared = made(2, &[""]).with(SHARED, &[0; 20]);
    assert_eq!(problem(&shared.bytes()), None);
}

#[test]
fn a_path_that_is_longer_or_shorter_than_it_says_is_refused() {
    for version in [2, 4] {
        let bytes = made(version, &["abc"]).bytes();
        let at = HEADER + STATUS + 20 + 1;
        for told in [0, 1, 2, 4, 200] {
            let mut changed = bytes.clone();
            changed[at] = told;
            assert!(problem(&changed).is_some(), "{version} {told}");
        }
    }
}

/// Every cut and every changed byte ends with an answer.
#[test]
fn damaged_files_are_no_trouble() {
    let bytes = made(4, &["a", "ab/c", "ab/d"]).with(FOLDERS, b"x").bytes();
    for length in 0..bytes.len() {
        assert!(length + 20 >= bytes.len() || problem(&bytes[..length]).is_some());
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[length] = value;
            let _ = problem(&changed);
        }
    }
}

/// What git writes is understood, whatever its settings are.
#[test]
fn what_git_writes_is_fine() {
    let git = |folder: &Path, arguments: &[&str]| {
        let mut command = Command::new("git");
        let command = command.args(arguments).current_dir(folder);
        let names = [
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
        ];
        let ended = command
            .envs(names.map(|name| (name, "x")))
            .output()
            .unwrap();
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    };
    for (format, names) in [("sha1", ObjectNames::Sha1), ("sha256", ObjectNames::Sha256)] {
        for version in ["2", "3", "4"] {
            for settings in [
                &[][..],
                &["index.threads=3"],
                &["core.splitIndex=true"],
                &["core.untrackedCache=true"],
                &["feature.manyFiles=true"],
            ] {
                let folder = tempfile::tempdir().unwrap();
                let folder = folder.path();
                git(folder, &["init", "-q", "--object-format", format]);
                git(folder, &["config", "index.version", version]);
                for setting in settings {
                    let (key, value) = setting.split_once('=').unwrap();
                    git(folder, &["config", key, value]);
                }
                for name in 0..40 {
                    let file = folder.join(format!("some/folder{}/file-{name}", name % 3));
                    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                    std::fs::write(file, "").unwrap();
                }
                git(folder, &["add", "-A"]);
                git(folder, &["commit", "-qm", "one"]);
                std::fs::write(folder.join("new"), "").unwrap();
                git(folder, &["add", "-N", "new"]);
                git(folder, &["status"]);
                let control = folder.join(".git");
                let all = std::fs::read_dir(&control).unwrap().flatten();
                let mut count = 0;
                for entry in all {
                    let name = entry.file_name();
                    if super::super::Checked::of(&[&name]) == Some(super::super::Checked::Index) {
                        let bytes = std::fs::read(entry.path()).unwrap();
                        let found = check(&bytes, names);
                        assert_eq!(found, Ok(()), "{format} {version} {settings:?} {name:?}");
                        count += 1;
                    }
                }
                assert!(count > 0, "{format} {version} {settings:?}");
            }
        }
    }
}
