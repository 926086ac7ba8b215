//! jq: options from a list, a program that reads nothing but its input, then files.

mod program;
#[cfg(test)]
mod tests;

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

/// Short options without a value; they may be clustered.
const SHORT: &str = "nrjascCMSeRhVb";

/// Long options without a value. jq takes no abbreviations.
const LONG: &[&str] = &[
    "--ascii-output",
    "--binary",
    "--build-configuration",
    "--color-output",
    "--compact-output",
    "--exit-status",
    "--help",
    "--join-output",
    "--monochrome-output",
    "--null-input",
    "--raw-input",
    "--raw-output",
    "--raw-output0",
    "--seq",
    "--slurp",
    "--sort-keys",
    "--stream",
    "--stream-errors",
    "--tab",
    "--unbuffered",
    "--version",
];

/// Long options that read a file as a program, a library or a value.
const FILES: &[&str] = &[
    "--argfile",
    "--from-file",
    "--library-path",
    "--rawfile",
    "--run-tests",
    "--slurpfile",
];

/// What the words after the program are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Files,
    Values,
}

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    let mut used = Use::default();
    let mut words = arguments.iter();
    let mut options_end = false;
    let mut program_seen = false;
    let mut rest = Rest::Files;
    while let Some(word) = words.next() {
        if !options_end && word.text.starts_with('-') {
            if word.plain < word.text.len() {
                return Err(Check::ObfuscatedFlags.found(format!("quotes in `{}`", word.text)));
            }
            match word.text.as_str() {
                "--" => options_end = true,
                "--args" | "--jsonargs" => rest = Rest::Values,
                "--arg" | "--argjson" => {
                    value_of(word, words.next())?;
                    value_of(word, words.next())?;
                }
                "--indent" => number_of(word, words.next())?,
                text => option(text)?,
            }
        } else if !program_seen {
            program_seen = true;
            program_word(word)?;
        } else {
            if !options_end && word.glob && word.text.starts_with(['*', '?', '[']) {
                return Err(Check::UnknownArgument.found(format!(
                    "`{}` may match a file whose name is an option",
                    word.text
                )));
            }
            if rest == Rest::Files {
                used.reads.push(word.clone());
            }
        }
    }
    Ok(used)
}

fn option(text: &str) -> Result<(), Finding> {
    if LONG.contains(&text) {
        return Ok(());
    }
    let name = text.split('=').next().unwrap_or(text);
    if FILES.contains(&name) {
        return Err(Check::JqFileArguments.found(format!("jq `{name}` reads a file")));
    }
    let letters = &text[1..];
    if !letters.is_empty() && letters.chars().all(|letter| SHORT.contains(letter)) {
        return Ok(());
    }
    if !letters.starts_with('-') && letters.contains(['f', 'L']) {
        return Err(Check::JqFileArguments.found(format!("jq `{text}` reads a file")));
    }
    Err(Check::UnknownArgument.found(format!("jq `{text}` is not known")))
}

/// A word that an option takes, whatever it begins with. A glob could become two words
/// and shift the roles of all that follow.
fn value_of(option: &Word, value: Option<&Word>) -> Result<(), Finding> {
    match value {
        Some(value) if !value.glob => Ok(()),
        _ => Err(Check::UnknownArgument.found(format!("jq `{}` needs two words", option.text))),
    }
}

fn number_of(option: &Word, value: Option<&Word>) -> Result<(), Finding> {
    let is_number =
        |word: &Word| !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    match value {
        Some(value) if is_number(value) => Ok(()),
        _ => Err(Check::UnknownArgument.found(format!("jq `{}` needs a number", option.text))),
    }
}

fn program_word(word: &Word) -> Result<(), Finding> {
    if word.tilde || (word.glob && !only_indexes(&word.text)) {
        return Err(Check::UnsafeProgram.found("bash may put file names in place of the program"));
    }
    program::judge(&word.text)
}

/// Whether an unquoted program can only become another path of the same kind: `.a[0]`
/// matches nothing but a file `.a0`, and `.a[]` is no glob, as its bracket never closes.
fn only_indexes(text: &str) -> bool {
    if text.contains(['*', '?', '"', '\\']) {
        return false;
    }
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        rest = &rest[open + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if !rest[digits..].starts_with(']') {
            return false;
        }
        rest = &rest[digits + 1..];
        if digits == 0 {
            return !rest.contains([']', '[']);
        }
    }
    true
}
