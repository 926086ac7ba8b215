//! What an ignore-file cannot do to a search. What it means is compared with ripgrep elsewhere.
#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::super::tests::folder::Folder;
use super::super::{Fence, Listing, Order, Stop, files};

struct Open;

impl Fence for Open {
    fn may_read(&self, _: &Path) -> bool {
        true
    }
}

fn list(folder: &Folder) -> (Vec<String>, String) {
    let stop = Stop::default();
    let Listing { entries, notes, .. } =
        files(&folder.request(), Order::Path, 0, &Open, &stop).unwrap();
    let names = entries.iter().map(|entry| folder.name(&entry.path));
    (names.collect(), notes.join("\n"))
}

const NAMES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

fn repository() -> Folder {
    let folder = Folder::new(&[
        (".git/HEAD", b""),
        (".git/info/x", b""),
        ("a.txt", b""),
        ("b.txt", b""),
    ]);
    std::fs::create_dir_all(folder.0.join("inside")).unwrap();
    folder
}

#[test]
fn ignore_files_within_the_bounds_are_applied_without_a_word() {
    for name in NAMES {
        let folder = repository();
        folder.write(name, b"\xef\xbb\xbfa.txt\n#b.txt\n\nb*.c\n");
        assert_eq!(
            list(&folder),
            (vec!["b.txt".to_owned()], String::new()),
            "{name}"
        );
    }
}

#[test]
fn what_is_no_regular_file_is_named_and_not_waited_for() {
    for name in NAMES {
        let folder = repository();
        mknodat(CWD, folder.0.join(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let (names, notes) = list(&folder);
        assert_eq!(names, ["a.txt", "b.txt"], "{name}");
        assert!(
            notes.contains(&format!("`{name}` is not a regular file")),
            "{notes}"
        );

        let folder = repository();
        symlink("/dev/zero", folder.0.join(name)).unwrap();
        let (names, notes) = list(&folder);
        assert_eq!(names, ["a.txt", "b.txt"], "{name}");
        assert!(notes.contains("is not a regular file"), "{notes}");
    }
}

#[test]
fn a_link_is_followed_inside_the_project_only() {
    let outside = Folder::new(&[("patterns", b"a.txt\n")]);
    for name in NAMES {
        let folder = repository();
        symlink(outside.0.join("patterns"), folder.0.join(name)).unwrap();
        let (names, notes) = list(&folder);
        assert_eq!(names, ["a.txt", "b.txt"], "{name}");
        assert!(notes.contains("leads out of the project"), "{notes}");

        let folder = repository();
        folder.write(".git/patterns", b"a.txt\n");
        symlink(folder.0.join(".git/patterns"), folder.0.join(name)).unwrap();
        assert_eq!(
            list(&folder),
            (vec!["b.txt".to_owned()], String::new()),
            "{name}"
        );
    }
}

#[test]
fn a_link_to_a_file_that_a_rule_closes_is_not_followed() {
    struct NoKeys;
    impl Fence for NoKeys {
        fn may_read(&self, path: &Path) -> bool {
            !path.ends_with("key")
        }
    }
    let folder = repository();
    folder.write("key", b"a.txt\n");
    symlink("key", folder.0.join(".gitignore")).unwrap();
    let stop = Stop::default();
    let listing = files(&folder.request(), Order::Path, 0, &NoKeys, &stop).unwrap();
    assert_eq!(listing.total, 3);
    assert!(
        listing.notes[0].contains("leads out"),
        "{:?}",
        listing.notes
    );
}

#[test]
fn what_is_too_much_is_cut_and_named() {
    let many = |pattern: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..30_000).map(pattern).collect();
        format!("a.txt\n{}\nb.txt\n", lines.join("\n"))
    };
    for (what, text, notes) in [
        (
            "names",
            many(&|n| format!("name{n}")),
            "the first 10,000 were applied",
        ),
        (
            "wild",
            many(&|n| format!("x*{n}?.c")),
            "2,000 patterns with wildcards",
        ),
        (
            "long",
            format!("a.txt\n{}*\n", "x".repeat(9_000)),
            "too long or too deep",
        ),
        (
            "deep",
            format!("a.txt\n{}\n", "{".repeat(3_000)),
            "too long or too deep",
        ),
        (
            "large",
            format!("a.txt\n#{}\nb.txt\n", "x".repeat(2 << 20)),
            "larger than 1 MiB",
        ),
    ] {
        let folder = repository();
        folder.write(".gitignore", text.as_bytes());
        let (names, found) = list(&folder);
        assert!(!names.contains(&"a.txt".to_owned()), "{what}: {names:?}");
        assert!(found.contains(notes), "{what}: {found}");
    }
    let folder = repository();
    File::create(folder.0.join(".gitignore"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let (names, found) = list(&folder);
    assert_eq!(names, ["a.txt", "b.txt"]);
    assert!(found.contains("larger than 1 MiB"), "{found}");
}

#[test]
fn all_files_together_are_bounded() {
    let folder = repository();
    let lines: String = (0..1_500).map(|number| format!("x*{number}.c\n")).collect();
    for number in 0..7 {
        folder.write(&format!("{number}/.gitignore"), lines.as_bytes());
    }
    let (_, notes) = list(&folder);
    assert!(notes.contains("all ignore-files together"), "{notes}");
}

#[test]
fn files_above_the_root_are_held_to_the_same() {
    let folder = repository();
    folder.write("root/c.txt", b"");
    mknodat(CWD, folder.0.join(".ignore"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let stop = Stop::default();
    let request = folder.below("root");
    let listing = files(&request, Order::Path, 0, &Open, &stop).unwrap();
    assert_eq!(listing.total, 1);
    assert!(
        listing.notes[0].contains("not a regular file"),
        "{:?}",
        listing.notes
    );
}
