//! What this program reads of its environment, in one place; everything else is told.
#![allow(clippy::disallowed_methods)]

use std::ffi::OsString;

use toolbay::{NoPlace, Places, ProcessContext};

/// The folders that the variables name.
pub fn from_environment() -> Result<Places, NoPlace> {
    Places::by_variables(|name| std::env::var_os(name))
}

/// What sessions know of this process.
pub fn this_process() -> ProcessContext {
    ProcessContext::new(std::env::vars_os())
}

/// Whether the environment asks for no colour.
pub fn wants_no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// How many calls may run at once: `TOOLBAY_MAX_TOOL_CONCURRENCY`, if it is a number.
pub fn cap() -> usize {
    std::env::var("TOOLBAY_MAX_TOOL_CONCURRENCY")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|cap| *cap > 0)
        .unwrap_or(toolbay::dispatch::DEFAULT_CAP)
}

/// The collector that spans go to: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` as it is, or
/// `OTEL_EXPORTER_OTLP_ENDPOINT` with the path that the protocol wants.
#[cfg(feature = "otlp")]
pub fn otlp_endpoint() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| {
        let base = set("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/traces", base.trim_end_matches('/')))
    })
}

/// Where programs are looked for.
pub fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// A variable that somebody asked for by its name.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What `TOOLBAY_LOG` asks to be logged.
pub fn log_filter() -> Option<String> {
    std::env::var("TOOLBAY_LOG").ok()
}
