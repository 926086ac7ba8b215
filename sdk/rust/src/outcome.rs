//! Short ways to make outcomes and errors.

use std::fmt;

use crate::{Blob, Content, ContextModifier, Failure, FileSeen, HostError, Outcome, ToolError};

impl Outcome {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text(text.into())],
            structured: None,
            failed: false,
            modifiers: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The tool ran, and this is its bad news.
    pub fn bad_news(text: impl Into<String>) -> Self {
        Self {
            failed: true,
            ..Self::text(text)
        }
    }

    /// Adds an image.
    pub fn with_image(mut self, mime: impl Into<String>, data: Vec<u8>) -> Self {
        self.content.push(Content::Image(Blob {
            mime: mime.into(),
            data,
        }));
        self
    }

    /// Adds the same result for programs.
    pub fn with_structured(mut self, value: &serde_json::Value) -> Self {
        self.structured = Some(value.to_string());
        self
    }

    /// Asks for a change of the session.
    pub fn with_modifier(mut self, modifier: ContextModifier) -> Self {
        self.modifiers.push(modifier);
        self
    }

    /// Notes that a file was seen.
    pub fn with_file_seen(self, seen: FileSeen) -> Self {
        self.with_modifier(ContextModifier::FileSeen(seen))
    }

    /// The text blocks, one below the other.
    pub fn plain_text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                Content::Image(_) | Content::Document(_) | Content::Link(_) => None,
            })
            .collect();
        texts.join("\n")
    }
}

impl ToolError {
    /// The input makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidInput(message.into())
    }

    /// The tool broke.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(Failure {
            message: message.into(),
            code: None,
            retryable: false,
        })
    }

    /// The tool broke in a way that programs know by a word.
    pub fn coded(code: &str, message: impl Into<String>) -> Self {
        Self::Failed(Failure {
            message: message.into(),
            code: Some(code.into()),
            retryable: false,
        })
    }
}

impl From<HostError> for ToolError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Denied(reason) => Self::Denied(reason),
            HostError::Cancelled => Self::Cancelled,
            HostError::TimedOut => Self::TimedOut,
            HostError::TooLarge(bytes) => Self::coded(
                "too-large",
                format!("the answer is too large ({bytes} bytes)"),
            ),
            HostError::Unavailable(what) => Self::coded("unavailable", what),
            HostError::Failed(message) => Self::failed(message),
        }
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::Denied(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

// `Display` for `ToolError` is derived by wit-bindgen as debug text; people get this.
impl ToolError {
    /// The error as a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::InvalidInput(message) => format!("invalid input: {message}"),
            Self::Denied(reason) => format!("denied: {reason}"),
            Self::Cancelled => "cancelled".into(),
            Self::TimedOut => "timed out".into(),
            Self::Failed(failure) => failure.message.clone(),
        }
    }
}

impl fmt::Write for Outcome {
    /// Appends to the last text block, so that `write!` works on an outcome.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.content.last_mut() {
            Some(Content::Text(last)) => last.push_str(text),
            Some(Content::Image(_) | Content::Document(_) | Content::Link(_)) | None => {
                self.content.push(Content::Text(text.into()));
            }
        }
        Ok(())
    }
}
