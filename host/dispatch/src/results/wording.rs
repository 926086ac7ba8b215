//! The sentences that stand in a result's place. What a tool wrote is quoted so that it
//! cannot pass for words of the host.

use std::path::Path;

use toolbay_contract::{Blob, Content, Keep};

use super::truncate::{beginning, ending, note, shares, truncate};

const OPENING: &str = "<persisted-output>";
const CLOSING: &str = "</persisted-output>";
/// Reasons and media types come from outside; a sentence has room for this much of one.
const LONGEST_REASON: usize = 300;
const LONGEST_MIME: usize = 100;

/// Stands for a text that lies in a file. It can be read from there, so that a beginning
/// is enough where the tool does not say otherwise.
pub(super) fn persisted(
    text: &str,
    path: &str,
    preview_bytes: usize,
    keep: Option<Keep>,
) -> String {
    let keep = keep.unwrap_or(Keep::Start);
    let Preview { quoted, bytes } = preview(text, preview_bytes, keep);
    let line_end = missing_line_end(&quoted);
    let part = match keep {
        Keep::Start => "It begins with",
        Keep::End => "It ends with",
        Keep::Both => "Its beginning and end",
    };
    format!(
        "{OPENING}\n\
         This result is too long to be shown here: {size} in {lines}. The whole text is in\n\
         {path}\n\
         Read that file in parts, or search it, to see what you need. \
         {part} ({shown}):\n\n\
         {quoted}{line_end}\
         {CLOSING}",
        size = size(text.len()),
        lines = counted(text.lines().count(), "line"),
        shown = size(bytes),
    )
}

/// Stands for a text that could not be put into a file; at most `limit` characters. What
/// is left out is lost, so that both ends stay where the tool does not say otherwise.
pub(super) fn cut(text: String, limit: usize, reason: &str, keep: Option<Keep>) -> String {
    if text.chars().count() <= limit {
        return text;
    }
    let keep = keep.unwrap_or(Keep::Both);
    let part = match keep {
        Keep::Start => "start follows",
        Keep::End => "end follows",
        Keep::Both => "start and end follow",
    };
    let said = format!(
        "[This result is too long to be shown ({}), and it could not be saved: {}. Only its {part}.]\n",
        size(text.len()),
        reason.chars().take(LONGEST_REASON).collect::<String>(),
    );
    let room = limit.saturating_sub(said.chars().count());
    said + &truncate(&text, room, keep)
}

/// Stands for a result that an earlier call already gave.
pub(super) fn repeated(earlier_call: &str) -> String {
    format!(
        "[The same result, to the letter, as that of the earlier call {earlier_call:?}; see there. It is not shown twice.]"
    )
}

/// Stands for an image or document that lies in a file.
pub(super) fn saved_blob(kind: &str, blob: &Blob, path: &str) -> String {
    format!("[{}: saved in {path}]", described(kind, blob))
}

/// Stands for an image or document that could not be put into a file.
pub(super) fn lost_blob(kind: &str, blob: &Blob, reason: &str) -> String {
    format!(
        "[{}: left out, because it is too large to be shown and could not be saved: {}]",
        described(kind, blob),
        reason.chars().take(LONGEST_REASON).collect::<String>(),
    )
}

/// Stands for images and documents past the number that a result may have.
pub(super) fn surplus_blobs(count: usize, most: usize) -> String {
    format!(
        "[{} left out: a result may have {most} images and documents at most]",
        counted(count, "block")
    )
}

/// What a block is to people; none for text.
pub(super) fn blob_of(block: &Content) -> Option<(&'static str, &Blob)> {
    match block {
        Content::Image(blob) => Some(("image", blob)),
        Content::Document(blob) => Some(("document", blob)),
        Content::Text(_) | Content::Link(_) => None,
    }
}

/// A path as the model will read it; none if it is no text.
pub(super) fn path_text(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| !text.contains(['\n', '\r']))
}

fn described(kind: &str, blob: &Blob) -> String {
    let mime: String = blob
        .mime
        .chars()
        .filter(char::is_ascii_graphic)
        .take(LONGEST_MIME)
        .collect();
    let mime = if mime.is_empty() { "no type" } else { &*mime };
    format!("{kind}, {mime}, {}", size(blob.data.len()))
}

/// What is shown of a text.
struct Preview {
    quoted: String,
    /// How much of the text that is.
    bytes: usize,
}

/// The kept part of a text, cut at lines where that leaves at least half of it.
fn preview(text: &str, most: usize, keep: Keep) -> Preview {
    let (first, last) = shares(most, keep);
    let head = beginning(text, first.div_ceil(2), first);
    let rest = &text[head.len()..];
    let tail = ending(rest, last.div_ceil(2), last);
    let left_out = &rest[..rest.len() - tail.len()];

    let mut shown = head.to_owned();
    // What misses only one end needs no note: the sentence above says which part it is.
    if !left_out.is_empty() && keep == Keep::Both {
        shown.push_str(missing_line_end(head));
        shown.push_str(&note(left_out.chars().count()));
        shown.push('\n');
    }
    shown.push_str(tail);
    Preview {
        quoted: quote(&shown),
        bytes: head.len() + tail.len(),
    }
}

/// What must follow a text so that a line can follow it.
fn missing_line_end(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    }
}

/// A tool that writes the closing tag must not end the quotation.
fn quote(shown: &str) -> String {
    let mut quoted = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = find_ignoring_case(rest, CLOSING.trim_end_matches('>')) {
        quoted.push_str(&rest[..at]);
        quoted.push_str("<\\");
        rest = &rest[at + "</".len()..];
    }
    quoted.push_str(rest);
    quoted
}

/// Where an ASCII word begins, in capitals or not.
fn find_ignoring_case(text: &str, word: &str) -> Option<usize> {
    text.as_bytes()
        .windows(word.len())
        .position(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Bytes in a unit that people read; rounded down, so that 999,999 is not 1,000 KB.
fn size(bytes: usize) -> String {
    const UNITS: [(usize, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => counted(bytes, "byte"),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests;
