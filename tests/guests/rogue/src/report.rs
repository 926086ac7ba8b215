//! What was tried and what came of it, as JSON:
//!
//! ```json
//! {"tries": {"create": {"ok": false, "error": "PermissionDenied: ..."},
//!            "open":   {"ok": true, "value": "the content"}},
//!  "succeeded": ["open"], "refused": ["create"]}
//! ```
//!
//! The two lists are there so that a test can compare a whole report with one line.
//! A try that proves nothing either way, such as a sync, is in neither.

use serde_json::{Map, Value, json};
use toolbay_sdk::{Outcome, Result as CallResult};
use wasip2::filesystem::types::ErrorCode;

/// What a try came to: a value worth telling, or the error's text.
pub type Attempt = Result<Value, String>;

#[derive(Default)]
pub struct Report {
    tries: Map<String, Value>,
    succeeded: Vec<String>,
    refused: Vec<String>,
}

impl Report {
    /// Records a try that a host must decide about.
    pub fn note(&mut self, what: &str, attempt: Attempt) {
        match &attempt {
            Ok(_) => self.succeeded.push(what.into()),
            Err(_) => self.refused.push(what.into()),
        }
        self.note_neutral(what, attempt);
    }

    /// Records a try whose success harms nobody.
    pub fn note_neutral(&mut self, what: &str, attempt: Attempt) {
        let told = match attempt {
            Ok(Value::Null) => json!({"ok": true}),
            Ok(value) => json!({"ok": true, "value": value}),
            Err(error) => json!({"ok": false, "error": error}),
        };
        self.tries.insert(what.into(), told);
    }

    pub fn into_result(self) -> CallResult {
        let json = json!({
            "tries": self.tries,
            "succeeded": self.succeeded,
            "refused": self.refused,
        });
        Ok(Outcome::text(json.to_string()).with_structured(&json))
    }
}

/// Turns the errors of the different doors into text.
pub trait Told {
    fn told(self) -> Attempt;
}

impl<T> Told for std::io::Result<T> {
    fn told(self) -> Attempt {
        self.map(|_| Value::Null)
            .map_err(|error| format!("{:?}: {error}", error.kind()))
    }
}

impl<T> Told for Result<T, ErrorCode> {
    fn told(self) -> Attempt {
        self.map(|_| Value::Null).map_err(|error| told_code(&error))
    }
}

/// The error's kind comes first: it is what tests compare.
pub fn told_io(error: &std::io::Error) -> String {
    format!("{:?}: {error}", error.kind())
}

pub fn told_code(error: &ErrorCode) -> String {
    error.name().into()
}

/// A content, short enough that a report stays readable.
pub fn excerpt(bytes: &[u8]) -> Value {
    let end = bytes.len().min(200);
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default())
        .into_owned()
        .into()
}
