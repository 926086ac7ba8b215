//! Everything that is decided before a byte is written.
//!
//! The guard and the call both come through here: the guard so that nobody is
//! asked about a call that cannot succeed, the call because the file may have
//! changed since. What remains is one write that expects the state seen here.

use std::path::Path;

use toolbay_sdk::files::{self, Expectation};
use toolbay_sdk::names::shown;
use toolbay_sdk::seen::{self, Extent, Refusal};

use crate::encoding::{self, Encoding};
use crate::matching::{self, Manner, Miss, Scope};
use crate::{Input, near};

/// The most line numbers that a sentence lists.
const MAX_LISTED: usize = 20;

/// A change that can be written.
#[derive(Debug)]
pub struct Change {
    pub old: String,
    pub new: String,
    pub encoding: Encoding,
    pub manner: Manner,
    /// Where the replaced places start; empty when a file is filled.
    pub lines: Vec<usize>,
}

/// A change together with the state that the file must still have.
pub struct Ready {
    pub change: Change,
    pub expect: Expectation,
    /// Whether the session knows all of the file after the change.
    pub whole: bool,
}

/// Checks the rule about reading first, then the change itself.
pub fn prepare(path: &Path, input: &Input) -> Result<Ready, Refusal> {
    check(input)?;
    if !seen::exists(path)? {
        if !input.old_string.is_empty() {
            return Err(Refusal::new(
                10,
                "not-found",
                format!(
                    "{} does not exist. An empty old_string would create it.",
                    shown(path)
                ),
            ));
        }
        return Ok(Ready {
            change: fill(Encoding::Utf8, &input.new_string),
            expect: Expectation::Absent,
            whole: true,
        });
    }
    if input.old_string.is_empty() {
        // Filling an empty file destroys nothing, so nothing need have been read;
        // the digest, taken first, still notices whoever fills it meanwhile.
        let digest = files::digest(&path.to_string_lossy()).map_err(|error| Refusal {
            code: 4,
            error: error.into(),
        })?;
        return Ok(Ready {
            change: fill_empty(path, &read(path)?, &input.new_string)?,
            expect: Expectation::Digest(digest),
            whole: true,
        });
    }
    let known = seen::current(path, Extent::Part)?;
    Ok(Ready {
        change: change(path, &read(path)?, input)?,
        expect: Expectation::Digest(known.digest),
        whole: known.whole,
    })
}

