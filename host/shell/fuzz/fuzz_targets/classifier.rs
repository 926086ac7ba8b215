//! The whole: it ends, it does not panic, and what it says fits together.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbay_shell::{Check, Place, Verdict, fuzzing};

fuzz_target!(|script: &str| {
    let report = toolbay_shell::inspect(script, &Place::new("/home/me/project"));
    let agreed = fuzzing::agreed(script);
    assert_eq!(report.verdict == Verdict::TooComplex, agreed.is_none());
    if let Some(commands) = agreed {
        let words = commands.iter().filter(|command| !command.words.is_empty());
        let read: Vec<Vec<&str>> = words
            .map(|command| command.words.iter().map(|word| &*word.text).collect())
            .collect();
        let reported: Vec<Vec<&str>> = report
            .commands
            .iter()
            .map(|command| command.words.iter().map(String::as_str).collect())
            .collect();
        // Past a number they are not looked into, and the report says so.
        assert_eq!(read[..reported.len()], reported);
        if read.len() > reported.len() {
            assert!(report.has(Check::TooManyCommands));
        }
    }
    if report.read_only() {
        assert!(report.findings.is_empty() && report.writes.is_empty());
        assert!(report.commands.iter().all(|command| command.is_read_only()));
        let expanded = expansion(script);
        assert!(expanded.is_none(), "{expanded:?} in a read-only script");
    }
});

/// The first thing in the script that bash would expand, found without either reading.
fn expansion(script: &str) -> Option<&'static str> {
    let mut in_double = false;
    let mut at = 0;
    while let Some(rest) = script.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        if first == '\\' {
            at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        if first == '\'' && !in_double {
            at += 2 + rest[1..].find('\'')?;
            continue;
        }
        let anywhere = ["$(", "${", "$[", "`"].into_iter();
        let outside = ["<(", ">(", "<<", "$'", "$\""]
            .into_iter()
            .filter(|_| !in_double);
        if let Some(found) = anywhere.chain(outside).find(|form| rest.starts_with(form)) {
            return Some(found);
        }
        in_double ^= first == '"';
        at += first.len_utf8();
    }
    None
}
