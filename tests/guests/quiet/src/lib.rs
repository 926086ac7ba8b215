//! The world `minimal`, straight on wit-bindgen: four functions, no SDK, no
//! optional interface, no info section.
//!
//! It stands for plugins that were written by hand or in another language, and
//! for the defaults that the host must supply when `guard`, `prompt` and `render`
//! are absent.

// What wit-bindgen generates is not ours to tidy.
#[allow(unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/0.1",
        world: "toolbay:tool/minimal",
        generate_all,
    });

    use super::Quiet;
    export!(Quiet);
}

use bindings::exports::toolbay::tool::tool::Guest;
use bindings::toolbay::tool::types::{
    Content, OnError, OnInterrupt, Outcome, ResultLimit, ToolError, ToolInfo,
};

struct Quiet;

impl Guest for Quiet {
    fn info() -> ToolInfo {
        ToolInfo {
            name: "Quiet".into(),
            aliases: Vec::new(),
            summary: "Says back its input, with nothing optional.".into(),
            input_schema: r#"{"type":"object"}"#.into(),
            output_schema: None,
            subjects: Vec::new(),
            limit: ResultLimit::Standard,
            interrupt: OnInterrupt::Finish,
            error: OnError::Isolate,
            deferred: false,
            search_hint: None,
            annotations: Vec::new(),
        }
    }

    fn is_read_only(_: String) -> bool {
        true
    }

    fn is_concurrency_safe(_: String) -> bool {
        true
    }

    fn call(input: String) -> Result<Outcome, ToolError> {
        Ok(Outcome {
            content: vec![Content::Text(input)],
            structured: None,
            failed: false,
            modifiers: Vec::new(),
            messages: Vec::new(),
        })
    }
}
