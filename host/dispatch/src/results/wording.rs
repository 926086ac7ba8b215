//! The sentences that stand in a result's place. What a tool wrote is quoted so that it
//! cannot pass for words of the host.

use std::path::Path;

use toolbay_contract::{Blob, Content};

use super::truncate::{Keep, beginning, truncate};

const OPENING: &str = "<persisted-output>";
const CLOSING: &str = "</persisted-output>";
/// Reasons and media types come from outside; a sentence has room for this much of one.
const LONGEST_REASON: usize = 300;
const LONGEST_MIME: usize = 100;

/// Stands for a text that lies in a file.
pub(super) fn persisted(text: &str, path: &str, preview_bytes: usize) -> String {
    let preview = preview(text, preview_bytes);
    let line_end = if preview.is_empty() || preview.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!(
        "{OPENING}\n\
         This result is too long to be shown here: {size} in {lines}. The whole text is in\n\
         {path}\n\
         Read that file in parts, or search it, to see what you need. \
         It begins with ({shown}):\n\n\
         {preview}{line_end}\
         {CLOSING}",
        size = size(text.len()),
        lines = counted(text.lines().count(), "line"),
        shown = size(preview.len()),
    )
}

/// Stands for a text that could not be put into a file; at most `limit` characters.
pub(super) fn cut(text: String, limit: usize, reason: &str) -> String {
    if text.chars().count() <= limit {
        return text;
    }
    let said = format!(
        "[This result is too long to be shown ({}), and it could not be saved: {}. Only its start and end follow.]\n",
        size(text.len()),
        reason.chars().take(LONGEST_REASON).collect::<String>(),
    );
    let room = limit.saturating_sub(said.chars().count());
    said + &truncate(&text, room, Keep::Both)
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

/// The first bytes of a text, to a line end if one is in their second half.
fn preview(text: &str, most: usize) -> String {
    let shown = beginning(text, most.div_ceil(2), most);
    // A tool that writes the closing tag must not end the quotation.
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
