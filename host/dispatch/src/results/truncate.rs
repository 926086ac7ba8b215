//! Shortens text for a model: by characters, never inside one, at a line end where one is
//! near, and with a note of how much is missing.

use std::borrow::Cow;

use toolbay_contract::Keep;

/// The line ends around the note.
const AROUND_THE_NOTE: usize = 2;

/// Shortens a text to at most `limit` characters, its note included. A limit that is too
/// small for the note alone yields the note alone: to lose text silently is worse than
/// to pass a tiny limit by some characters.
pub fn truncate(text: &str, limit: usize, keep: Keep) -> Cow<'_, str> {
    // A text never has more characters than bytes, and bytes cost nothing to count.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let total = text.chars().count();
    if total <= limit {
        return Cow::Borrowed(text);
    }
    // What is left out has at most as many digits as the whole.
    let room = limit.saturating_sub(note(total).len() + AROUND_THE_NOTE);
    let (first, last) = shares(room, keep);
    let head = first_characters(text, first);
    let tail = last_characters(text, last);
    let left_out = total - head.chars().count() - tail.chars().count();

    let mut short = String::with_capacity(head.len() + tail.len() + 64);
    short.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        short.push('\n');
    }
    short.push_str(&note(left_out));
    if !tail.is_empty() {
        short.push('\n');
        short.push_str(tail);
    }
    Cow::Owned(short)
}

/// The beginning of a text, at most `most` bytes: cut behind the last line end that leaves
/// at least `least` bytes, else at the last whole character.
pub(super) fn beginning(text: &str, least: usize, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    let (kept, rest) = text.split_at(end);
    if rest.is_empty() {
        return kept;
    }
    match kept.rfind('\n') {
        Some(at) if at + 1 >= least => &kept[..=at],
        // The two halves of one line end belong together.
        _ if rest.starts_with('\n') => kept.strip_suffix('\r').unwrap_or(kept),
        _ => kept,
    }
}

/// The end of a text, at most `most` bytes: cut at the first line start that leaves at
/// least `least` bytes, else at the first whole character.
pub(super) fn ending(text: &str, least: usize, most: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(most));
    let (before, kept) = text.split_at(start);
    if before.is_empty() || before.ends_with('\n') {
        return kept;
    }
    match kept.find('\n') {
        Some(at) if kept.len() - (at + 1) >= least => &kept[at + 1..],
        // The two halves of one line end belong together.
        _ if before.ends_with('\r') => kept.strip_prefix('\n').unwrap_or(kept),
        _ => kept,
    }
}

/// How much of a room the start and the end get.
pub(super) fn shares(room: usize, keep: Keep) -> (usize, usize) {
    match keep {
        Keep::Start => (room, 0),
        Keep::End => (0, room),
        Keep::Both => (room - room / 2, room / 2),
    }
}

fn first_characters(text: &str, count: usize) -> &str {
    let end = text
        .char_indices()
        .nth(count)
        .map_or(text.len(), |(at, _)| at);
    beginning(text, end - end / 4, end)
}

fn last_characters(text: &str, count: usize) -> &str {
    let Some(last) = count.checked_sub(1) else {
        return "";
    };
    let start = text.char_indices().rev().nth(last).map_or(0, |(at, _)| at);
    let length = text.len() - start;
    ending(text, length - length.div_ceil(4), length)
}

pub(super) fn note(left_out: usize) -> String {
    format!("[{left_out} characters left out]")
}

#[cfg(test)]
mod tests;
