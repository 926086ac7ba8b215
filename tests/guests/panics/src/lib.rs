//! A tool that is known by name and panics at every other question, so that the host
//! must fall back on its strict answers one by one.

// To panic is the point.
#![allow(clippy::panic)]

use serde_json::Value;
use toolbay_sdk::{
    Guard, Info, Outcome, Prompt, Rejection, Render, Result, Setting, Tool, ToolError, Verdict,
    View,
};

struct Panics;

impl Tool for Panics {
    type Input = Value;

    const INFO: Info = Info::new("Panics", "Panics at every question.");

    fn is_read_only(_: &Value) -> bool {
        panic!("in is-read-only")
    }
    fn is_concurrency_safe(_: &Value) -> bool {
        panic!("in is-concurrency-safe")
    }
    fn call(_: Value) -> Result {
        panic!("in call")
    }
}

impl Guard for Panics {
    fn is_enabled() -> bool {
        panic!("in is-enabled")
    }
    fn is_destructive(_: &Value) -> bool {
        panic!("in is-destructive")
    }
    /// The one question that can be got past, so that the next one is reached.
    fn validate_input(input: &Value) -> Result<(), Rejection> {
        match input.get("valid") {
            Some(_) => Ok(()),
            None => panic!("in validate-input"),
        }
    }
    fn check_permissions(_: &Value) -> Verdict {
        panic!("in check-permissions")
    }
}

impl Prompt for Panics {
    fn describe(_: &Value) -> String {
        panic!("in describe")
    }
    fn prompt(_: &Setting) -> String {
        panic!("in prompt")
    }
}

impl Render for Panics {
    fn render_use(_: &Value) -> View {
        panic!("in render-use")
    }
    fn render_result(_: &Value, _: &Outcome) -> View {
        panic!("in render-result")
    }
    fn render_rejected(_: &Value, _: &str) -> View {
        panic!("in render-rejected")
    }
    fn render_error(_: &Value, _: &ToolError) -> View {
        panic!("in render-error")
    }
    fn render_grouped(_: &[Value]) -> Option<View> {
        panic!("in render-grouped")
    }
}

toolbay_sdk::export!(Panics: guard, prompt, render);
