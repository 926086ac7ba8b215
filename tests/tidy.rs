//! Rules of the house that no compiler knows, as tests.
//!
//! They read the tree, not the program: nothing here links the host. A rule is a pure
//! function over a path and a text that answers with what it found; beneath each rule
//! stand a text that it must catch and one that it must let pass, so a rule that has
//! gone blind fails too.
//!
//! An exception is a line in the list beside its rule, with its reason.
#![allow(clippy::unwrap_used, clippy::expect_used)]

/// What the rules read: the files of the tree, and Rust text by its parts.
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/tree.rs"]
mod tree;

/// Who may depend on whom.
#[path = "tidy/graph.rs"]
mod graph;

/// What holds for every source file: its size, its header, what it must not hold.
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/words.rs"]
mod words;

/// The host knows no tool by name.
#[path = "tidy/names.rs"]
mod names;

/// Folders that must be complete: plugins and guests.
#[path = "tidy/folders.rs"]
mod folders;

/// The contract explains itself.
#[path = "tidy/contract.rs"]
mod contract;

/// Fails with all findings at once: one run shows all that is to be done.
#[track_caller]
fn assert_tidy(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// Runs a rule over its own examples: the first list must be caught, the second not.
#[track_caller]
fn check_rule(
    rule: impl Fn(&str, &str) -> Vec<String>,
    hits: &[(&str, &str)],
    misses: &[(&str, &str)],
) {
    for (path, text) in hits {
        assert!(!rule(path, text).is_empty(), "not caught: {path}: {text}");
    }
    for (path, text) in misses {
        let found = rule(path, text);
        assert!(found.is_empty(), "false alarm: {found:?}");
    }
}
