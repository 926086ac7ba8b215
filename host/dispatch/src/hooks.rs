//! Commands of the user that run before and after calls and have a say in them.
//!
//! They speak the protocol that existing hook scripts speak: JSON on standard input, an
//! exit code and perhaps JSON back. A hook can tighten, change, stop or comment a call;
//! what its allow is worth is decided elsewhere, by the rules.

mod answer;
mod event;
mod files;
mod matcher;
mod message;
mod run;
mod settings;
mod told;
mod verdict;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::KillSwitch;

pub use event::HookEvent;
pub use message::{HookMessage, HookSource, PermissionWord};
pub use settings::HookSettingsError;
pub use verdict::{After, Before, HookOpinion};

use settings::Hook;

/// The hooks of a session, in the order of their settings. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    all: Arc<Vec<Hook>>,
}

/// What hooks are told of a call, and where they run.
#[derive(Clone)]
pub struct HookedCall {
    pub session_id: String,
    /// The file with the session's messages; empty where there is none.
    pub transcript: String,
    pub cwd: PathBuf,
    pub project: PathBuf,
    pub permission_mode: String,
    /// All that hooks get of the environment, besides the project's folder.
    pub environment: Vec<(OsString, OsString)>,
    pub tool: String,
    pub call_id: String,
    pub input: Value,
    /// Ends the hooks with the call.
    pub kill: KillSwitch,
}

/// How the call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Success { response: Value },
    Failure { error: String, interrupted: bool },
}

impl Hooks {
    /// Reads the value of the settings' key `hooks`. `source` names the file in errors.
    pub fn parse(value: &Value, source: &str) -> Result<Self, HookSettingsError> {
        Ok(Self {
            all: Arc::new(settings::parse(value, source)?),
        })
    }

    /// Adds the hooks of a weaker source behind these.
    pub fn and(self, weaker: Self) -> Self {
        if weaker.is_empty() {
            return self;
        }
        let all = self.all.iter().chain(weaker.all.iter()).cloned();
        Self {
            all: Arc::new(all.collect()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Asks the hooks that want to know of the call before it runs.
    pub async fn before(&self, call: &HookedCall) -> Before {
        let event = HookEvent::PreToolUse;
        let plan = run::plan(&self.all, event, &call.tool);
        if plan.is_empty() {
            return Before::default();
        }
        let replies = run::all(&plan, call, told::before(call)).await;
        verdict::before(call, replies)
    }

    /// Tells the hooks how the call ended.
    pub async fn after(&self, call: &HookedCall, ending: &Ending) -> After {
        let event = match ending {
            Ending::Success { .. } => HookEvent::PostToolUse,
            Ending::Failure { .. } => HookEvent::PostToolUseFailure,
        };
        let plan = run::plan(&self.all, event, &call.tool);
        if plan.is_empty() {
            return After::default();
        }
        let replies = run::all(&plan, call, told::after(call, event, ending)).await;
        verdict::after(call, event, replies)
    }
}

#[cfg(test)]
mod tests;
