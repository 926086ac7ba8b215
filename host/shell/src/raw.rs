//! Checks on the text itself, for scripts that were not understood: they say why in the
//! words of the catalogue. Every script that comes here is refused already, so these may be
//! simple; they may miss, but they may not be missed by the verdict.

mod scan;

use crate::check::{Check, Finding};
use crate::paths;
use scan::Scan;

/// A form that counts outside of single quotes, and what it is.
const FORMS: &[(&str, Check, &str)] = &[
    ("<(", Check::CommandSubstitution, "`<(` runs a command"),
    (">(", Check::CommandSubstitution, "`>(` runs a command"),
    (
        "=(",
        Check::CommandSubstitution,
        "`=(` runs a command in zsh",
    ),
    ("$(", Check::CommandSubstitution, "`$(` runs a command"),
    ("`", Check::CommandSubstitution, "a backtick runs a command"),
    (
        "${",
        Check::CommandSubstitution,
        "`${` is replaced by what a variable holds",
    ),
    ("$[", Check::CommandSubstitution, "`$[` calculates"),
    (
        "~[",
        Check::CommandSubstitution,
        "`~[` is replaced by a named folder in zsh",
    ),
    (
        "(e:",
        Check::CommandSubstitution,
        "`(e:` runs code for every file name in zsh",
    ),
    (
        "(+",
        Check::CommandSubstitution,
        "`(+` runs code for every file name in zsh",
    ),
    (
        "<#",
        Check::CommandSubstitution,
        "`<#` is a comment in PowerShell",
    ),
    (
        "=(",
        Check::ZshDangerousCommands,
        "`=(` runs a command in zsh",
    ),
    (
        "${(",
        Check::ZshDangerousCommands,
        "`${(` makes zsh do more with a variable",
    ),
    (">!", Check::ZshDangerousCommands, "`>!` overwrites in zsh"),
    (
        ">> !",
        Check::ZshDangerousCommands,
        "`>> !` overwrites in zsh",
    ),
    (
        "&>|",
        Check::ZshDangerousCommands,
        "`&>|` overwrites in zsh",
    ),
    (
        "TRAP",
        Check::ZshDangerousCommands,
        "functions named `TRAP…` run by themselves in zsh",
    ),
    (
        "} always {",
        Check::ZshDangerousCommands,
        "`always` runs a group in zsh whatever happens",
    ),
    (
        "<<",
        Check::InputRedirection,
        "`<<` feeds a text to a command",
    ),
    (
        "<>",
        Check::InputRedirection,
        "`<>` opens a file for both ways",
    ),
    (
        "/dev/tcp/",
        Check::InputRedirection,
        "`/dev/tcp` is a network connection",
    ),
    (
        "/dev/udp/",
        Check::InputRedirection,
        "`/dev/udp` is a network connection",
    ),
    ("IFS", Check::IfsInjection, "`IFS` decides where words end"),
];

/// What is seen when the quotes are followed, and what it is.
type Seen = (fn(&Scan) -> bool, Check, &'static str);

const SEEN: &[Seen] = &[
    (
        |scan| scan.operator,
        Check::ShellMetacharacters,
        "several commands are joined",
    ),
    (
        |scan| scan.line_end,
        Check::Newlines,
        "several lines are several commands",
    ),
    (
        |scan| scan.escaped_blank,
        Check::BackslashEscapedWhitespace,
        "a blank behind a backslash is part of the word",
    ),
    (
        |scan| scan.escaped_operator,
        Check::BackslashEscapedOperators,
        "an operator behind a backslash is a letter",
    ),
    (
        |scan| scan.brace_list,
        Check::BraceExpansion,
        "braces make several words of one",
    ),
    (
        |scan| scan.unbalanced,
        Check::MalformedTokenInjection,
        "brackets or quotes do not match",
    ),
    (
        |scan| scan.hash_in_word,
        Check::MidWordHash,
        "`#` inside a word is a comment to some and a letter to others",
    ),
    (
        |scan| scan.quote_in_comment,
        Check::CommentQuoteDesync,
        "a comment holds quotes",
    ),
    (
        |scan| scan.hash_after_quoted_line_end,
        Check::QuotedNewline,
        "a quoted line end is followed by `#`",
    ),
    (
        |scan| scan.quoted_flag,
        Check::ObfuscatedFlags,
        "a flag is written with quotes or escapes",
    ),
    (
        |scan| scan.writes,
        Check::OutputRedirection,
        "it writes to a file",
    ),
    (
        |scan| scan.ends_open,
        Check::IncompleteCommands,
        "a quote is not closed or a backslash comes last",
    ),
];

pub(crate) fn check(script: &str) -> Vec<Finding> {
    let scan = Scan::of(script);
    let mut findings: Vec<Finding> = Vec::new();
    let mut add = |check: Check, message: &str| {
        if findings.iter().all(|found| found.check != check) {
            findings.push(check.found(message));
        }
    };
    for (form, check, message) in FORMS {
        if scan.live.contains(form) {
            add(*check, message);
        }
    }
    for (is_seen, check, message) in SEEN {
        if is_seen(&scan) {
            add(*check, message);
        }
    }
    if ["$(", "`", "${"]
        .iter()
        .any(|form| scan.live.contains(form))
        && is_commit(script)
    {
        add(
            Check::GitCommitSubstitution,
            "a commit message is made by a command",
        );
    }
    if words(&scan.live).any(is_zsh_path_lookup) {
        add(
            Check::ZshDangerousCommands,
            "`=` before a name is replaced by a program's path in zsh",
        );
    }
    if OPENING
        .iter()
        .any(|(opens, closes)| count(&scan.live, opens) > count(&scan.live, closes))
    {
        add(
            Check::IncompleteCommands,
            "a loop or condition is not closed",
        );
    }
    if words(script).any(paths::is_process_environment) {
        add(
            Check::ProcEnvironAccess,
            "it shows the variables of a process",
        );
    }
    if aims_by_variable(&scan.live) {
        add(
            Check::DangerousVariables,
            "a variable says where data goes or what runs",
        );
    }
    findings
}

/// Words that need another one later.
const OPENING: &[(&str, &str)] = &[("if", "fi"), ("do", "done"), ("case", "esac")];

fn count(live: &str, word: &str) -> usize {
    words(live).filter(|found| *found == word).count()
}

fn is_zsh_path_lookup(word: &str) -> bool {
    word.strip_prefix('=').is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    })
}

fn words(script: &str) -> impl Iterator<Item = &str> {
    script.split([' ', '\t', '\n', '<', '>', '"', '\'', ';', '|', '&'])
}

fn is_commit(script: &str) -> bool {
    let mut words = words(script);
    words.any(|word| word.ends_with("git")) && words.any(|word| word == "commit")
}

/// A variable as the command, or behind `|`, `<` or `>`.
fn aims_by_variable(live: &str) -> bool {
    let mut aims = true;
    let mut characters = live.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '$' if aims && !matches!(characters.peek(), Some('(' | '\'' | '"')) => return true,
            '|' | '<' | '>' => aims = true,
            '&' | ' ' | '\t' | '"' | '\n' | ';' => {}
            _ => aims = false,
        }
    }
    false
}
