//! The tables hold what they say, and nobody can ship a broken one.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::place::Place;

fn report(case: &str) -> crate::Report {
    crate::inspect(case, &Place::new("/home/dev/project"))
}

#[test]
fn every_file_of_the_folder_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            files::FILES.iter().any(|(listed, _)| *listed == name),
            "{name} is not listed"
        );
    }
}

#[test]
fn the_index_finds_what_a_full_reading_finds() {
    let mut all = std::collections::BTreeSet::new();
    for (file, text) in files::FILES {
        let full: toml::Table = toml::from_str(text).unwrap_or_else(|e| panic!("{file}: {e}"));
        for name in full.keys() {
            assert!(
                all.insert(name.clone()),
                "{file}: `{name}` is also in another file"
            );
        }
    }
    let indexed = catalogue::entries().map(|(name, _)| name.to_owned());
    assert_eq!(indexed.collect::<std::collections::BTreeSet<_>>(), all);
}

/// Collects what is wrong instead of stopping at the first.
#[test]
fn all_tables_can_be_read_and_their_cases_hold() {
    let mut wrong = Vec::new();
    let mut tables = 0;
    let mut cases = 0;
    for (file, text) in files::FILES {
        let full: toml::Table = toml::from_str(text).unwrap();
        for (name, written) in &full {
            let entry = catalogue::entries()
                .find(|(listed, _)| listed == name)
                .unwrap()
                .1;
            if let Err(error) = entry.table(name) {
                wrong.push(format!("{file}: [{name}] {error}"));
            } else if !catalogue::is_set(name) {
                let written = written.as_table().unwrap();
                run_cases(name, written, &mut wrong, &mut tables, &mut cases);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    // So that a folder that is gone does not pass.
    assert!(tables > 10 && cases > 30, "{tables} tables, {cases} cases");
}

fn run_cases(
    name: &str,
    written: &toml::Table,
    wrong: &mut Vec<String>,
    tables: &mut usize,
    cases: &mut usize,
) {
    let (keys, subcommands) = format::split(written).unwrap();
    // A table that only stands there for those below it has no keys.
    if written.values().any(|value| !value.is_table()) {
        *tables += 1;
        if keys.ok.is_empty() || keys.no.is_empty() {
            wrong.push(format!("[{name}] lacks an ok or a no"));
        }
    }
    for (expected, case) in
        (keys.ok.iter().map(|case| (true, case))).chain(keys.no.iter().map(|case| (false, case)))
    {
        *cases += 1;
        let report = report(case);
        if report.read_only() != expected {
            wrong.push(format!("[{name}] {case}: {:?}", report.findings));
        }
    }
    for (below, table) in subcommands {
        run_cases(&format!("{name} {below}"), table, wrong, tables, cases);
    }
}

/// A chain of sets, each of which includes the next.
fn chain(length: usize) -> String {
    match length {
        0 => String::new(),
        _ => format!("include = \"{}\"", length - 1),
    }
}

#[test]
fn a_table_that_is_wrong_cannot_be_read() {
    let find = |name: &str| toml::from_str(&chain(name.parse().ok()?)).ok();
    for (written, wanted) in [
        ("flags = \"-a --long\"".to_owned(), true),
        ("flags = \"-long\"".to_owned(), false),
        ("flags = \"-long\"\ndash = \"long\"".to_owned(), true),
        ("include = \"missing\"".to_owned(), false),
        ("check = \"missing\"".to_owned(), false),
        ("check = \"jq\"".to_owned(), true),
        ("implicit = \".\"".to_owned(), true),
        ("check = \"jq\"\nimplicit = \".\"".to_owned(), false),
        ("follows = \"-L\"".to_owned(), false),
        ("exit = { one = \"no match\" }".to_owned(), false),
        (chain(6), true),
        (chain(7), false),
        (chain(8), false),
    ] {
        let table: toml::Table = toml::from_str(&written).unwrap();
        let read = format::read(&table, false, &find);
        assert_eq!(read.is_ok(), wanted, "{written}");
    }
}

fn first_check(script: &str) -> Option<crate::Check> {
    report(script)
        .commands
        .first()?
        .finding
        .as_ref()
        .map(|finding| finding.check)
}

#[test]
fn findings_say_what_is_wrong() {
    use crate::Check::{ObfuscatedFlags, UnknownArgument, UnknownCommand};
    for (script, check) in [
        ("frobnicate", UnknownCommand),
        ("./ls", UnknownCommand),
        ("/tmp/bin/ls", UnknownCommand),
        ("/usr/bin/../../tmp/ls", UnknownCommand),
        ("sort --compress-program=x f", UnknownArgument),
        ("sort --compress-program x f", UnknownArgument),
        ("ls -l''a", ObfuscatedFlags),
        ("ls \"-la\"", ObfuscatedFlags),
        ("ls --al'l'", ObfuscatedFlags),
        ("sort --key'=2' f", ObfuscatedFlags),
        ("cut '-d,' -f1 f", ObfuscatedFlags),
    ] {
        assert_eq!(first_check(script), Some(check), "{script}");
    }
    for script in [
        "cut -d',' -f1",
        "sort --key='2' f",
        "sort -k'2' f",
        "cat -- '-n'",
    ] {
        assert_eq!(first_check(script), None, "{script}");
    }
}

#[test]
fn globs_pass_where_they_cannot_be_flags() {
    for script in [
        "sort ./*",
        "sort src/*",
        "sort -- *",
        "cat *",
        "grep -r x --include=*.rs",
        "rg -g*.rs x",
        "echo *",
        "cat [ab]*",
    ] {
        assert!(report(script).read_only(), "{script}");
    }
    for script in [
        "sort *",
        "sort ?",
        "sort [a]*",
        "sort -k * f",
        "sort -*",
        "uniq *",
        "uniq src/*",
        "rg x *",
        "rg * src",
        "head -n* f",
        "grep -f* x",
        "grep --file=* x",
        "xxd f*",
        "ls*",
        "git l*g",
        "echo /etc/*",
        "cat ../*",
    ] {
        assert!(!report(script).read_only(), "{script}");
    }
}

#[test]
fn classes_and_statuses_are_found_by_name() {
    assert_eq!(class("grep"), Some(Class::Search));
    assert_eq!(class("/bin/ls"), Some(Class::List));
    assert_eq!(class("cat"), Some(Class::Read));
    assert_eq!(class("echo"), Some(Class::Neutral));
    assert_eq!(class("frobnicate"), None);
    assert_eq!(exit_meaning("grep", 1).as_deref(), Some("no match"));
    assert_eq!(exit_meaning("grep", 2), None);
    assert_eq!(
        exit_meaning("[", 1).as_deref(),
        Some("the condition is false")
    );
}
