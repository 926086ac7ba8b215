//! Draws the text of a PDF file, page by page.
//!
//! PDF files come from anywhere, so everything that a file can make large is
//! bounded: its bytes by the caller, each stream by `STREAM_BYTES`, nesting by
//! the parser and by `content`, and the work of a call by `content::Budget`.

use lopdf::{Document, Error, LoadOptions, Object, ObjectId};
use serde_json::json;
use toolbay_sdk::ToolError;

use crate::reading::{Check, OUTPUT_CHARS, Reading};
use crate::request::Pages;
use crate::text::plural;

mod content;
mod font;
mod layout;
mod matrix;

/// Pages that a call shows: about what fits into one result.
const PAGES: usize = 20;
/// What any one stream may unpack to.
const STREAM_BYTES: usize = 8 * 1024 * 1024;
/// Kept free of the output limit for headings and notes.
const NOTE_CHARS: usize = 1_500;

pub fn read(bytes: &[u8], wanted: Option<Pages>, check: Check<'_>) -> Result<Reading, ToolError> {
    let document = load(bytes)?;
    // A tree of pages may be made to look endless; the file's own size bounds it.
    let pages: Vec<ObjectId> = document.page_iter().take(bytes.len()).collect();
    let total = pages.len();
    if total == 0 {
        return Err(broken("no pages were found in it"));
    }
    let first = wanted.map_or(1, |pages| pages.first);
    let last = wanted
        .and_then(|pages| pages.last)
        .unwrap_or(total)
        .min(total);
    let structured = |shown: usize| json!({"kind": "pdf", "first_page": first, "pages": shown, "total_pages": total});
    if first > total {
        let text = format!(
            "(The PDF file has {}, so page {first} is beyond its end.)",
            plural(total as u64, "page")
        );
        return Ok(Reading::notice(text, structured(0)));
    }

    let mut drawing = Drawing::new(&document);
    let mut shown = 0;
    for number in first..=last.min(first + PAGES - 1) {
        check()?;
        if !drawing.page(number, total, pages[number - 1]) {
            break;
        }
        shown += 1;
    }
    let whole = shown == total && !drawing.incomplete;
    Ok(
        Reading::text(drawing.finish(first, shown, last, total), structured(shown))
            .with_whole(whole),
    )
}

fn load(bytes: &[u8]) -> Result<Document, ToolError> {
    let options = LoadOptions {
        filter: Some(drop_pictures),
        max_decompressed_size: Some(STREAM_BYTES),
        ..LoadOptions::default()
    };
    match Document::load_mem_with_options(bytes, options) {
        Ok(document) if document.is_encrypted() => Err(encrypted()),
        Ok(document) => Ok(document),
        Err(
            Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_),
        ) => Err(encrypted()),
        Err(error) => Err(broken(&error.to_string())),
    }
}

fn encrypted() -> ToolError {
    ToolError::coded(
        "encrypted",
        "This PDF file is protected by a password, so its text cannot be read. \
         Ask for a copy without the protection, or remove it with a shell command such as qpdf --decrypt.",
    )
}

fn broken(reason: &str) -> ToolError {
    ToolError::coded(
        "damaged",
        format!(
            "This PDF file seems to be damaged: {reason}. A shell command such as pdftotext may still get text out of it."
        ),
    )
}

/// Forgets pictures while the file is loaded: most of the bytes, none of the text.
///
/// The loader keeps the object itself where it lies directly in the file and the
/// returned copy where it comes out of an object stream. Streams never do, so
/// only small objects are copied.
fn drop_pictures(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    match object {
        Object::Stream(stream) => {
            let subtype = stream.dict.get(b"Subtype").and_then(Object::as_name);
            if matches!(subtype, Ok(b"Image")) {
                None
            } else {
                Some((id, Object::Null))
            }
        }
        other => Some((id, other.clone())),
    }
}

/// The result as it grows.
struct Drawing<'a> {
    walker: content::Walker<'a>,
    out: String,
    room: usize,
    /// Whether a page's text was cut.
    incomplete: bool,
    /// Where the room ended, if it did.
    cut_at: Option<usize>,
}

impl<'a> Drawing<'a> {
    fn new(document: &'a Document) -> Self {
        Self {
            walker: content::Walker::new(document),
            out: String::new(),
            room: OUTPUT_CHARS - NOTE_CHARS,
            incomplete: false,
            cut_at: None,
        }
    }

    /// Draws a page; false when it is left to another call.
    fn page(&mut self, number: usize, total: usize, id: ObjectId) -> bool {
        let page = self.walker.page(id, self.room);
        let mut text = page.text.as_str();
        let chars = text.chars().count();
        if chars > self.room {
            if !self.out.is_empty() {
                self.cut_at = Some(number);
                return false;
            }
            let end = text.char_indices().nth(self.room).map(|(at, _)| at);
            text = &text[..end.unwrap_or(text.len())];
        }
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
        self.out.push_str(&format!("[page {number} of {total}]\n"));
        if text.is_empty() {
            self.out
                .push_str("(no text on this page; it may be a picture or a scan)");
        }
        self.out.push_str(text);
        if page.cut || chars > self.room {
            self.incomplete = true;
            self.out
                .push_str("\n… [page cut: it holds more than can be shown]");
        }
        if page.unreadable {
            self.out.push_str("\n(Some of this page's text is in a font that does not say what its characters mean.)");
        }
        self.room = self.room.saturating_sub(chars);
        true
    }

    fn finish(mut self, first: usize, shown: usize, last: usize, total: usize) -> String {
        let end = first + shown - 1;
        if end < last {
            let why = match self.cut_at {
                Some(_) => format!("The limit of {OUTPUT_CHARS} characters is reached. "),
                None => format!("A call shows at most {PAGES} pages. "),
            };
            let next = end + 1;
            let until = last.min(end + PAGES);
            self.out.push_str(&format!(
                "\n\n({why}Pages {first}-{end} of {total} are shown; continue with pages \"{next}-{until}\".)"
            ));
        }
        self.out
    }
}

#[cfg(test)]
mod tests;
