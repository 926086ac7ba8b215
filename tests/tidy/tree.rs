//! The files of the project, by their paths from its root.

use std::path::{Path, PathBuf};

/// A text file. Paths have `/` between their parts on every system.
pub struct File {
    pub path: String,
    pub text: String,
}

/// The project's folder.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests/ lies in the project")
        .to_path_buf()
}

/// The text of one file.
pub fn read(path: &str) -> String {
    let full = root().join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files below the folders whose names end in one of the endings. A folder that is
/// not there has none.
pub fn files(folders: &[&str], endings: &[&str]) -> Vec<File> {
    let mut paths = Vec::new();
    for folder in folders {
        walk(&root().join(folder), &mut paths);
    }
    paths.sort();
    let mut found = Vec::new();
    for full in paths {
        let path = relative(&full);
        if endings.iter().any(|ending| path.ends_with(ending)) {
            // A file that is no text is none of a text rule's business.
            if let Ok(text) = std::fs::read_to_string(&full) {
                found.push(File { path, text });
            }
        }
    }
    found
}

/// The names of what lies in a folder, in order; folders end in `/`.
pub fn entries(folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root().join(folder)) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                name + "/"
            } else {
                name
            }
        })
        .collect();
    names.sort();
    names
}

/// Whether a file holds tests or their data, and so may invent what it likes.
pub fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.contains("/benches/")
        || path.contains("/fuzz/")
        || path.contains("/cases/")
        || path.ends_with("/tests.rs")
}

/// Runs a rule over all files.
pub fn check(files: &[File], rule: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    assert!(!files.is_empty(), "the rule looked at no file at all");
    files
        .iter()
        .flat_map(|file| rule(&file.path, &file.text))
        .collect()
}

/// What is built, fetched or kept by tools is not ours to judge.
fn is_foreign(name: &str) -> bool {
    matches!(
        name,
        "target" | "node_modules" | "__pycache__" | ".git" | ".venv"
    )
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && !is_foreign(&entry.file_name().to_string_lossy()) {
            walk(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

fn relative(path: &Path) -> String {
    let parts = path
        .strip_prefix(root())
        .expect("below the root")
        .components();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

#[test]
fn tests_and_their_data_are_told_from_the_program() {
    for (path, expected) in [
        ("tests/guests/rogue/src/lib.rs", true),
        ("host/policy/src/rule/tests.rs", true),
        ("host/runtime/src/search/tests/folder.rs", true),
        ("plugins/read/cases/text.json", true),
        ("host/policy/src/rule.rs", false),
        ("host/cli/src/contests.rs", false),
    ] {
        assert_eq!(is_test(path), expected, "{path}");
    }
}

#[test]
fn the_walk_finds_this_file_and_nothing_that_was_built() {
    let all = files(&["tests", "host"], &[".rs"]);
    assert!(all.iter().any(|file| file.path == "tests/tidy/tree.rs"));
    assert!(!all.iter().any(|file| file.path.contains("/target/")));
}
