//! Wrappers that start the command behind their flags, and nothing else.

use super::heard::Heard;
use super::variables::{Seen, is_harmless};
use crate::wrapper::{basename, inner};

/// Wrappers with all flags that are known; a `=` says that one takes a value. With any other flag
/// it is not certain where the command begins.
const TRANSPARENT: &[(&str, &str)] = &[
    ("builtin", ""),
    ("chronic", ""),
    ("command", "-p"),
    (
        "env",
        "-i - -u= -C= --ignore-environment --unset= --chdir= -0 --null",
    ),
    ("exec", "-c -l -a="),
    ("ionice", "-c= -n= -t"),
    ("nice", "-n= --adjustment="),
    ("nocorrect", ""),
    ("noglob", ""),
    ("nohup", ""),
    ("setsid", "-w -f -c --wait --fork --ctty"),
    ("stdbuf", "-i= -o= -e= --input= --output= --error="),
    ("time", "-p -v"),
    (
        "timeout",
        "-k= -s= -v --kill-after= --signal= --foreground --preserve-status --verbose",
    ),
    (
        "xargs",
        "-0 -r -t -x -n= -P= -I= -L= -d= -s= -a= --null --no-run-if-empty --max-args= --max-procs= --delimiter= --arg-file= --verbose",
    ),
];

/// Whether the words of a wrapper show the command that it runs. That one is heard, and asked
/// the same.
pub(super) fn shows_its_command(words: &[Heard]) -> bool {
    let Some((name, rest)) = words.split_first() else {
        return false;
    };
    let base = basename(&name.text);
    let Some((_, flags)) = TRANSPARENT.iter().find(|(wrapper, _)| *wrapper == base) else {
        return false;
    };
    // Without a command they print, or do nothing.
    let command = inner(words).map_or(0, <[Heard]>::len);
    let before = &rest[..rest.len() - command];
    if base == "xargs" && replaces_words(before) {
        return false;
    }
    let mut has_value = false;
    before.iter().all(|word| {
        if !word.is_sure {
            return false;
        }
        if std::mem::take(&mut has_value) {
            return true;
        }
        let text = word.text.as_str();
        if text == "--" || !text.starts_with('-') {
            // An operand of its own, or a variable for the command.
            return !text.contains('=') || is_harmless(word, Seen::ByPrograms);
        }
        flags.split(' ').any(|flag| match flag.strip_suffix('=') {
            Some(valued) if text == valued => {
                has_value = true;
                true
            }
            Some(long) if long.starts_with("--") => text
                .strip_prefix(long)
                .is_some_and(|rest| rest.starts_with('=')),
            Some(short) => text.starts_with(short),
            None => text == flag,
        }) || base == "nice" && text[1..].bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `xargs -I ls ls`: what is replaced may be the command's own name.
fn replaces_words(before: &[Heard]) -> bool {
    let mut signs = signs(before);
    signs.any(|sign| !matches!(sign, "{}" | "%" | "@" | "@@" | "_"))
}

/// What `xargs` puts its input in place of.
fn signs(before: &[Heard]) -> impl Iterator<Item = &str> {
    before
        .iter()
        .enumerate()
        .filter_map(|(at, word)| match word.text.strip_prefix("-I") {
            Some("") => before.get(at + 1).map(|word| word.text.as_str()),
            sign => sign,
        })
}

/// Marks the words of a command into which `xargs` puts its input, and those that it adds.
pub(super) fn fill_in(words: &[Heard], command: &mut Vec<Heard>) {
    let before = &words[..words.len() - command.len()];
    for sign in signs(before).filter(|sign| !sign.is_empty()) {
        for word in command.iter_mut().filter(|word| word.text.contains(sign)) {
            word.is_sure = false;
            word.splits = true;
            word.word = None;
        }
    }
    // With a sign to put it in place of, nothing is added.
    if signs(before).next().is_none() {
        command.push(Heard::unknown());
    }
}
