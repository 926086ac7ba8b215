//! State that outlives a call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// How the session knows a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    pub digest: String,
    pub whole: bool,
    pub shown: Option<String>,
}

/// One conversation's state: files seen, and what plugins keep.
#[derive(Debug)]
pub struct Session {
    /// Keys the digests of this session, so that nobody can prepare two files
    /// with the same one.
    seed: u64,
    state: Mutex<State>,
}

/// A session as it can be kept on disk.
#[derive(Debug, Serialize, Deserialize)]
pub struct SessionSnapshot {
    seed: u64,
    state: State,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct State {
    seen: HashMap<PathBuf, SeenFile>,
    kept: HashMap<String, HashMap<String, String>>,
    /// Deferred tools that were loaded, in that order.
    #[serde(default)]
    loaded: Vec<String>,
    #[serde(default)]
    working_directory: Option<PathBuf>,
    /// The permission mode, if the conversation has changed it.
    #[serde(default)]
    mode: Option<String>,
}

impl Session {
    /// What all values of one plugin may add up to. A todo list is a few
    /// kilobytes; a plugin that needs more should use a file.
    pub const MAX_BYTES_PER_PLUGIN: usize = 1024 * 1024;

    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            state: Mutex::new(State::default()),
        }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn seen(&self, path: &Path) -> Option<SeenFile> {
        self.state().seen.get(path).cloned()
    }

    pub fn note_seen(&self, path: PathBuf, file: SeenFile) {
        self.state().seen.insert(path, file);
    }

    /// The deferred tools that the conversation has loaded.
    pub fn loaded(&self) -> Vec<String> {
        self.state().loaded.clone()
    }

    pub fn note_loaded(&self, names: Vec<String>) {
        self.state().loaded = names;
    }

    /// Where the conversation works, if it has moved.
    pub fn working_directory(&self) -> Option<PathBuf> {
        self.state().working_directory.clone()
    }

    pub fn note_working_directory(&self, path: PathBuf) {
        self.state().working_directory = Some(path);
    }

    /// The permission mode that the conversation has changed to.
    pub fn mode(&self) -> Option<String> {
        self.state().mode.clone()
    }

    pub fn note_mode(&self, word: String) {
        self.state().mode = Some(word);
    }

    /// All of it, to be kept.
    pub fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            seed: self.seed,
            state: self.state().clone(),
        }
    }

    /// As it was kept.
    pub fn restore(snapshot: SessionSnapshot) -> Self {
        Self {
            seed: snapshot.seed,
            state: Mutex::new(snapshot.state),
        }
    }

    pub fn get(&self, plugin: &str, key: &str) -> Option<String> {
        self.state().kept.get(plugin)?.get(key).cloned()
    }

    /// Keeps a value, or says how many bytes the plugin would then hold.
    pub fn put(&self, plugin: &str, key: String, value: String) -> Result<(), usize> {
        let mut state = self.state();
        let kept = state.kept.entry(plugin.to_owned()).or_default();
        let others: usize = kept
            .iter()
            .filter(|(other, _)| **other != key)
            .map(|(other, value)| other.len() + value.len())
            .sum();
        let total = others + key.len() + value.len();
        if total > Self::MAX_BYTES_PER_PLUGIN {
            return Err(total);
        }
        kept.insert(key, value);
        Ok(())
    }

    // A panic while the lock is held cannot leave the maps half-changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_cannot_keep_more_than_its_share() {
        let session = Session::new(1);
        assert_eq!(session.put("a", "k".into(), "v".into()), Ok(()));
        assert!(session.put("a", "big".into(), "x".repeat(2 << 20)).is_err());
        assert_eq!(session.get("a", "k"), Some("v".into()));
        assert_eq!(session.get("b", "k"), None);
    }
}
