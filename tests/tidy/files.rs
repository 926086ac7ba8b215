//! What holds for a source file as a whole: its size and its header.

use crate::tree::{check, files};
use crate::{assert_tidy, check_rule};

/// Where our own Rust is.
pub const RUST: [&str; 6] = ["host", "sdk", "plugins", "build", "tests", "demos"];

/// Past this many lines a file has more than one purpose.
const MOST_LINES: usize = 600;
/// The host is read by those who must trust it: its files are shorter still.
const MOST_LINES_IN_HOST: usize = 500;

fn too_long(path: &str, text: &str) -> Vec<String> {
    let most = if path.starts_with("host/") {
        MOST_LINES_IN_HOST
    } else {
        MOST_LINES
    };
    let lines = text.lines().count();
    if lines <= most {
        return Vec::new();
    }
    vec![format!(
        "{path} has {lines} lines; at most {most}: give its second purpose a file of its own"
    )]
}

fn without_header(path: &str, text: &str) -> Vec<String> {
    let is_tests = path.ends_with("/tests.rs");
    let starts_well = text.starts_with("//! ")
        || is_tests && (text.starts_with("use ") || text.starts_with("#!["));
    if starts_well {
        return Vec::new();
    }
    vec![format!(
        "{path} starts without a `//!` header that says what it is and why"
    )]
}

#[test]
fn no_source_file_is_longer_than_one_purpose_takes() {
    assert_tidy(check(&files(&RUST, &[".rs"]), too_long));
}

#[test]
fn every_source_file_says_first_what_it_is() {
    let folders = ["host", "sdk/rust", "plugins", "build", "demos"];
    assert_tidy(check(&files(&folders, &[".rs"]), without_header));
}

#[test]
fn the_size_rule_is_stricter_in_the_host() {
    let long = "x\n".repeat(501);
    let longer = "x\n".repeat(601);
    check_rule(
        too_long,
        &[("host/a.rs", &long), ("plugins/a.rs", &longer)],
        &[("plugins/a.rs", &long), ("host/a.rs", &long[2..])],
    );
}

#[test]
fn the_header_rule_lets_tests_start_with_imports() {
    check_rule(
        without_header,
        &[
            ("host/a.rs", "use std::fs;\n"),
            ("host/a.rs", "// a comment\n//! late\n"),
            ("host/a.rs", ""),
            ("host/tests.rs", "fn a() {}"),
        ],
        &[
            ("host/a.rs", "//! What it is.\n"),
            ("host/a/tests.rs", "use super::*;\n"),
            ("plugins/a/src/tests.rs", "#![allow(x)]\n"),
        ],
    );
}
