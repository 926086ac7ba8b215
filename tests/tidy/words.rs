//! What must not stand in a source file: unfinished work, paths of one machine, `unsafe`
//! in the wrong place, tests that are skipped without a word, doors in pure crates.

use crate::files::RUST;
use crate::source::{Source, has_word, lines_with_word};
use crate::tree::{check, files, is_test};
use crate::{assert_tidy, check_rule};

/// The only hand-written `unsafe` of the host: system calls of the cage, and the loading
/// of code that the host itself compiled.
const MAY_BE_UNSAFE: [&str; 2] = ["host/sandbox/", "host/runtime/src/cache/code.rs"];

/// Crates that only compute, and what they must therefore never name.
const PURE: [&str; 2] = ["host/shell/", "host/policy/"];
const IMPURE: [&str; 7] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "Instant::now",
    "SystemTime::now",
];

/// Homes that belong to nobody, for examples.
const NOBODY: [&str; 3] = ["me", "you", "user"];

fn unfinished(path: &str, text: &str) -> Vec<String> {
    let (code, comments) = if path.ends_with(".rs") {
        let source = Source::new(text);
        (source.code(), source.comments())
    } else {
        (String::new(), text.to_owned())
    };
    let in_code = ["todo!(", "unimplemented!("].map(|word| (word, lines_with_word(&code, word)));
    let in_comments = ["FIXME", "XXX"].map(|word| (word, lines_with_word(&comments, word)));
    let all = in_code.into_iter().chain(in_comments);
    all.flat_map(|(word, lines)| lines.into_iter().map(move |line| (word, line)))
        .map(|(word, line)| format!("{path}:{line}: {word} is unfinished work"))
        .collect()
}

/// Folders that exist on one machine only. Tests may invent paths, but not name the
/// folder in which somebody works.
fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let shipped = if path.ends_with(".rs") && !is_test(path) {
        Source::new(text).shipped_text()
    } else {
        text.to_owned()
    };
    let mut findings = Vec::new();
    let mut find = |text: &str, prefix: &str, is_bad: &dyn Fn(&str) -> bool| {
        for (index, line) in text.lines().enumerate() {
            let mut places = line.match_indices(prefix);
            let is_bad = places
                .any(|(at, _)| starts_a_path(&line[..at]) && is_bad(&line[at + prefix.len()..]));
            if is_bad {
                findings.push(format!(
                    "{path}:{}: a path that starts with {prefix} exists on one machine only",
                    index + 1
                ));
            }
        }
    };
    find(text, concat!("/wo", "rk/main"), &|_| true);
    find(text, concat!("/wo", "rk/shared"), &|_| true);
    if !is_test(path) {
        find(&shipped, concat!("/wo", "rk/"), &|_| true);
        find(&shipped, concat!("/ro", "ot/"), &|_| true);
        find(&shipped, "/home/", &|rest| {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || "_-.".contains(*c))
                .collect();
            !name.is_empty() && !NOBODY.contains(&&*name)
        });
    }
    findings
}

/// Whether a `/` behind this text is the first one of a path.
fn starts_a_path(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "_-.~/}>*".contains(c))
}

fn unsafe_outside_its_place(path: &str, text: &str) -> Vec<String> {
    if MAY_BE_UNSAFE.iter().any(|place| path.starts_with(place)) {
        return Vec::new();
    }
    let lines = lines_with_word(&Source::new(text).code(), "unsafe");
    lines
        .into_iter()
        .map(|line| format!("{path}:{line}: `unsafe` belongs into host/sandbox"))
        .collect()
}

fn skipped_without_reason(path: &str, text: &str) -> Vec<String> {
    // The reason is a literal, so the whole text is read where the code says `ignore`.
    let code = Source::new(text).code();
    let lines = code.lines().zip(text.lines()).enumerate();
    let bad = lines.filter(|(_, (code, text))| {
        let is_attribute = code.contains("#[") && has_word(code, "ignore");
        let reason = text
            .split_once("ignore = \"")
            .map_or("", |(_, reason)| reason);
        is_attribute && reason.find('"').is_none_or(|length| length == 0)
    });
    bad.map(|(index, _)| format!("{path}:{}: a test is ignored without a reason", index + 1))
        .collect()
}

fn impure(path: &str, text: &str) -> Vec<String> {
    if is_test(path) || !PURE.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    // A group (`use std::{fs, path};`) is read as the paths that it stands for.
    let code = Source::new(text).shipped_code();
    let groups = code.split("std::{").skip(1);
    let groups: Vec<&str> = groups.filter_map(|rest| rest.split(';').next()).collect();
    let in_a_group = |word: &str| {
        let name = word.strip_prefix("std::");
        name.is_some_and(|name| groups.iter().any(|group| has_word(group, name)))
    };
    IMPURE
        .iter()
        .filter(|word| has_word(&code, word) || in_a_group(word))
        .map(|word| format!("{path}: {word} in a crate that only computes"))
        .collect()
}

