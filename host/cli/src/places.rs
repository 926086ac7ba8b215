//! Where things are kept: the XDG folders, read once.
#![allow(clippy::disallowed_methods)]

use std::ffi::OsString;
use std::path::PathBuf;

/// Folders of this user.
#[derive(Debug, Clone)]
pub struct Places {
    pub home: Option<PathBuf>,
    pub cache: PathBuf,
    pub state: PathBuf,
}

impl Places {
    /// Reads `HOME`, `XDG_CACHE_HOME`, `XDG_STATE_HOME`.
    pub fn from_environment() -> anyhow::Result<Self> {
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let below_home = |part: &str| home.as_ref().map(|home| home.join(part));
        let missing = |name: &str| {
            anyhow::anyhow!(
                "set HOME or {name} to an absolute path: toolbay needs a folder of its own"
            )
        };
        let cache = folder("XDG_CACHE_HOME")
            .or_else(|| below_home(".cache"))
            .ok_or_else(|| missing("XDG_CACHE_HOME"))?
            .join("toolbay");
        let state = folder("XDG_STATE_HOME")
            .or_else(|| below_home(".local/state"))
            .ok_or_else(|| missing("XDG_STATE_HOME"))?
            .join("toolbay");
        Ok(Self { home, cache, state })
    }
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
        .unwrap_or(toolbay_dispatch::DEFAULT_CAP)
}

/// The variables that hooks see: where programs and people are, and no secret.
pub fn hook_environment() -> Vec<(OsString, OsString)> {
    const SEEN: [&str; 9] = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TERM",
    ];
    SEEN.iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect()
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

/// All variables of this process, for whoever picks from them by a list.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// A variable that somebody asked for by its name.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What `TOOLBAY_LOG` asks to be logged.
pub fn log_filter() -> Option<String> {
    std::env::var("TOOLBAY_LOG").ok()
}
