//! `find`: tests and actions that only look. `-exec` passes if what it starts does.

mod exec;
#[cfg(test)]
mod tests;

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

/// Options in front of the start paths.
const BEFORE: &[&str] = &["-H", "-L", "-P", "-O0", "-O1", "-O2", "-O3"];
/// Take no value.
const ALONE: &[&str] = &[
    "-a",
    "-and",
    "-d",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noignore_readdir_race",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-warn",
    "-writable",
    "-xdev",
    "!",
    "(",
    ")",
    ",",
];
/// Take a text.
const WITH_TEXT: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-context",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];
/// Take a file, to compare with.
const WITH_PATH: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    let mut find = Find {
        rest: arguments,
        reads: Vec::new(),
    };
    while find
        .rest
        .first()
        .is_some_and(|word| BEFORE.contains(&&*word.text))
    {
        written_plainly(find.next()?)?;
    }
    find.start_paths()?;
    let starts_safely = find.reads.iter().all(|word| !word.glob && !word.tilde);
    while !find.rest.is_empty() {
        find.primary(starts_safely)?;
    }
    // The last of `-H`, `-L` and `-P` counts; any `-L` is taken for it.
    let follows = arguments
        .iter()
        .any(|word| matches!(word.text.as_str(), "-L" | "-follow"));
    // What `-exec` starts follows the links that are found.
    let follows = follows || starts_on_links(arguments);
    Ok(Use {
        reads: find.reads,
        follows,
    })
}

struct Find<'a> {
    rest: &'a [Word],
    reads: Vec<Word>,
}

impl<'a> Find<'a> {
    fn start_paths(&mut self) -> Result<(), Finding> {
        while let Some(word) = self.rest.first() {
            let text = &*word.text;
            if text.starts_with('-') || ["!", "(", ")", ","].contains(&text) {
                break;
            }
            // A glob with nothing in front may become `-delete`.
            if word.glob && text.starts_with(['*', '?', '[']) {
                return Err(unknown(text));
            }
            let path = self.next()?.clone();
            self.reads.push(path);
        }
        if self.reads.is_empty() {
            self.reads.push(Word::plain("."));
        }
        Ok(())
    }

    /// One test, action or operator with what it takes.
    fn primary(&mut self, starts_safely: bool) -> Result<(), Finding> {
        let word = self.next()?;
        let name = &*word.text;
        if name.starts_with('-') {
            written_plainly(word)?;
        }
        if name == "-exec" && starts_safely {
            let (reads, rest) = exec::judge(self.rest)?;
            self.reads.extend(reads);
            self.rest = rest;
        } else if WITH_PATH.contains(&name) || compares_with_file(name) {
            let value = self.value()?.clone();
            self.reads.push(value);
        } else if WITH_TEXT.contains(&name) || is_newer(name) {
            self.value()?;
        } else if !ALONE.contains(&name) || word.glob {
            return Err(unknown(name));
        }
        Ok(())
    }

    fn value(&mut self) -> Result<&'a Word, Finding> {
        let word = self.next()?;
        if word.glob {
            let message = format!("bash may put file names in the place of `{}`", word.text);
            return Err(Check::UnknownArgument.found(message));
        }
        Ok(word)
    }

    fn next(&mut self) -> Result<&'a Word, Finding> {
        let (first, rest) = self
            .rest
            .split_first()
            .ok_or_else(|| Check::UnknownArgument.found("the last test of `find` lacks a value"))?;
        self.rest = rest;
        Ok(first)
    }
}

/// Whether `-exec` may be given links: unless `-type f` stands before it, and nothing that could
/// make it not hold.
fn starts_on_links(arguments: &[Word]) -> bool {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let Some(exec) = texts.iter().position(|text| *text == "-exec") else {
        return false;
    };
    let only_files = texts[..exec].windows(2).any(|pair| pair == ["-type", "f"]);
    let is_loose = |text: &&str| matches!(*text, "-o" | "-or" | "," | "!" | "-not" | "(" | ")");
    !only_files || texts.iter().any(is_loose)
}

/// `-newerXY`: `Y` is `t` for a point in time, else it is about a file.
fn is_newer(name: &str) -> bool {
    let letters = name.strip_prefix("-newer").map(str::as_bytes);
    matches!(
        letters,
        Some([b'a' | b'B' | b'c' | b'm', b'a' | b'B' | b'c' | b'm' | b't'])
    )
}

fn compares_with_file(name: &str) -> bool {
    is_newer(name) && !name.ends_with('t')
}

fn written_plainly(word: &Word) -> Result<(), Finding> {
    if word.plain < word.text.len() || word.glob {
        let message = format!("quotes or backslashes inside `{}` of `find`", word.text);
        return Err(Check::ObfuscatedFlags.found(message));
    }
    Ok(())
}

fn unknown(word: &str) -> Finding {
    Check::UnknownArgument.found(format!("`{word}` is not known to be harmless for `find`"))
}
