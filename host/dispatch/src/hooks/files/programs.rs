//! Which words of a command may be the names of programs, and what is put into words while it runs.

use super::expansions::first_variable;
use super::kinds::{is_builtin_launcher, is_launcher, runs_files};
use super::lexer::{ANY, BEFORE_COMMANDS};
use super::variables::{Entry, assigned};

pub(super) fn texts<'a>(command: &'a [Entry<'a>]) -> impl Iterator<Item = &'a str> {
    command.iter().map(|entry| &*entry.word.text)
}

/// Whether a word may be the name of a program: everything in front of it starts another one.
pub(super) fn is_program_place(command: &[Entry<'_>], at: usize) -> bool {
    is_behind(command, at, is_launcher)
}

/// Whether a dot is a program; elsewhere it is the folder.
pub(super) fn is_dot_place(command: &[Entry<'_>], at: usize) -> bool {
    is_behind(command, at, is_builtin_launcher)
}

fn is_behind(command: &[Entry<'_>], at: usize, launches: fn(&str) -> bool) -> bool {
    let mut is_launched = false;
    let mut before = "";
    for entry in command[..at].iter().filter(|entry| !entry.is_redirected()) {
        let text = &*entry.word.text;
        // Flags, their values and numbers.
        let is_of_launcher = text.starts_with('-')
            || text.starts_with(|c: char| c.is_ascii_digit())
            || before.starts_with('-') && !before.contains('=') && !runs_files(text, false);
        let is_in_front = assigned(text).is_some()
            || BEFORE_COMMANDS.contains(&text)
            || launches(text)
            || is_variable(text)
            || matches!(before, "function" | "coproc")
            || is_launched && is_of_launcher;
        if !is_in_front {
            return false;
        }
        is_launched |= launches(text);
        before = text;
    }
    !command[at].is_redirected()
}

/// Nothing but variables.
fn is_variable(text: &str) -> bool {
    let mut rest = text;
    while let Some(("", _, behind)) = first_variable(rest) {
        rest = behind;
    }
    rest.is_empty() && !text.is_empty()
}

/// What stands for names that another program puts in: `{}`, or what `-I` says.
pub(super) fn blanks(command: &[Entry<'_>]) -> Vec<String> {
    const FILLERS: [&str; 6] = ["xargs", "find", "fd", "fdfind", "parallel", "bfs"];
    if !texts(command).any(|word| FILLERS.contains(&word)) {
        return Vec::new();
    }
    let mut all = vec!["{}".to_owned()];
    let mut before = "";
    for word in texts(command) {
        let attached = ["-I", "-i", "--replace="].iter();
        let mut attached = attached.filter_map(|flag| word.strip_prefix(flag));
        match (before, attached.next()) {
            ("-I", _) => all.push(word.to_owned()),
            (_, Some(blank)) if !blank.is_empty() => all.push(blank.to_owned()),
            (_, _) => {}
        }
        before = word;
    }
    all
}

pub(super) fn filled_blank(text: &str, blank: &str) -> Option<String> {
    let is_inside = !blank.is_empty() && text != blank && text.contains(blank);
    is_inside.then(|| text.replace(blank, &ANY.to_string()))
}

/// Whether each file that is found is given to an interpreter as its script: `find x -exec sh {} ;`.
pub(super) fn runs_found(command: &[Entry<'_>]) -> bool {
    let mut after = None;
    for word in texts(command) {
        if word == "{}" && after.is_some() {
            return true;
        }
        if runs_files(word, true) && word != "." {
            after = Some(word);
        } else if !word.starts_with(['-', '+']) {
            after = None;
        }
    }
    false
}
