//! Builtins of bash that evaluate some of their arguments, or change what names mean.
//!
//! Where bash expects the name of a variable it takes `a[…]` as well, and computes what stands in
//! the brackets, commands and all: `unset 'a[$(x)]'` runs `x`.

use super::heard::Heard;
use super::variables::{self, Seen, is_identifier};
use crate::table::may_assign;

/// Whether such a builtin is used in a way that runs nothing; none if it is no such builtin.
pub(super) fn evaluates_nothing(name: &str, rest: &[Heard]) -> Option<bool> {
    Some(match name {
        "printf" => prints(rest),
        "test" | "[" => tests(rest),
        "read" => names_variables(rest, "ers", "pdntuiN"),
        "getopts" => rest.get(1).is_none_or(is_variable),
        "unset" => names_variables(rest, "fv", ""),
        // `-x` runs a command.
        "jobs" => rest
            .iter()
            .all(|word| word.is_sure && !word.text.contains('x')),
        "export" => declares(rest, Seen::ByPrograms),
        "declare" | "typeset" | "local" | "readonly" => declares(rest, Seen::ByTheShell),
        "set" => sets(rest),
        "shopt" => rest
            .iter()
            .all(|word| word.is_sure && SAFE_SHOPT.contains(&word.text.as_str())),
        "wait" => rest.iter().all(|word| !word.text.starts_with("-p")),
        "hash" => matches!(rest, [flag] if flag.text == "-r"),
        _ => return None,
    })
}

fn prints(rest: &[Heard]) -> bool {
    match rest.first() {
        Some(format) if format.is_sure => {
            !format.text.starts_with("-v") && !may_assign(&format.text)
        }
        // A name to assign to would be a word behind it.
        Some(format) => rest.len() == 1 && !format.splits,
        None => true,
    }
}

/// Behind these a word can be nothing but an operand.
const BEFORE_OPERANDS: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L",
    "-N", "-O", "-S", "-n", "-z", "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt",
    "-ge", "-nt", "-ot", "-ef",
];

/// `-v` and `-R` look a variable up. What is split into several words may hold them.
fn tests(rest: &[Heard]) -> bool {
    rest.iter().enumerate().all(|(at, word)| {
        let is_sure_of = |at: Option<usize>, words: &[&str]| {
            let found = at.and_then(|at| rest.get(at));
            found.is_some_and(|word| word.is_sure && words.contains(&word.text.as_str()))
        };
        let is_operand = is_sure_of(at.checked_sub(1), BEFORE_OPERANDS);
        // What may be a flag is one only if a word follows that it is about.
        let is_alone = at + 1 == rest.len() || is_sure_of(Some(at + 1), AFTER_OPERANDS);
        let looks_up = matches!(word.text.as_str(), "-v" | "-R");
        word.is_sure && !looks_up || !word.is_sure && (is_operand || is_alone && !word.splits)
    })
}

/// Before these a word can be nothing but an operand.
const AFTER_OPERANDS: &[&str] = &[
    "]", ")", "-a", "-o", "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge",
    "-nt", "-ot", "-ef",
];

/// Flags, those in `valued` with a value, and names of variables.
fn names_variables(rest: &[Heard], flags: &str, valued: &str) -> bool {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if !word.is_sure {
            return false;
        }
        let Some(letters) = word.text.strip_prefix('-') else {
            if !is_variable(word) {
                return false;
            }
            continue;
        };
        // The value may stand in the same word. `-a` of `read` has a name behind it.
        let end = letters
            .find(|c| valued.contains(c))
            .unwrap_or(letters.len());
        let is_known = |c: char| flags.contains(c) || c == '-';
        let names_array = letters == "a" || letters == "ra";
        if !names_array && !letters[..end].chars().all(is_known) {
            return false;
        }
        if end + 1 == letters.len() {
            words.next();
        }
    }
    true
}

fn is_variable(word: &Heard) -> bool {
    word.is_sure && is_identifier(&word.text) && !variables::decides_what_runs(&word.text)
}

/// `-i` computes what is assigned, `-n` gives a variable another's name, `-f` means functions.
fn declares(rest: &[Heard], seen: Seen) -> bool {
    let is_flag = |word: &&Heard| word.text.starts_with(['-', '+']);
    let exports = rest
        .iter()
        .any(|word| is_flag(&word) && word.text.contains('x'));
    let seen = if exports { Seen::ByPrograms } else { seen };
    rest.iter().all(|word| {
        if is_flag(&word) {
            word.is_sure && !word.text.contains(['i', 'n', 'f'])
        } else {
            variables::is_harmless(word, seen)
        }
    })
}

/// Options that change how a script fails, not what it runs.
fn sets(rest: &[Heard]) -> bool {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.is_sure {
            return false;
        }
        if text == "--" {
            return true;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else {
            return true;
        };
        if !letters.chars().all(|letter| "euxvfChEBo".contains(letter)) {
            return false;
        }
        // Each `o` takes a word, in an order of its own.
        if letters.matches('o').count() > 1 {
            return false;
        }
        let is_safe = |option: &Heard| option.is_sure && SAFE_OPTIONS.contains(&&*option.text);
        if letters.contains('o') && !words.next().is_none_or(is_safe) {
            return false;
        }
    }
    true
}

/// Words of `shopt` that change nothing but which files a pattern matches, and never to none.
const SAFE_SHOPT: &[&str] = &[
    "-s",
    "-u",
    "-p",
    "-q",
    "dotglob",
    "failglob",
    "globstar",
    "globasciiranges",
    "inherit_errexit",
    "nocaseglob",
    "nocasematch",
    "checkwinsize",
    "histappend",
];

/// Options of the shell that change nothing about what its words mean: `keyword` would make
/// variables of operands, `allexport` would show all of them to programs.
const SAFE_OPTIONS: &[&str] = &[
    "errexit",
    "errtrace",
    "nounset",
    "pipefail",
    "xtrace",
    "verbose",
    "noglob",
    "noclobber",
    "noexec",
    "hashall",
    "braceexpand",
    "emacs",
    "vi",
];
