//! `sed`: scripts that print, count and replace on the way through, but write no file
//! and run nothing.

mod script;
#[cfg(test)]
mod tests;

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

/// Letters that take no value. `-i` writes and `-f` has its script elsewhere.
const LETTERS: &str = "nErsuz";
const LONG: &[&str] = &[
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--separate",
    "--unbuffered",
    "--null-data",
    "--posix",
    "--sandbox",
];

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    let mut sed = Sed::default();
    let mut words = arguments.iter();
    let mut ended = false;
    while let Some(word) = words.next() {
        let text = &*word.text;
        if ended || !text.starts_with('-') || text == "-" {
            sed.operands.push((word, ended));
        } else if text == "--" {
            written_plainly(word, 2)?;
            ended = true;
        } else if let Some(script) = text.strip_prefix("--expression=") {
            written_plainly(word, "--expression=".len())?;
            no_glob(word)?;
            sed.scripts.push(script);
        } else if text == "--expression" {
            written_plainly(word, text.len())?;
            sed.scripts.push(value(words.next())?);
        } else if text.starts_with("--") {
            written_plainly(word, text.len())?;
            if !LONG.contains(&text) {
                return Err(unknown(text));
            }
        } else {
            sed.cluster(word, &mut words)?;
        }
    }
    sed.finish()
}

#[derive(Default)]
struct Sed<'a> {
    scripts: Vec<&'a str>,
    /// Whether each stands behind `--`.
    operands: Vec<(&'a Word, bool)>,
}

impl<'a> Sed<'a> {
    /// Short flags in one word; `-e` takes the rest of it, or the next.
    fn cluster(
        &mut self,
        word: &'a Word,
        words: &mut impl Iterator<Item = &'a Word>,
    ) -> Result<(), Finding> {
        no_glob(word)?;
        for (at, letter) in word.text.char_indices().skip(1) {
            written_plainly(word, at + letter.len_utf8())?;
            if letter == 'e' {
                let rest = &word.text[at + 1..];
                let script = if rest.is_empty() {
                    value(words.next())?
                } else {
                    rest
                };
                self.scripts.push(script);
                return Ok(());
            }
            if !LETTERS.contains(letter) {
                return Err(unknown(&format!("-{letter}")));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Use, Finding> {
        let mut operands = self.operands.into_iter();
        if self.scripts.is_empty() {
            script::check(value(operands.next().map(|(word, _)| word))?)?;
        }
        // Each for itself: one that only ends in the next is refused.
        for script in self.scripts {
            script::check(script)?;
        }
        let mut reads = Vec::new();
        for (word, behind) in operands {
            if word.glob && !behind && word.text.starts_with(['*', '?', '[']) {
                let message = format!("`{}` may become a flag of `sed`", word.text);
                return Err(Check::UnknownArgument.found(message));
            }
            if word.text != "-" {
                reads.push(word.clone());
            }
        }
        Ok(Use {
            reads,
            ..Use::default()
        })
    }
}

/// Whether a script does nothing to other files and runs nothing.
pub(crate) fn script_is_harmless(text: &str) -> bool {
    script::check(text).is_ok()
}

fn value(word: Option<&Word>) -> Result<&str, Finding> {
    let word = word.ok_or_else(|| Check::UnsafeProgram.found("`sed` lacks its script"))?;
    no_glob(word)?;
    Ok(&word.text)
}

fn no_glob(word: &Word) -> Result<(), Finding> {
    if word.glob || word.tilde {
        let message = format!("nobody knows what `{}` becomes for `sed`", word.text);
        return Err(Check::UnknownArgument.found(message));
    }
    Ok(())
}

fn written_plainly(word: &Word, end: usize) -> Result<(), Finding> {
    if word.plain < end {
        let message = format!("quotes or backslashes inside the flag `{}`", word.text);
        return Err(Check::ObfuscatedFlags.found(message));
    }
    Ok(())
}

fn unknown(flag: &str) -> Finding {
    Check::UnknownArgument.found(format!("`{flag}` is not known to be harmless for `sed`"))
}
