//! Removals that always need a person's word, whatever the rules say: the root, a home, the
//! project and what it lies in, and anything whose name is not known before it is gone.

use super::heard::Heard;
use crate::wrapper::basename;

/// Why the command must not run unasked, if it is such a one.
pub(super) fn danger(words: &[Heard]) -> Option<String> {
    let (name, rest) = words.split_first()?;
    let operands: Vec<&Heard> = match basename(&name.text) {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" => operands(rest),
        "find" if rest.iter().any(|word| removes(&word.text)) => rest
            .iter()
            .take_while(|word| !word.text.starts_with(['-', '(', '!']) || !word.is_sure)
            .collect(),
        _ => return None,
    };
    let bad = operands.into_iter().find(|word| is_dangerous(word))?;
    Some(if bad.begins_unsure {
        "it removes something whose name is only known when it is gone".to_owned()
    } else {
        format!("it removes `{}`", bad.text)
    })
}

fn removes(word: &str) -> bool {
    matches!(
        word,
        "-delete" | "rm" | "/bin/rm" | "/usr/bin/rm" | "shred" | "unlink"
    )
}

fn operands(rest: &[Heard]) -> Vec<&Heard> {
    let mut only_operands = false;
    rest.iter()
        .filter(|word| {
            if only_operands {
                return true;
            }
            if word.text == "--" {
                only_operands = true;
                return false;
            }
            !word.text.starts_with('-') || word.begins_unsure
        })
        .collect()
}

fn is_dangerous(word: &Heard) -> bool {
    if word.begins_unsure {
        return true;
    }
    let text = word.text.as_str();
    if word.tilde {
        // A home itself, or all that is in it.
        let rest = text.find('/').map_or("", |at| &text[at..]);
        return is_all_of(rest);
    }
    if let Some(absolute) = text.strip_prefix('/') {
        // The root and the folders in it, such as `/etc`.
        return significant(absolute).len() <= 1 || climbs(absolute);
    }
    let parts = significant(text);
    parts.is_empty() || climbs(text)
}

/// Whether nothing is named below.
fn is_all_of(rest: &str) -> bool {
    significant(rest).is_empty()
}

/// The parts of a path that lead somewhere: not `.`, not a final `*`.
fn significant(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    while parts
        .last()
        .is_some_and(|part| part.chars().all(|c| matches!(c, '*' | '.' | '?')) && *part != "..")
    {
        parts.pop();
    }
    parts
}

/// Whether the path ends at its start or above it.
fn climbs(path: &str) -> bool {
    let mut depth: i64 = 0;
    for part in significant(path) {
        depth += if part == ".." { -1 } else { 1 };
    }
    depth <= 0
}
