//! Ranks deferred tools by the words of a query.
//!
//! A word counts by where it stands: the name says most, then the hint, then the
//! summary; and in each of them a whole word says more than a piece of one.

use std::cmp::Reverse;

use toolbay_sdk::tools::Entry;

use crate::query::{Search, Word};
use crate::words::parts;

/// What a word is worth as a whole word of the name, the hint and the summary; half
/// of it as a piece of one. Each is more than all that come after it together, so
/// that no summary, however long, outweighs a name.
const WORTH: [u32; 3] = [32, 8, 2];
/// What the whole query as the whole name is worth: more than fifty words in all places.
const IS_THE_NAME: u32 = 10_000;
/// A shorter word is in nearly every text as a piece.
const SHORTEST_PIECE: usize = 3;
/// The stem that a longer word may have: `edit` for `editing`, but not `go` for `goal`.
const SHORTEST_STEM: usize = 4;
/// How much of a hint or a summary is read. A tool that writes more wants to be found
/// by everybody.
const LONGEST_TEXT: usize = 2_000;

/// The deferred tools that fit, best first; equal ones by name.
pub fn rank<'a>(entries: &'a [Entry], search: &Search) -> Vec<&'a Entry> {
    let mut ranked: Vec<(u32, &Entry)> = entries
        .iter()
        .filter(|entry| entry.deferred)
        .filter_map(|entry| Some((score(entry, search)?, entry)))
        .collect();
    ranked.sort_by(|(one, a), (other, b)| {
        let best_first = Reverse(one).cmp(&Reverse(other));
        best_first.then_with(|| a.name.cmp(&b.name))
    });
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

/// How well a tool fits; none if it does not.
fn score(entry: &Entry, search: &Search) -> Option<u32> {
    let name = parts(&entry.name);
    let whole_name = name.concat();
    let has_all = search
        .demanded
        .iter()
        .all(|word| whole_name.contains(&word.whole));
    if !has_all {
        return None;
    }
    let places = [
        name,
        start_of(entry.search_hint.as_deref().unwrap_or_default()),
        start_of(&entry.summary),
    ];
    let words = || search.demanded.iter().chain(&search.wanted);
    let mut score: u32 = words().map(|word| worth(word, &places)).sum();
    let whole_query: String = words().map(|word| word.whole.as_str()).collect();
    if whole_query == whole_name {
        score += IS_THE_NAME;
    }
    // What is demanded was found, even if it lies across words and is worth nothing.
    (score > 0 || !search.demanded.is_empty()).then_some(score)
}

fn start_of(text: &str) -> Vec<String> {
    let end = text
        .char_indices()
        .nth(LONGEST_TEXT)
        .map_or(text.len(), |(end, _)| end);
    parts(text.get(..end).unwrap_or_default())
}

/// What a word of the query is worth: as it is, or by its parts if those fit better.
fn worth(word: &Word, places: &[Vec<String>; 3]) -> u32 {
    let as_it_is = worth_of_one(&word.whole, places);
    let by_parts: u32 = word
        .parts
        .iter()
        .map(|part| worth_of_one(part, places))
        .sum();
    let parts = u32::try_from(word.parts.len()).unwrap_or(u32::MAX).max(1);
    as_it_is.max(by_parts / parts)
}

fn worth_of_one(word: &str, places: &[Vec<String>; 3]) -> u32 {
    let worth = |(place, worth): (&Vec<String>, u32)| {
        if is_whole(word, place) {
            worth
        } else if is_piece(word, place) {
            worth / 2
        } else {
            0
        }
    };
    places.iter().zip(WORTH).map(worth).sum()
}

/// Whether the word stands there, perhaps in parts: `github` is there as `Git`, `Hub`.
fn is_whole(word: &str, place: &[String]) -> bool {
    (0..place.len()).any(|start| {
        let mut rest = word;
        for part in place.iter().skip(start) {
            match rest.strip_prefix(part.as_str()) {
                Some("") => return true,
                Some(more) => rest = more,
                None => return false,
            }
        }
        false
    })
}

/// Whether the word is in one that stands there, or begins with one.
fn is_piece(word: &str, place: &[String]) -> bool {
    let long = word.chars().count() >= SHORTEST_PIECE;
    place.iter().any(|part| {
        let is_stem = part.chars().count() >= SHORTEST_STEM && word.starts_with(part.as_str());
        is_stem || long && part.contains(word)
    })
}

#[cfg(test)]
mod tests;
