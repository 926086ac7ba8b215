//! Where the old text stands, and what comes in its place.
//!
//! Three attempts, from strict to lenient: byte for byte, with line ends treated
//! as equal, with quotes treated as equal too. The first that finds anything
//! counts. In the lenient ones a replacement shrinks to what really differs, so
//! that line ends and quotes next to the change stay as the file has them.

use std::ops::Range;

use crate::fold::{Fold, Folded, straight};
use crate::quotes::restyle;

/// How many places may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    One,
    Every,
}

/// How the old text was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Exact,
    LineEnds,
    Quotes,
}

impl Manner {
    /// The word for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEnds => "line-ends",
            Self::Quotes => "quotes",
        }
    }
}

/// The text after the change.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    pub text: String,
    pub manner: Manner,
    /// The line of each place, counted from 1 in the text before the change.
    pub lines: Vec<usize>,
}

/// Why there is no plan.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    NotFound,
    /// One place was wanted, and there are several, on these lines.
    Ambiguous(Vec<usize>),
    /// The file reads so already.
    NoChange,
}

struct Replacement {
    /// The whole match.
    place: Range<usize>,
    /// The part of it that is replaced.
    range: Range<usize>,
    text: String,
}

pub fn plan(file: &str, old: &str, new: &str, scope: Scope) -> Result<Plan, Miss> {
    let (manner, replacements, overlaps) = attempt(file, old, new).ok_or(Miss::NotFound)?;
    let lines = lines_of(file, &replacements);
    if scope == Scope::One {
        match (lines.as_slice(), overlaps) {
            ([_], None) => {}
            ([line], Some(second)) => {
                return Err(Miss::Ambiguous(vec![*line, line_at(file, second)]));
            }
            _ => return Err(Miss::Ambiguous(lines)),
        }
    }
    let text = apply(file, &replacements);
    if text == file {
        return Err(Miss::NoChange);
    }
    Ok(Plan {
        text,
        manner,
        lines,
    })
}

/// All places of the first attempt that finds any, and the start of a second
/// match that overlaps the only one, if there is such a thing.
fn attempt(file: &str, old: &str, new: &str) -> Option<(Manner, Vec<Replacement>, Option<usize>)> {
    let has_crlf = file.contains("\r\n");
    // In a file with CRLF a bare `\n` must also find the lines that end in CRLF;
    // whoever writes `\r` means exactly that.
    if !has_crlf || old.contains('\r') {
        let starts = starts(file, old);
        if !starts.is_empty() {
            let overlap = overlap(file, old, &starts);
            let replacements = starts
                .into_iter()
                .map(|start| Replacement {
                    place: start..start + old.len(),
                    range: start..start + old.len(),
                    text: new.into(),
                })
                .collect();
            return Some((Manner::Exact, replacements, overlap));
        }
    }
    if (has_crlf || old.contains("\r\n"))
        && let Some((replacements, overlap)) = lenient(file, old, new, Fold::LineEnds)
    {
        return Some((Manner::LineEnds, replacements, overlap));
    }
    if old.contains(|c| matches!(c, '\'' | '"') || straight(c).is_some())
        && let Some((replacements, overlap)) = lenient(file, old, new, Fold::LineEndsAndQuotes)
    {
        return Some((Manner::Quotes, replacements, overlap));
    }
    None
}

fn lenient(
    file: &str,
    old: &str,
    new: &str,
    fold: Fold,
) -> Option<(Vec<Replacement>, Option<usize>)> {
    let folded = Folded::new(file, fold);
    let old = Folded::new(old, fold).text;
    let starts = starts(&folded.text, &old);
    if starts.is_empty() {
        return None;
    }
    let overlap = overlap(&folded.text, &old, &starts).map(|start| folded.original(start));
    let replacements = starts
        .into_iter()
        .map(|start| {
            let place = folded.original(start)..folded.original(start + old.len());
            let new = match fold {
                Fold::LineEnds => new.to_owned(),
                Fold::LineEndsAndQuotes => {
                    let before = file[..place.start].chars().next_back();
                    restyle(new, &file[place.clone()], before)
                }
            };
            let new_folded = Folded::new(&new, fold);
            let (head, tail) = common(&old, &new_folded.text);
            let range = folded.original(start + head)..folded.original(start + old.len() - tail);
            let middle =
                &new[new_folded.original(head)..new_folded.original(new_folded.text.len() - tail)];
            Replacement {
                text: with_line_ends(middle, file, &place),
                place,
                range,
            }
        })
        .collect();
    Some((replacements, overlap))
}

fn starts(text: &str, old: &str) -> Vec<usize> {
    text.match_indices(old).map(|(start, _)| start).collect()
}

/// `aXa` stands twice in `aXaXa`, yet the matches share a character and a plain
/// search finds one. Which of them is meant is just as unclear.
fn overlap(text: &str, old: &str, starts: &[usize]) -> Option<usize> {
    let [start] = starts else { return None };
    let after = start + old.chars().next()?.len_utf8();
    text[after..].find(old).map(|found| after + found)
}

/// How many bytes two texts share at their start, and at the end of what remains.
fn common(one: &str, other: &str) -> (usize, usize) {
    let shared = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let head = shared(&mut one.chars().zip(other.chars()));
    let tail = shared(&mut one[head..].chars().rev().zip(other[head..].chars().rev()));
    (head, tail)
}

/// The text with the line ends that are used where it goes: those of the replaced
/// lines, else of the lines after, else of the lines before.
fn with_line_ends(text: &str, file: &str, place: &Range<usize>) -> String {
    if !text.contains('\n') {
        return text.into();
    }
    let ends_with_crlf = |at: usize| file[..at].ends_with('\r');
    let crlf = file[place.start..]
        .find('\n')
        .map(|found| place.start + found)
        .or_else(|| file[..place.start].rfind('\n'))
        .is_some_and(ends_with_crlf);
    let bare = text.replace("\r\n", "\n");
    if crlf {
        bare.replace('\n', "\r\n")
    } else {
        bare
    }
}

fn apply(file: &str, replacements: &[Replacement]) -> String {
    let mut text = String::with_capacity(file.len());
    let mut done = 0;
    for replacement in replacements {
        text.push_str(&file[done..replacement.range.start]);
        text.push_str(&replacement.text);
        done = replacement.range.end;
    }
    text.push_str(&file[done..]);
    text
}

fn lines_of(file: &str, replacements: &[Replacement]) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    replacements
        .iter()
        .map(|replacement| {
            line += newlines(&file[counted..replacement.place.start]);
            counted = replacement.place.start;
            line
        })
        .collect()
}

fn line_at(file: &str, place: usize) -> usize {
    1 + newlines(&file[..place])
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests;
