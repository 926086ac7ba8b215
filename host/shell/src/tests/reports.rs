//! What the crate says about every script of the case tables, whole, in one reviewed file.
//!
//! The other tests say what must hold; this one shows every change of a decision, a mention or a
//! suggestion in the diff of a commit. `TOOLBAY_BLESS=1 cargo test -p toolbay-shell reports` writes
//! the file anew; read what changed before it is committed.

#![allow(clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::reading::Command as ReadCommand;
use crate::{Place, Report, exit_meaning, fuzzing, in_place, inspect};

/// The lines of a table that are no comments and name no rule, with their line ends put back.
fn scripts(table: &'static str) -> impl Iterator<Item = String> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("deny "))
        .map(|line| line.replace('⏎', "\n"))
}

/// A report in lines that a reader can check. What is empty or usual is left out.
fn shown(script: &str, report: &Report) -> String {
    let mut text = format!("$ {}\n", script.replace('\n', "⏎"));
    let mut line = |name: &str, items: Vec<String>| {
        if !items.is_empty() {
            let items = items.join(" | ").replace('\n', "⏎");
            let _ = writeln!(text, "    {name}: {items}");
        }
    };
    let paths = |all: &[PathBuf]| all.iter().map(|path| path.display().to_string()).collect();
    let mut verdict = vec![report.verdict.word().to_owned()];
    let flags = [
        (report.is_opaque, "opaque"),
        (report.is_loop, "loop"),
        (report.prints_history, "prints history"),
        (report.may_be_allowed_by_parts(), "by parts"),
        (report.always_asks().is_some(), "always asks"),
    ];
    let flags = flags.iter().filter(|(is_set, _)| *is_set);
    verdict.extend(flags.map(|(_, word)| (*word).to_owned()));
    verdict.extend(report.class.map(|class| format!("{class:?}")));
    line("verdict", verdict);
    let findings = report.findings.iter();
    line(
        "findings",
        findings
            .map(|finding| format!("{} {}", finding.check.number(), finding.message))
            .collect(),
    );
    let commands = report.commands.iter().map(|command| {
        let finding = command.finding.as_ref();
        let number =
            finding.map_or_else(String::new, |found| format!(" !{}", found.check.number()));
        let depth = "(".repeat(command.depth);
        let rules = command.for_rules.as_deref().unwrap_or("no rule");
        format!(
            "{}{depth}{:?} {rules}{number}",
            command.join.sign(),
            command.words
        )
    });
    line("commands", commands.collect());
    // Each reader by itself: where both refuse, one of them would be enough, and may rot unseen.
    let count = |read: Option<Vec<ReadCommand>>| match read {
        Some(commands) => sizes(&commands),
        None => "-".to_owned(),
    };
    let (lexer, grammar) = (
        count(fuzzing::lexer(script)),
        count(fuzzing::grammar(script)),
    );
    if lexer == grammar {
        line("both readers", vec![lexer]);
    } else {
        line("lexer", vec![lexer]);
        line("grammar", vec![grammar]);
    }
    let rules = report.commands.iter().map(|command| {
        let prefix = command.prefix().map(|prefix| format!("{prefix}:*"));
        prefix.or(command.quoted()).unwrap_or_else(|| "none".into())
    });
    line("a rule each", rules.collect());
    line(
        "one rule",
        report.prefix().map(str::to_owned).into_iter().collect(),
    );
    let mentions = report.mentions.iter().map(|mention| {
        let more = if mention.is_whole { "" } else { " …" };
        format!("{}{more}", mention.words.join(" "))
    });
    line("mentions", mentions.collect());
    line("reads", paths(&report.reads));
    line("writes", paths(&report.writes));
    line(
        "warnings",
        report
            .warnings
            .iter()
            .map(|&word| word.to_owned())
            .collect(),
    );
    line("prefixes", report.prefixes.clone());
    let exits = [1, 2].into_iter().filter_map(|status| {
        exit_meaning(&report.commands, status).map(|meaning| format!("{status} {meaning}"))
    });
    line("exits", exits.collect());
    line(
        "in place",
        in_place(script)
            .iter()
            .map(|edit| edit.file.clone())
            .collect(),
    );
    text
}

/// How many words, assignments and redirections each command has.
fn sizes(commands: &[ReadCommand]) -> String {
    let sizes = commands.iter().map(|command| {
        let parts = [
            command.words.len(),
            command.assignments.len(),
            command.redirections.len(),
        ];
        parts.map(|part| part.to_string()).join("/")
    });
    sizes.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_said_about_every_case_is_what_was_reviewed() {
    let place = Place::new("/home/dev/project").with_home("/home/dev");
    let tables = [
        include_str!("../../cases/scripts.txt"),
        include_str!("../../../policy/cases/evasions.txt"),
        include_str!("../../../policy/cases/everyday.txt"),
    ];
    let said: String = tables
        .into_iter()
        .flat_map(scripts)
        .map(|script| shown(&script, &inspect(&script, &place)))
        .collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/reports.txt");
    if std::env::var_os("TOOLBAY_BLESS").is_some() {
        std::fs::write(&file, &said).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    for (said, reviewed) in said.split("\n$ ").zip(reviewed.split("\n$ ")) {
        assert_eq!(said, reviewed, "TOOLBAY_BLESS=1 writes {}", file.display());
    }
    assert_eq!(
        said.len(),
        reviewed.len(),
        "more or fewer scripts than reviewed"
    );
}
