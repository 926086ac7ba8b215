//! Ways around a deny rule, and commands that must not be taken for one. Both are tables in
//! `cases/`.

use super::commands::decide;

/// The lines of a table that are no comments, with their line ends put back.
fn lines(table: &'static str) -> impl Iterator<Item = String> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.replace('⏎', "\n"))
}

#[test]
fn no_evasion_of_a_deny_rule_is_allowed() {
    let mut rule = String::new();
    let mut count = 0;
    let mut allowed = Vec::new();
    for line in lines(include_str!("../../cases/evasions.txt")) {
        if let Some(next) = line.strip_prefix("deny ") {
            rule = next.to_owned();
            continue;
        }
        count += 1;
        if decide(&[&rule], &[], &["B"], &line) == "allow" {
            allowed.push(format!("{rule}: {line:?}"));
        }
    }
    assert!(count >= 250, "{count}");
    assert!(allowed.is_empty(), "{}", allowed.join("\n"));
}

#[test]
fn everyday_commands_are_not_asked_about_because_something_else_is_forbidden() {
    let asked: Vec<String> = lines(include_str!("../../cases/everyday.txt"))
        .filter(|script| decide(&["B(curl:*)"], &[], &["B"], script) != "allow")
        .collect();
    assert!(asked.is_empty(), "{}", asked.join("\n"));
}
