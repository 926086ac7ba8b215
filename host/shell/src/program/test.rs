//! `test` and `[`: conditions that only look. Some operators run code: `-v 'a[$(x)]'`.

#[cfg(test)]
mod tests;

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

/// Look at a file.
const FILE_TESTS: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L",
    "-N", "-O", "-S",
];
const TEXT_TESTS: &[&str] = &["-n", "-z"];
const TEXT_COMPARISONS: &[&str] = &["=", "==", "!=", "<", ">"];
const FILE_COMPARISONS: &[&str] = &["-nt", "-ot", "-ef"];
const NUMBER_COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// What may not be taken for text, because then one might read it in two ways.
const JOINTS: &[&str] = &["!", "(", ")", "-a", "-o", "]"];

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    // `test` has no closing bracket; if it is given one, it fails and harms nobody.
    let words = match arguments {
        [words @ .., last] if last.text == "]" => words,
        words => words,
    };
    condition(words)
}

/// The words of `[[ … ]]`, where nothing is split and no file names are matched. Operators that it
/// has and `[` has not are in no list here.
pub(super) fn judge_double(arguments: &[Word]) -> Result<Use, Finding> {
    match arguments {
        [words @ .., last] if last.text == "]]" && !words.is_empty() => condition(words),
        _ => Err(unknown("[[")),
    }
}

fn condition(words: &[Word]) -> Result<Use, Finding> {
    if let Some(word) = words.iter().find(|word| word.glob) {
        return Err(unknown(&word.text));
    }
    let mut condition = Condition {
        rest: words,
        reads: Vec::new(),
    };
    if !words.is_empty() {
        condition.any(0)?;
    }
    match condition.rest.first() {
        Some(surplus) => Err(unknown(&surplus.text)),
        None => Ok(Use {
            reads: condition.reads,
            ..Use::default()
        }),
    }
}

struct Condition<'a> {
    rest: &'a [Word],
    reads: Vec<Word>,
}

/// Nobody nests deeper.
const MOST_DEPTH: usize = 8;

impl<'a> Condition<'a> {
    /// Terms with `-a` or `-o` between them.
    fn any(&mut self, depth: usize) -> Result<(), Finding> {
        self.term(depth)?;
        while self.is_next(&["-a", "-o"]) {
            self.next()?;
            self.term(depth)?;
        }
        Ok(())
    }

    fn term(&mut self, depth: usize) -> Result<(), Finding> {
        if depth > MOST_DEPTH {
            return Err(unknown("("));
        }
        if self.is_next(&["!"]) {
            self.next()?;
            return self.term(depth + 1);
        }
        if self.is_next(&["("]) {
            self.next()?;
            self.any(depth + 1)?;
            let close = self.next()?;
            return if close.text == ")" {
                Ok(())
            } else {
                Err(unknown(&close.text))
            };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<(), Finding> {
        let first = self.next()?;
        if let Some(test) = operator(first, &[FILE_TESTS, TEXT_TESTS, &["-t"]])? {
            let operand = self.operand()?;
            if FILE_TESTS.contains(&test) {
                self.reads.push(operand.clone());
            } else if test == "-t" && !is_number(operand) {
                return Err(unknown(&operand.text));
            }
            return Ok(());
        }
        if is_operator(first) || first.text.starts_with('-') && !is_number(first) {
            return Err(unknown(&first.text));
        }
        if self.rest.is_empty() || self.is_next(&["-a", "-o", ")"]) {
            return Ok(());
        }
        let middle = self.next()?;
        let comparisons = [TEXT_COMPARISONS, FILE_COMPARISONS, NUMBER_COMPARISONS];
        let Some(comparison) = operator(middle, &comparisons)? else {
            return Err(unknown(&middle.text));
        };
        let second = self.operand()?;
        if NUMBER_COMPARISONS.contains(&comparison) && !(is_number(first) && is_number(second)) {
            // Bash may compute a text, and what is computed may run commands.
            return Err(unknown(&middle.text));
        }
        if FILE_COMPARISONS.contains(&comparison) {
            self.reads.extend([first.clone(), second.clone()]);
        }
        Ok(())
    }

    /// A word that can be nothing but text.
    fn operand(&mut self) -> Result<&'a Word, Finding> {
        let word = self.next()?;
        if is_operator(word) {
            return Err(unknown(&word.text));
        }
        Ok(word)
    }

    fn is_next(&self, texts: &[&str]) -> bool {
        self.rest
            .first()
            .is_some_and(|word| texts.contains(&&*word.text))
    }

    fn next(&mut self) -> Result<&'a Word, Finding> {
        let (first, rest) = self
            .rest
            .split_first()
            .ok_or_else(|| Check::UnsafeProgram.found("the condition is incomplete"))?;
        self.rest = rest;
        Ok(first)
    }
}

/// The operator that a word is, if it is one of these. Those with a dash must be
/// written plainly.
fn operator<'a>(word: &'a Word, lists: &[&[&str]]) -> Result<Option<&'a str>, Finding> {
    let text = &*word.text;
    if !lists.iter().any(|list| list.contains(&text)) {
        return Ok(None);
    }
    if text.starts_with('-') && word.plain < text.len() {
        let message = format!("quotes or backslashes inside the operator `{text}`");
        return Err(Check::ObfuscatedFlags.found(message));
    }
    Ok(Some(text))
}

/// Anything that is an operator somewhere, and `-v` and `-R`, which look into variables.
fn is_operator(word: &Word) -> bool {
    let text = &*word.text;
    [
        FILE_TESTS,
        TEXT_TESTS,
        TEXT_COMPARISONS,
        FILE_COMPARISONS,
        NUMBER_COMPARISONS,
        JOINTS,
        &["-t", "-v", "-R"],
    ]
    .iter()
    .any(|list| list.contains(&text))
}

fn is_number(word: &Word) -> bool {
    let digits = word.text.strip_prefix(['-', '+']).unwrap_or(&word.text);
    (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn unknown(word: &str) -> Finding {
    Check::UnsafeProgram.found(format!(
        "`{word}` is not known to be harmless in a condition"
    ))
}
