//! Between the strings of the contract and the types of a tool.
//!
//! Every answer here is the strict one when the input does not parse.

use serde::de::DeserializeOwned;

pub use crate::bindings::imports::toolbay::tool::types::ToolInfo;
use crate::{Guard, Outcome, Prompt, Rejection, Render, Result, Tool, ToolError, Verdict, View};

fn parse<T: DeserializeOwned>(input: &str) -> Result<T, String> {
    serde_json::from_str(input).map_err(|error| error.to_string())
}

pub fn is_read_only<T: Tool>(input: &str) -> bool {
    parse(input).is_ok_and(|input| T::is_read_only(&input))
}

pub fn is_concurrency_safe<T: Tool>(input: &str) -> bool {
    parse(input).is_ok_and(|input| T::is_concurrency_safe(&input))
}

pub fn call<T: Tool>(input: &str) -> Result {
    T::call(parse(input).map_err(ToolError::InvalidInput)?)
}

pub fn is_destructive<T: Guard>(input: &str) -> bool {
    parse(input).map_or(true, |input| T::is_destructive(&input))
}

pub fn validate_input<T: Guard>(input: &str) -> Result<(), Rejection> {
    match parse(input) {
        Ok(input) => T::validate_input(&input),
        Err(message) => Err(Rejection::new(0, message)),
    }
}

pub fn check_permissions<T: Guard>(input: &str) -> Verdict {
    match parse(input) {
        Ok(input) => T::check_permissions(&input),
        Err(message) => Verdict::deny(message),
    }
}

pub fn describe<T: Prompt>(input: &str) -> String {
    match parse(input) {
        Ok(input) => T::describe(&input),
        Err(_) => T::INFO.summary.into(),
    }
}

fn view<T: Tool>(input: &str, draw: impl FnOnce(&T::Input) -> View) -> View {
    match parse(input) {
        Ok(input) => draw(&input),
        Err(_) => View::Plain(format!("{} {input}", T::INFO.name)),
    }
}

pub fn render_use<T: Render>(input: &str) -> View {
    view::<T>(input, T::render_use)
}

pub fn render_result<T: Render>(input: &str, outcome: &Outcome) -> View {
    view::<T>(input, |input| T::render_result(input, outcome))
}

pub fn render_rejected<T: Render>(input: &str, reason: &str) -> View {
    view::<T>(input, |input| T::render_rejected(input, reason))
}

pub fn render_error<T: Render>(input: &str, error: &ToolError) -> View {
    view::<T>(input, |input| T::render_error(input, error))
}

pub fn render_grouped<T: Render>(inputs: &[String]) -> Option<View> {
    let inputs: Vec<T::Input> = inputs
        .iter()
        .map(|input| parse(input))
        .collect::<Result<_, _>>()
        .ok()?;
    T::render_grouped(&inputs)
}
