//! From a path to what is shown of it: sniffs the kind and lets its module draw.

use std::path::Path;

use serde_json::{Value, json};
use toolbay_sdk::names::shown;
use toolbay_sdk::{Blob, Content, Outcome, ToolError};

use crate::kind::{self, Kind};
use crate::request::Request;
use crate::source::{Size, Source};
use crate::{notebook, pdf, picture, text};

/// Characters that a result has at most: about what a model can take in at once
/// without losing the rest of the conversation.
pub const OUTPUT_CHARS: usize = 100_000;
/// Pictures, PDF files and notebooks must be held as a whole to be understood;
/// larger ones would cost the sandbox its memory.
const WHOLE_BYTES: usize = 32 * 1024 * 1024;

/// Ends a long loop when the call was cancelled.
pub type Check<'a> = &'a dyn Fn() -> Result<(), ToolError>;

/// What is shown of a file.
pub struct Reading {
    pub content: Vec<Content>,
    pub structured: Value,
    /// Whether nothing of the file was left out.
    pub whole: bool,
    /// Whether any of the file is shown; a notice alone is no sight of it.
    pub showed_content: bool,
}

impl Reading {
    pub fn new(content: Vec<Content>, structured: Value) -> Self {
        Self {
            content,
            structured,
            whole: false,
            showed_content: true,
        }
    }

    pub fn text(text: impl Into<String>, structured: Value) -> Self {
        Self::new(vec![Content::Text(text.into())], structured)
    }

    /// Words about the file instead of its content.
    pub fn notice(text: impl Into<String>, structured: Value) -> Self {
        Self {
            showed_content: false,
            ..Self::text(text, structured)
        }
    }

    pub fn unchanged(request: &Request) -> Self {
        Self::notice(
            format!(
                "(The file has not changed since this part of it was last shown, so it is not repeated. \
                 To see it again all the same, {}.)",
                request.other_wording()
            ),
            json!({"kind": "unchanged"}),
        )
    }

    pub fn with_whole(mut self, whole: bool) -> Self {
        self.whole = whole;
        self
    }

    pub fn into_outcome(self) -> Outcome {
        let mut outcome = Outcome::text("");
        outcome.content = self.content;
        outcome.with_structured(&self.structured)
    }
}

/// Reads a regular file of about this size.
pub fn read(
    path: &Path,
    size: Size,
    request: &Request,
    check: Check<'_>,
) -> Result<Reading, ToolError> {
    let source = Source::open(path, size)?;
    let kind = kind::sniff(path, &source.head);
    if request.pages.is_some() && kind != Kind::Pdf {
        return Err(ToolError::invalid(
            "pages is only for PDF files, and this is none; use offset and limit, or nothing",
        ));
    }
    match kind {
        Kind::Text(encoding) => text::read(source, encoding, request.window, check),
        Kind::Picture(format) => {
            let picture = picture::prepare(whole(source, "picture")?, format)?;
            let structured = json!({
                "kind": "image",
                "mime": picture.mime,
                "width": picture.width,
                "height": picture.height,
            });
            let blob = Blob {
                mime: picture.mime.into(),
                data: picture.data,
            };
            let mut content = vec![Content::Image(blob)];
            content.extend(picture.note.map(Content::Text));
            Ok(Reading::new(content, structured).with_whole(true))
        }
        Kind::Pdf => pdf::read(&whole(source, "PDF file")?, request.pages, check),
        Kind::Notebook => Ok(notebook::read(&whole(source, "notebook")?, request.window)),
        Kind::Binary => Err(ToolError::coded(
            "binary",
            format!(
                "{} is a binary file (not text in UTF-8 or UTF-16, nor a picture or PDF), so it cannot be shown. \
                 Look at it with a shell command such as file, strings, xxd or iconv.",
                shown(path)
            ),
        )),
    }
}

fn whole(source: Source, noun: &str) -> Result<Vec<u8>, ToolError> {
    source.whole(WHOLE_BYTES)?.ok_or_else(|| {
        ToolError::coded(
            "too-large",
            format!(
                "This {noun} is larger than {} MB, too large to be shown; make a smaller one of it with a shell command first.",
                WHOLE_BYTES / (1024 * 1024)
            ),
        )
    })
}

#[cfg(test)]
mod tests;