#[test]
fn no_source_holds_unfinished_work() {
    let mut all = files(&RUST, &[".rs", ".toml", ".wit", ".wat"]);
    all.extend(files(&["wit", ".ci"], &[".wit", ".toml", "run"]));
    assert_tidy(check(&all, unfinished));
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    const TEXTS: [&str; 13] = [
        ".rs", ".toml", ".wit", ".wat", ".md", ".json", ".py", ".js", ".ts", ".go", ".c", ".sh",
        "run",
    ];
    let folders: Vec<String> = crate::tree::entries("")
        .into_iter()
        .filter(|name| name.ends_with('/') && !matches!(&**name, "target/" | ".git/"))
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let mut all = files(&folders, &TEXTS);
    for name in crate::tree::entries("")
        .iter()
        .filter(|name| TEXTS.iter().any(|ending| name.ends_with(ending)))
    {
        all.push(crate::tree::File {
            path: name.clone(),
            text: crate::tree::read(name),
        });
    }
    assert_tidy(check(&all, machine_paths));
}

#[test]
fn unsafe_stays_in_the_sandbox_and_the_loader() {
    assert_tidy(check(&files(&["host"], &[".rs"]), unsafe_outside_its_place));
}

#[test]
fn every_ignored_test_says_why() {
    assert_tidy(check(&files(&RUST, &[".rs"]), skipped_without_reason));
}

#[test]
fn pure_crates_touch_neither_files_nor_clocks_nor_processes() {
    assert_tidy(check(&files(&["host"], &[".rs"]), impure));
}

#[test]
fn the_rule_on_unfinished_work_reads_code_and_comments() {
    check_rule(
        unfinished,
        &[
            ("a.rs", "fn a() { todo!() }"),
            ("a.rs", "fn a() { unimplemented!(\"later\") }"),
            ("a.rs", "// FIXME: later"),
            ("a.wit", "// XXX"),
        ],
        &[
            (
                "a.rs",
                "let regex = \"TODO|FIXME\"; let name = \"tmp.XXX\";",
            ),
            ("a.rs", "/// Like todo!(), but done."),
            ("a.rs", "// mkstemp wants XXXXXX"),
        ],
    );
}

#[test]
fn the_rule_on_machine_paths_lets_tests_invent_theirs() {
    check_rule(
        machine_paths,
        &[
            ("a.rs", concat!("let a = \"/wo", "rk/x\";")),
            ("README.md", concat!("see `/ro", "ot/x`")),
            ("a.toml", concat!("path = \"/ho", "me/anna/x\"")),
            ("a/tests.rs", concat!("include_str!(\"/wo", "rk/main/x\")")),
        ],
        &[
            (
                "a.rs",
                "// such as /home/me/x or plugins/work/x or https://example.com/root/x",
            ),
            (
                "a.rs",
                concat!(
                    "#[cfg(test)]\nmod tests { const A: &str = \"/ro",
                    "ot/x\"; }"
                ),
            ),
            ("a/tests.rs", concat!("\"/wo", "rk/app\"")),
            ("plugins/a/cases/b.json", concat!("\"/ro", "ot/x\"")),
        ],
    );
}

#[test]
fn the_rule_on_unsafe_is_about_code_in_other_places() {
    check_rule(
        unsafe_outside_its_place,
        &[
            ("host/policy/src/a.rs", "fn a() { unsafe { b() } }"),
            ("host/runtime/src/load.rs", "unsafe fn a() {}"),
        ],
        &[
            ("host/sandbox/src/a.rs", "unsafe { b() }"),
            ("host/runtime/src/cache/code.rs", "unsafe { b() }"),
            (
                "host/policy/src/a.rs",
                "#![deny(unsafe_code)] // nothing unsafe here",
            ),
        ],
    );
}

#[test]
fn the_rule_on_ignored_tests_wants_a_sentence() {
    check_rule(
        skipped_without_reason,
        &[
            ("a.rs", "#[ignore]\nfn a() {}"),
            ("a.rs", "#[ignore = \"\"]\nfn a() {}"),
            ("a.rs", "#[cfg_attr(windows, ignore)]\nfn a() {}"),
        ],
        &[
            (
                "a.rs",
                "#[ignore = \"takes minutes; run by hand\"]\nfn a() {}",
            ),
            ("a.rs", "// #[ignore] would hide it\nuse ignore::Walk;"),
            ("a.rs", "let a = \"#[ignore]\";"),
        ],
    );
}

#[test]
fn the_rule_on_purity_is_about_shipped_code() {
    check_rule(
        impure,
        &[
            ("host/policy/src/a.rs", "use std::fs;"),
            (
                "host/policy/src/a.rs",
                "use std::{\n    env,\n    path::Path,\n};",
            ),
            ("host/shell/src/a.rs", "let now = Instant::now();"),
        ],
        &[
            ("host/dispatch/src/a.rs", "use std::fs;"),
            (
                "host/policy/src/a.rs",
                "// not std::fs\n#[cfg(test)]\nmod tests { use std::fs; }",
            ),
            ("host/policy/src/tests.rs", "use std::fs;"),
        ],
    );
}
