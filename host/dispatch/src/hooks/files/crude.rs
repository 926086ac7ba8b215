//! The words of a command cut wherever a path could begin or end, without regard to quotes.
//!
//! Finds what stands in other languages in the command, behind `=` and in lists; what it cannot find are
//! names that hold one of these signs. The reading of a shell (`lexer`) finds those.

use super::kinds::is_interpreter;

/// So many words behind an interpreter may be what it runs.
const REACH: usize = 4;

/// Without quotes, and of those with variables or commands in them what follows these.
pub(super) fn words(command: &str) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || ";|&()`<>={},".contains(c);
    let text: String = command.chars().filter(|c| !"\"'\\".contains(*c)).collect();
    let words = text.split(is_break).map(|word| {
        let word = match word.rsplit_once('$') {
            Some((_, rest)) => {
                rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
            }
            None => word,
        };
        let word = word.strip_prefix('~').unwrap_or(word);
        word.to_owned()
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// The words in front of one that an interpreter may have got before it, the nearest first; none if no
/// interpreter is near.
pub(super) fn between(words: &[String], at: usize) -> Option<&[String]> {
    let first = at.saturating_sub(REACH);
    let interpreter = words[first..at]
        .iter()
        .rposition(|word| is_interpreter(word))?;
    Some(&words[first + interpreter + 1..at])
}
