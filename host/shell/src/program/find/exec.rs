//! `find -exec command {} ;` is harmless if the command is, with any path in the place
//! of `{}`.

use crate::check::{Check, Finding};
use crate::reading::Word;
use crate::table;

/// Programs that start others: what they start is not looked into from here.
const STARTERS: &[&str] = &[
    "find", "xargs", "fd", "env", "command", "time", "timeout", "nice",
];

/// What is read besides the found files, and the words behind the `;` or `+`.
pub(super) fn judge(words: &[Word]) -> Result<(Vec<Word>, &[Word]), Finding> {
    let refused = |why: &str| Check::UnknownArgument.found(format!("`find -exec`: {why}"));
    let end = words
        .iter()
        .enumerate()
        .find(|(at, word)| word.text == ";" || (word.text == "+" && is_path(words, *at)))
        .map(|(at, _)| at)
        .ok_or_else(|| refused("the command has no end"))?;
    let (inner, rest) = (&words[..end], &words[end + 1..]);
    let Some(command) = inner.first() else {
        return Err(refused("there is no command"));
    };
    if STARTERS.contains(&&*command.text) || command.text.contains('/') {
        return Err(refused("the command may start others"));
    }
    if inner.iter().any(|word| word.glob || word.tilde) {
        return Err(refused("bash changes its words first"));
    }
    if inner
        .iter()
        .any(|word| word.text != "{}" && word.text.contains("{}"))
    {
        return Err(refused("a name becomes a part of a word"));
    }
    // Before `+` there are any number of names, as with a glob.
    let are_many = words[end].text == "+";
    let with_names: Vec<Word> = inner
        .iter()
        .map(|word| Word {
            glob: are_many && word.text == "{}",
            ..word.clone()
        })
        .collect();
    let known = table::judge(&with_names)?;
    // A name as a program would be whatever who named the file wanted.
    let names = |words: &[Word]| words.iter().filter(|word| word.text == "{}").count();
    if known.runs_program && names(&known.reads) != names(inner) {
        return Err(refused("a name may become a program"));
    }
    if known.network {
        return Err(refused("the command asks a server for every file"));
    }
    let mut reads = known.reads;
    reads.retain(|word| word.text != "{}");
    reads.extend(known.implicit.as_deref().map(Word::plain));
    Ok((reads, rest))
}

/// `+` ends the command only right behind `{}`.
fn is_path(words: &[Word], plus: usize) -> bool {
    plus.checked_sub(1)
        .and_then(|before| words.get(before))
        .is_some_and(|word| word.text == "{}")
}
