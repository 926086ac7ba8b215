//! What servers said about tools that were used, kept in the state folder, which no tool can
//! reach.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use toolbay_mcp::client::{Described, Memory, ToolKey};

use crate::own_file;

/// By scope and server, then by tool.
type Kept = BTreeMap<String, BTreeMap<String, Described>>;

/// A file of descriptions. It is read when a tool of a server is called.
pub struct ToolMemory {
    file: PathBuf,
    kept: Mutex<Option<Kept>>,
}

impl ToolMemory {
    pub fn new(state: &Path) -> Self {
        Self {
            file: state.join("mcp-tools.json"),
            kept: Mutex::new(None),
        }
    }

    fn load(&self) -> anyhow::Result<Kept> {
        match toolbay_contract::regular_file::read(&self.file, own_file::MOST_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).context("it is damaged"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one description to what is in the file now: other sessions write there too.
    fn add(&self, key: &ToolKey, described: &Described) -> anyhow::Result<Kept> {
        let _alone = own_file::lock(&self.file)?;
        // A file that cannot be read holds nothing that could be kept.
        let mut kept = self.load().unwrap_or_default();
        let tools = kept.entry(place(key)).or_default();
        tools.insert(key.tool.clone(), described.clone());
        own_file::replace(&self.file, &serde_json::to_vec(&kept)?)?;
        Ok(kept)
    }
}

fn place(key: &ToolKey) -> String {
    format!("{}:{}", key.scope.word(), key.server)
}

impl Memory for ToolMemory {
    fn recall(&self, key: &ToolKey) -> Option<Described> {
        let mut kept = self.kept();
        if kept.is_none() {
            match self.load() {
                Ok(loaded) => *kept = Some(loaded),
                Err(error) => {
                    let file = self.file.display().to_string();
                    tracing::warn!(file, %error, "what is known of MCP tools cannot be read");
                    // Nothing is known, so everything has changed.
                    let nothing = String::new();
                    return Some(Described {
                        description: nothing.clone(),
                        schema: nothing.clone(),
                        hints: nothing,
                    });
                }
            }
        }
        kept.as_ref()?.get(&place(key))?.get(&key.tool).cloned()
    }

    fn remember(&self, key: &ToolKey, described: &Described) {
        let mut kept = self.kept();
        let known = kept.as_ref().and_then(|kept| kept.get(&place(key)));
        if known.and_then(|tools| tools.get(&key.tool)) == Some(described) {
            return;
        }
        match self.add(key, described) {
            Ok(now) => *kept = Some(now),
            Err(error) => {
                let file = self.file.display().to_string();
                tracing::warn!(file, %error, "what is known of MCP tools cannot be kept");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use toolbay_mcp::client::config::Scope;

    use super::*;

    fn key(scope: Scope, tool: &str) -> ToolKey {
        ToolKey {
            scope,
            server: "s".into(),
            tool: tool.into(),
        }
    }

    fn described(text: &str) -> Described {
        Described {
            description: text.into(),
            schema: "{}".into(),
            hints: String::new(),
        }
    }

    #[test]
    fn two_sessions_remember_together_and_scopes_apart() {
        let state = tempfile::tempdir().unwrap();
        let (one, two) = (ToolMemory::new(state.path()), ToolMemory::new(state.path()));
        assert_eq!(one.recall(&key(Scope::User, "a")), None);
        one.remember(&key(Scope::User, "a"), &described("1"));
        two.remember(&key(Scope::User, "b"), &described("2"));
        let later = ToolMemory::new(state.path());
        assert_eq!(later.recall(&key(Scope::User, "a")), Some(described("1")));
        assert_eq!(later.recall(&key(Scope::User, "b")), Some(described("2")));
        assert_eq!(later.recall(&key(Scope::Project, "a")), None);
    }

    #[test]
    fn a_damaged_file_means_that_everything_is_asked_about() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("mcp-tools.json"), "{").unwrap();
        let memory = ToolMemory::new(state.path());
        let recalled = memory.recall(&key(Scope::User, "a")).unwrap();
        assert!(recalled.difference(&described("x")).is_some());
        memory.remember(&key(Scope::User, "a"), &described("x"));
        assert_eq!(memory.recall(&key(Scope::User, "a")), Some(described("x")));
    }
}
