//! Trees of files that were made to end or to stop the host that searches and reads them.
//!
//! Each call ends by itself with a sentence that says what was left out, and the host stays small.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};

use super::{MOST_MEMORY, Place, Ran};

const IGNORE_FILES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

/// A project with one file to find, in a repository.
fn project() -> Place {
    let place = Place::new();
    let root = place.path("project");
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(root.join("open.txt"), "needle\n").unwrap();
    place
}

/// What a call of a tool comes to; whatever it is, it is no crash and takes little memory.
#[track_caller]
fn call(place: &Place, what: &str, tool: &str, input: &str) -> Ran {
    let ran = place.run(&["call", tool, input], "");
    println!(
        "{:>6.2} s {:>4} MiB  {tool} {what}",
        ran.took.as_secs_f32(),
        ran.peak >> 20
    );
    let both = format!("{}{}", ran.out, ran.err);
    assert!(ran.status.code().is_some(), "{what}: {both}");
    assert!(!both.contains("panicked"), "{what}: {both}");
    assert!(ran.peak < MOST_MEMORY, "{what}: {} bytes", ran.peak);
    ran
}

/// A search that finds the file, and says the rest.
#[track_caller]
fn finds(place: &Place, what: &str, says: &str) {
    for (tool, input) in [
        ("Grep", r#"{"pattern":"needle"}"#),
        ("Glob", r#"{"pattern":"**/open.txt"}"#),
    ] {
        let ran = call(place, what, tool, input);
        assert_eq!(ran.status.code(), Some(0), "{what}: {}", ran.err);
        assert!(ran.out.contains("open.txt"), "{what}: {}", ran.out);
        assert!(ran.out.contains(says), "{what}: {}", ran.out);
    }
}

#[test]
fn ignore_files_that_are_too_much_are_cut_and_named() {
    for (what, pattern, says, names) in [
        (
            "300,000 names",
            "name",
            "only the first 10,000 were applied",
            &IGNORE_FILES[..],
        ),
        (
            "300,000 patterns",
            "x*?[a-z]",
            "2,000 patterns with wildcards",
            &IGNORE_FILES[..1],
        ),
    ] {
        for name in names {
            let place = project();
            let lines: Vec<String> = (0..300_000).map(|n| format!("{pattern}{n}.c")).collect();
            std::fs::write(place.path("project").join(name), lines.join("\n")).unwrap();
            finds(&place, &format!("{what} in {name}"), says);
        }
    }
    let place = project();
    for number in 0..40 {
        let folder = place.path("project").join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let lines: Vec<String> = (0..1_900).map(|n| format!("x*?{number}z{n}.c\n")).collect();
        std::fs::write(folder.join(".gitignore"), lines.concat()).unwrap();
    }
    finds(
        &place,
        "many files with patterns",
        "all ignore-files together",
    );
}

#[test]
fn ignore_files_that_are_no_files_are_not_waited_for() {
    for name in IGNORE_FILES {
        let place = project();
        let path = place.path("project").join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        finds(
            &place,
            &format!("a pipe as {name}"),
            "is not a regular file",
        );

        let place = project();
        symlink("/dev/zero", place.path("project").join(name)).unwrap();
        finds(
            &place,
            &format!("/dev/zero as {name}"),
            "is not a regular file",
        );
    }
}

#[test]
fn sparse_files_end_with_a_sentence() {
    let place = project();
    let path = place.path("project/open.txt");
    let read = |what: &str, input: &str, says: &str| {
        let input = input.replace("PATH", path.to_str().unwrap());
        let ran = call(&place, what, "Read", &input);
        let both = format!("{}{}", ran.out, ran.err);
        assert!(both.contains(says), "{what}: {both}");
    };
    let grow = || {
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(1 << 40)
            .unwrap()
    };
    grow();
    read("1 TiB of nothing", r#"{"file_path":"PATH"}"#, "binary file");
    std::fs::write(&path, "needle\n".repeat(100_000)).unwrap();
    grow();
    for (input, says) in [
        (
            r#"{"file_path":"PATH","limit":3}"#,
            "has 1099511627776 bytes, too many",
        ),
        (
            r#"{"file_path":"PATH","offset":200000}"#,
            "does not lie in the first GiB",
        ),
    ] {
        read("1 TiB with a beginning", input, says);
    }
    let ran = call(&place, "1 TiB", "Grep", r#"{"pattern":"needle"}"#);
    assert!(ran.out.contains("open.txt"), "{}", ran.out);
    let across = r#"{"pattern":"needle\\s+needle","multiline":true}"#;
    let ran = call(&place, "1 TiB across lines", "Grep", across);
    assert!(
        ran.out.contains("`open.txt` is larger than 64 MiB"),
        "{}",
        ran.out
    );
}

#[test]
fn large_and_deep_folders_are_searched() {
    let place = project();
    let many = place.path("project/many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..100_000 {
        File::create(many.join(format!("{number:060}.c"))).unwrap();
    }
    let deep = place.path("project/deep");
    std::fs::create_dir(&deep).unwrap();
    let mut at = openat(CWD, &deep, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..10_000 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    for (link, target) in [("loop", "."), ("up", "../project"), ("self", "self")] {
        symlink(target, place.path("project").join(link)).unwrap();
    }
    finds(&place, "many names, deep folders, loops", "open.txt");
    shorten(&deep);
}

/// Removes folders that lie deeper in each other than a removal goes down.
fn shorten(top: &Path) {
    let (next, rest) = (top.join("d"), top.join("rest"));
    while next.join("d").exists() {
        std::fs::rename(next.join("d"), &rest).unwrap();
        std::fs::remove_dir(&next).unwrap();
        std::fs::rename(&rest, &next).unwrap();
    }
}

#[test]
fn patterns_that_are_too_large_are_refused() {
    let place = project();
    for regex in [
        r"(\\w{100}){100}",
        r"((a{1000}){1000}){1000}",
        r"\\p{L}{4000}",
        &format!("(?i){}", r"\\pL?".repeat(3_200)),
        &format!("(?i){}", r"\\pL?".repeat(20_000)),
        &"(".repeat(100_000),
        &"[a-z]{1,99}".repeat(3_000),
        &r"\\w{1,999}".repeat(1_000),
    ] {
        let input = format!(r#"{{"pattern":"{regex}"}}"#);
        let what: String = regex.chars().take(30).collect();
        let ran = call(&place, &what, "Grep", &input);
        let said: String = ran.err.chars().take(1_000).collect();
        assert_eq!(ran.status.code(), Some(1), "{what}: {said}");
        assert!(said.contains("invalid pattern"), "{what}: {said}");
    }
}
