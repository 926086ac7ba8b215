//! Where an old text that was not found nearly stands, and how it differs.
//!
//! A model that only hears "not found" guesses again; one that sees the file's
//! own lines and the first difference gets it right. All work is linear in the
//! file, apart from a careful look at a handful of candidates.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::difference;

/// The most lines to show; enough to recognise the place.
const MAX_SHOWN: usize = 12;
/// How much of a long line is shown.
const MAX_WIDTH: usize = 200;
/// Longer lines are as a rule generated, and would make comparing costly.
const MAX_COMPARED: usize = 400;
/// Lines that get a careful look.
const MAX_CANDIDATES: usize = 5;
/// Below this share of alike characters a hint misleads more than it helps.
const ALIKE: f64 = 0.6;
/// A line such as `}` that recurs in the old text votes only this often.
const MAX_VOTES_A_LINE: usize = 4;

/// A sentence and the file's lines, when something close exists.
pub fn describe(file: &str, old: &str) -> Option<String> {
    let old_lines: Vec<&str> = old.lines().collect();
    if let Some(bare) = without_numbers(&old_lines)
        && file.replace("\r\n", "\n").contains(&bare)
    {
        return Some(
            "old_string carries line numbers from a listing; the file has them nowhere. Give \
             the lines without their numbers."
                .into(),
        );
    }
    let file_lines: Vec<&str> = file.lines().collect();
    let start = by_equal_lines(&file_lines, &old_lines)
        .or_else(|| by_alike_line(&file_lines, &old_lines))?;
    let end = (start + old_lines.len()).min(file_lines.len());
    let (at, difference) = difference::first(&file_lines[start..end], &old_lines, start + 1)
        .unwrap_or_else(|| (0, "compare the line ends and invisible characters".into()));
    // The difference must be among the lines shown, with a few before it.
    let from = if end - start <= MAX_SHOWN {
        start
    } else {
        (start + at.saturating_sub(MAX_SHOWN / 2)).min(end - MAX_SHOWN)
    };
    let mut text = format!(
        "The closest place starts at line {}; {difference}.",
        start + 1
    );
    for (number, line) in (from + 1..).zip(&file_lines[from..end]).take(MAX_SHOWN) {
        let line: String = line.chars().take(MAX_WIDTH).collect();
        text.push_str(&format!("\n{number:>6}\t{line}"));
    }
    Some(text)
}

/// The start at which most of the lines agree when whitespace is ignored. Each
/// file line votes for the start that it would imply, weighted by its length.
fn by_equal_lines(file: &[&str], old: &[&str]) -> Option<usize> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut total = 0;
    for (offset, line) in old.iter().enumerate() {
        let weight = weight(line);
        if weight == 0 {
            continue;
        }
        total += weight;
        let offsets = places.entry(fingerprint(line)).or_default();
        if offsets.len() < MAX_VOTES_A_LINE {
            offsets.push(offset);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in file.iter().enumerate() {
        let offsets = places.get(&fingerprint(line));
        for start in offsets
            .into_iter()
            .flatten()
            .filter_map(|offset| number.checked_sub(*offset))
        {
            *votes.entry(start).or_default() += weight(line);
        }
    }
    let (start, best) = votes
        .into_iter()
        .max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start)))?;
    // A few agreeing braces are no likeness.
    (best * 3 >= total).then_some(start)
}

/// The start implied by the file line that is most like the longest old line.
fn by_alike_line(file: &[&str], old: &[&str]) -> Option<usize> {
    let (offset, pivot) = old
        .iter()
        .map(|line| line.trim())
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && line.len() <= MAX_COMPARED)
        .max_by_key(|(offset, line)| (line.len(), std::cmp::Reverse(*offset)))?;
    let wanted = Pairs::of(pivot);
    let mut candidates: Vec<(u32, usize)> = file
        .iter()
        .enumerate()
        .filter(|(_, line)| line.len() <= MAX_COMPARED)
        .map(|(number, line)| (wanted.shared(&Pairs::of(line)), number))
        .filter(|(shared, _)| shared * 2 >= wanted.count())
        .collect();
    candidates.sort_by_key(|(shared, number)| (std::cmp::Reverse(*shared), *number));
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|(_, number)| (likeness(pivot, file[number].trim()), number))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, first), (other, second)| one.total_cmp(other).then(second.cmp(first)))
        .map(|(_, number)| number.saturating_sub(offset))
}

/// 1 for equal texts, 0 for texts without a common character. A line may hold
/// more than the old text, which may be a part of a line.
fn likeness(old: &str, line: &str) -> f64 {
    let old: Vec<char> = old.chars().collect();
    let line: Vec<char> = line.chars().collect();
    let alike: usize = capture_diff_slices(Algorithm::Myers, &old, &line)
        .iter()
        .map(|op| match op {
            DiffOp::Equal { len, .. } => *len,
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => 0,
        })
        .sum();
    let length = old.len() + line.len().min(old.len() * 2);
    2.0 * alike as f64 / length.max(1) as f64
}

/// Which pairs of neighbouring bytes a line has, as a small set that may confuse
/// some of them: good enough to leave out lines that cannot be meant.
struct Pairs([u64; 4]);

impl Pairs {
    fn of(line: &str) -> Self {
        let mut bits = [0; 4];
        let mut previous = 0_u8;
        for byte in line.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            let byte = byte.to_ascii_lowercase();
            let hash = previous.wrapping_mul(31) ^ byte.wrapping_mul(17);
            bits[usize::from(hash >> 6)] |= 1_u64 << (hash & 63);
            previous = byte;
        }
        Self(bits)
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    fn shared(&self, other: &Self) -> u32 {
        let both = self.0.iter().zip(other.0);
        both.map(|(one, other)| (one & other).count_ones()).sum()
    }
}

/// A hash of everything but whitespace (FNV-1a).
fn fingerprint(line: &str) -> u64 {
    line.chars()
        .filter(|character| !character.is_whitespace())
        .fold(0xcbf2_9ce4_8422_2325, |hash, character| {
            (hash ^ u64::from(character)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn weight(line: &str) -> usize {
    line.trim().len().min(40)
}

/// The old text without the numbers that listings put in front of lines, when
/// every line has one.
fn without_numbers(lines: &[&str]) -> Option<String> {
    let bare: Option<Vec<&str>> = lines
        .iter()
        .map(|line| {
            let digits = line.trim_start_matches(' ');
            let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == digits.len() {
                return None;
            }
            rest.strip_prefix(['\t', '\u{2192}'])
        })
        .collect();
    bare.filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
}

#[cfg(test)]
mod tests;
