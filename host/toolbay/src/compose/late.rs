//! Plugins that must be compiled before they say who they are, while the session runs already.
//!
//! Nothing waits for them but a call of a name that nobody else has. They join the pool behind all
//! that stays, as tools of servers do; one that cannot be compiled is a warning, and the reason that
//! such a call gets.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use toolbay_contract::Tool;

use crate::settings::PluginPath;

/// Plugins under way, and what became of those that are done.
pub struct LatePlugins {
    arrived: Mutex<Arrived>,
    is_done: watch::Sender<bool>,
}

#[derive(Default)]
struct Arrived {
    tools: Vec<Arc<dyn Tool>>,
    problems: Vec<String>,
}

impl LatePlugins {
    /// For these; without any, nothing is waited for.
    pub(super) fn expecting(plugins: &[PluginPath]) -> Self {
        Self {
            arrived: Mutex::default(),
            is_done: watch::Sender::new(plugins.is_empty()),
        }
    }

    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.arrived().tools.clone()
    }

    /// Waits until a tool of this name has come, or nothing more will. An error is why some did
    /// not, any of which may be the one that is meant.
    pub async fn arrival(&self, name: &str) -> Result<(), String> {
        let mut done = self.is_done.subscribe();
        loop {
            let is_last = *done.borrow_and_update();
            {
                let arrived = self.arrived();
                if arrived.tools.iter().any(|tool| tool.info().name == name) {
                    return Ok(());
                }
                if is_last {
                    return match arrived.problems.is_empty() {
                        true => Ok(()),
                        false => Err(format!(
                            "there is no tool `{name}`; {}",
                            arrived.problems.join("; ")
                        )),
                    };
                }
            }
            if done.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    pub(super) fn came(&self, tool: Arc<dyn Tool>) {
        self.arrived().tools.push(tool);
        self.is_done.send_replace(false);
    }

    pub(super) fn failed(&self, problem: String) {
        self.arrived().problems.push(problem);
    }

    pub(super) fn finish(&self) {
        self.is_done.send_replace(true);
    }

    fn arrived(&self) -> std::sync::MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
