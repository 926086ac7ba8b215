//! Imports a function of `toolbay:host/context@0.1.0` that this host does not have.
//!
//! So looks a plugin that was built against a later 0.1 of the contract. The host must
//! say which function is missing, when the component is loaded, not when it is called.

// What wit-bindgen generates is not ours to tidy.
#[allow(unsafe_code, clippy::all)]
mod future {
    wit_bindgen::generate!({
        inline: "package toolbay:host@0.1.0;
            interface context { teleport: func(place: string) -> bool; }
            world later { import context; }",
    });
}

// What wit-bindgen generates is not ours to tidy.
#[allow(unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/0.1",
        world: "toolbay:tool/minimal",
        generate_all,
    });

    use super::NeedsFutureFunction;
    export!(NeedsFutureFunction);
}

use bindings::exports::toolbay::tool::tool::Guest;
use bindings::toolbay::tool::types::{
    Content, OnError, OnInterrupt, Outcome, ResultLimit, ToolError, ToolInfo,
};

struct NeedsFutureFunction;

impl Guest for NeedsFutureFunction {
    fn info() -> ToolInfo {
        ToolInfo {
            name: "NeedsFutureFunction".into(),
            aliases: Vec::new(),
            summary: "Calls what does not exist yet.".into(),
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
        let arrived = future::toolbay::host::context::teleport(&input);
        Ok(Outcome {
            content: vec![Content::Text(arrived.to_string())],
            structured: None,
            failed: false,
            modifiers: Vec::new(),
            messages: Vec::new(),
        })
    }
}
