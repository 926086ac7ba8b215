//! Tools with the names that the conformance suite of MCP calls, one component each in
//! `examples/`. Without them most of its scenarios would pass on the words "no such tool".

pub use serde_json::Value;
pub use toolbay_sdk::{Blob, Content, Info, Outcome, Result, Tool, ToolError, context};

/// A tool that only reads: its name, its schema, what it does.
#[macro_export]
macro_rules! fixture {
    ($name:literal, $schema:expr, |$input:ident| $does:expr) => {
        struct Fixture;

        impl $crate::Tool for Fixture {
            type Input = $crate::Value;

            const INFO: $crate::Info =
                $crate::Info::new($name, "Does what the conformance suite wants of it.")
                    .schema($schema);

            fn is_read_only(_: &$crate::Value) -> bool {
                true
            }

            fn is_concurrency_safe(_: &$crate::Value) -> bool {
                true
            }

            fn call($input: $crate::Value) -> $crate::Result {
                $does
            }
        }

        toolbay_sdk::export!(Fixture);
    };
}

/// The schema of a tool without arguments.
pub const NONE: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

/// The smallest picture: one red dot.
pub const DOT: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d, 0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Three lines of a log, as both protocols want to hear them, under two names.
pub fn log_three_lines() -> Result {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        context::log(context::Level::Info, line);
        pass(50);
    }
    Ok(Outcome::text("Logged three lines."))
}

/// A result of these blocks.
pub fn outcome(content: Vec<Content>) -> Outcome {
    Outcome {
        content,
        ..Outcome::text("")
    }
}

pub fn document(mime: &str, data: &[u8]) -> Content {
    Content::Document(Blob {
        mime: mime.into(),
        data: data.into(),
    })
}

/// Asks the person for words, all at once.
pub fn ask(questions: &[(&str, &str)]) -> std::result::Result<Vec<Vec<String>>, ToolError> {
    let questions: Vec<_> = questions
        .iter()
        .map(|(header, text)| toolbay_sdk::ask_user::Question {
            header: (*header).into(),
            text: (*text).into(),
            options: Vec::new(),
            multiple: false,
        })
        .collect();
    Ok(toolbay_sdk::ask_user::ask(&questions)?)
}

/// Lets so many milliseconds pass.
pub fn pass(ms: u64) {
    std::thread::sleep(std::time::Duration::from_millis(ms));
}
