//! What was said about a tool when it was last used, so that a change is noticed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::config::Scope;
pub use super::definition::Described;

/// Whose tool it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolKey {
    pub scope: Scope,
    pub server: String,
    pub tool: String,
}

/// Keeps descriptions of tools that were used. What cannot be kept is asked about again.
pub trait Memory: Send + Sync {
    fn recall(&self, key: &ToolKey) -> Option<Described>;
    fn remember(&self, key: &ToolKey, described: &Described);
}

/// As long as the program.
#[derive(Debug, Default)]
pub struct InMemory(Mutex<HashMap<ToolKey, Described>>);

impl Memory for InMemory {
    fn recall(&self, key: &ToolKey) -> Option<Described> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).cloned()
    }

    fn remember(&self, key: &ToolKey, described: &Described) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.clone(), described.clone());
    }
}
