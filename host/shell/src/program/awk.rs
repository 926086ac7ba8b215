//! awk: read-only where that can be shown. Two options, a program whose every token is
//! understood, then files and assignments.

mod program;
#[cfg(test)]
mod tests;
mod token;

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    let mut words = arguments.iter().peekable();
    let mut options_end = false;
    // Options end at the program in all versions.
    while let Some(word) = words.next_if(|word| word.text.starts_with('-')) {
        match option(word)? {
            Meaning::End => {
                options_end = true;
                break;
            }
            Meaning::Version => return Ok(Use::default()),
            Meaning::Separator(Some(_)) => {}
            Meaning::Separator(None) => {
                value_of(word, words.next())?;
            }
            Meaning::Assignment(Some(text)) => assignment(text)?,
            Meaning::Assignment(None) => assignment(value_of(word, words.next())?)?,
        }
    }
    let mut used = Use::default();
    let Some(text) = words.next() else {
        return Ok(used);
    };
    if text.glob || text.tilde {
        return Err(Check::UnsafeProgram.found("bash may put file names in place of the program"));
    }
    program::judge(&text.text)?;
    for word in words {
        operand(word, options_end, &mut used)?;
    }
    Ok(used)
}

enum Meaning<'a> {
    End,
    Version,
    /// `-F`, with its value if that is attached.
    Separator(Option<&'a str>),
    /// `-v`, the same.
    Assignment(Option<&'a str>),
}

fn option(word: &Word) -> Result<Meaning<'_>, Finding> {
    let text = word.text.as_str();
    let (name, meaning) = if text == "--" {
        (text, Meaning::End)
    } else if text == "--version" {
        (text, Meaning::Version)
    } else if let Some(value) = text.strip_prefix("--field-separator=") {
        ("--field-separator=", Meaning::Separator(Some(value)))
    } else if let Some(value) = text.strip_prefix("--assign=") {
        ("--assign=", Meaning::Assignment(Some(value)))
    } else if let Some(value) = text.strip_prefix("-F") {
        let attached = (!value.is_empty()).then_some(value);
        ("-F", Meaning::Separator(attached))
    } else if let Some(value) = text.strip_prefix("-v") {
        // `-version` is an option of its own in some versions.
        let attached = (!value.is_empty()).then_some(value);
        ("-v", Meaning::Assignment(attached))
    } else {
        return Err(Check::UnknownArgument.found(format!("awk `{text}` is not known")));
    };
    if word.plain < name.len() {
        return Err(Check::ObfuscatedFlags.found(format!("quotes in `{text}`")));
    }
    if word.glob {
        return Err(Check::UnknownArgument.found(format!("a glob in `{text}`")));
    }
    Ok(meaning)
}

fn value_of<'a>(option: &Word, value: Option<&'a Word>) -> Result<&'a str, Finding> {
    match value {
        Some(value) if !value.glob && !value.tilde => Ok(&value.text),
        _ => Err(Check::UnknownArgument.found(format!("awk `{}` needs a word", option.text))),
    }
}

/// `name=value`, where the name is no variable that decides what is read.
fn assignment(text: &str) -> Result<(), Finding> {
    match assigned_name(text) {
        Some(name) if program::may_be_set(name) => Ok(()),
        _ => Err(Check::UnknownArgument.found(format!("awk may not set `{text}`"))),
    }
}

fn assigned_name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    let mut bytes = name.bytes();
    let first = bytes.next()?;
    ((first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    .then_some(name)
}

fn operand(word: &Word, options_end: bool, used: &mut Use) -> Result<(), Finding> {
    if word.text == "-" {
        return Ok(());
    }
    // Not every version is known to stop looking for options at the program.
    let may_be_option =
        word.text.starts_with('-') || (word.glob && word.text.starts_with(['*', '?', '[']));
    if may_be_option && !options_end {
        return Err(Check::UnknownArgument.found(format!("`{}` may be an option", word.text)));
    }
    if assigned_name(&word.text).is_some() {
        return assignment(&word.text);
    }
    used.reads.push(word.clone());
    Ok(())
}