/// What the input alone tells.
fn check(input: &Input) -> Result<(), Refusal> {
    if input.old_string == input.new_string {
        return Err(Refusal::new(
            11,
            "no-change",
            "old_string and new_string are the same, so there is nothing to change.",
        ));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let unreadable = |error| Refusal::unreadable(path, &error);
    // Asked before it is read, because it might not fit into memory.
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > files::MOST_BYTES as u64 {
        return Err(seen::too_large(path, length));
    }
    std::fs::read(path).map_err(unreadable)
}

fn fill(encoding: Encoding, new: &str) -> Change {
    Change {
        old: String::new(),
        new: new.into(),
        encoding,
        manner: Manner::Exact,
        lines: Vec::new(),
    }
}

fn fill_empty(path: &Path, bytes: &[u8], new: &str) -> Result<Change, Refusal> {
    match encoding::decode(bytes) {
        Some((encoding, text)) if text.is_empty() => Ok(fill(encoding, new)),
        _ => Err(Refusal::new(
            12,
            "not-empty",
            format!(
                "{} already has content, so an empty old_string names no place in it. Give the \
                 text to replace.",
                shown(path)
            ),
        )),
    }
}

/// The change of a file with these bytes.
pub fn change(path: &Path, bytes: &[u8], input: &Input) -> Result<Change, Refusal> {
    let shown = shown(path);
    let Some((encoding, old)) = encoding::decode(bytes) else {
        return Err(Refusal::new(
            14,
            "not-text",
            format!(
                "{shown} is binary or in an encoding other than UTF-8 and UTF-16, so it cannot be \
                 edited as text."
            ),
        ));
    };
    let scope = if input.replace_all {
        Scope::Every
    } else {
        Scope::One
    };
    match matching::plan(&old, &input.old_string, &input.new_string, scope) {
        Ok(plan) => Ok(Change {
            old,
            new: plan.text,
            encoding,
            manner: plan.manner,
            lines: plan.lines,
        }),
        Err(Miss::NotFound) => Err(Refusal::new(
            15,
            "no-match",
            match near::describe(&old, &input.old_string) {
                Some(hint) => format!("old_string was not found in {shown}. {hint}"),
                None => format!(
                    "old_string was not found in {shown}, nor anything close to it. Read the \
                     part again and copy it exactly."
                ),
            },
        )),
        Err(Miss::Ambiguous(lines)) => Err(Refusal::new(
            16,
            "not-unique",
            format!(
                "old_string matches {} places in {shown} (on {}). Add lines around it until it \
                 names one place, or set replace_all to change every one.",
                lines.len(),
                listed(&lines)
            ),
        )),
        Err(Miss::NoChange) => Err(Refusal::new(
            11,
            "no-change",
            format!(
                "{shown} reads like new_string already; quotes and line ends stay as they are."
            ),
        )),
    }
}

/// `line 3` or `lines 3, 9 and 27`.
pub fn listed(lines: &[usize]) -> String {
    let mut numbers: Vec<String> = Vec::new();
    let mut distinct = lines.to_vec();
    distinct.dedup();
    numbers.extend(distinct.iter().take(MAX_LISTED).map(usize::to_string));
    if let Some(more) = distinct.len().checked_sub(MAX_LISTED)
        && more > 0
    {
        numbers.push(format!("{more} more"));
    }
    match numbers.split_last() {
        Some((only, [])) => format!("line {only}"),
        Some((last, others)) => format!("lines {} and {last}", others.join(", ")),
        None => "no line".into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn input(old: &str, new: &str) -> Input {
        Input {
            file_path: "/a".into(),
            old_string: old.into(),
            new_string: new.into(),
            replace_all: false,
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        for (bytes, old, code, sentence) in [
            (
                &b"a\nb\na\n"[..],
                "a",
                16,
                "matches 2 places in /a (on lines 1 and 3)",
            ),
            (b"x x x", "x", 16, "matches 3 places in /a (on line 1)"),
            (
                b"alpha\n",
                "omega",
                15,
                "not found in /a, nor anything close",
            ),
            (
                b"\tindented()\n",
                "  indented()\n",
                15,
                "indented with 1 tab, in old_string with 2 spaces",
            ),
            (b"\xFF\xD8\xFF\xE0", "x", 14, "binary"),
        ] {
            let refusal = change(Path::new("/a"), bytes, &input(old, "new")).unwrap_err();
            let said = refusal.error.sentence();
            assert_eq!(refusal.code, code, "{said}");
            assert!(said.contains(sentence), "{said}");
        }
    }

    #[test]
    fn a_change_keeps_the_encoding() {
        for (bytes, wanted) in [
            (&b"\xEF\xBB\xBFold\r\n"[..], &b"\xEF\xBB\xBFnew\r\n"[..]),
            (b"\xFF\xFEo\0l\0d\0", b"\xFF\xFEn\0e\0w\0"),
            (b"\xFE\xFF\0o\0l\0d", b"\xFE\xFF\0n\0e\0w"),
        ] {
            let change = change(Path::new("/a"), bytes, &input("old", "new")).unwrap();
            assert_eq!(encoding::encode(change.encoding, &change.new), wanted);
        }
    }

    #[test]
    fn only_an_empty_file_is_filled() {
        assert_eq!(fill_empty(Path::new("/a"), b"", "x").unwrap().new, "x");
        let marked = fill_empty(Path::new("/a"), b"\xEF\xBB\xBF", "x").unwrap();
        assert_eq!(marked.encoding, Encoding::Utf8WithMark);
        assert_eq!(
            fill_empty(Path::new("/a"), b"\n", "x").unwrap_err().code,
            12
        );
        assert_eq!(
            fill_empty(Path::new("/a"), b"\xFF", "x").unwrap_err().code,
            12
        );
    }

    #[test]
    fn equal_texts_are_refused_before_the_file_is_touched() {
        assert_eq!(check(&input("a", "a")).unwrap_err().code, 11);
        assert_eq!(check(&input("", "")).unwrap_err().code, 11);
    }

    #[test]
    fn long_lists_of_lines_are_cut() {
        let lines: Vec<usize> = (1..=25).collect();
        assert!(listed(&lines).ends_with("19, 20 and 5 more"));
        assert_eq!(listed(&[4, 4, 4]), "line 4");
    }
}
