//! Where things are kept: the XDG folders, read once.
#![allow(clippy::disallowed_methods)]

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

/// What `TOOLBAY_LOG` asks to be logged.
pub fn log_filter() -> Option<String> {
    std::env::var("TOOLBAY_LOG").ok()
}
