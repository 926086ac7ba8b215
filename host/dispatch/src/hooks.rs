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
mod pins;
mod run;
mod settings;
mod told;
mod verdict;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{BoxFuture, KillSwitch};
use toolbay_policy::PathRules;
use toolbay_sandbox::process::{Ended, Script};

pub use event::HookEvent;
pub use files::{
    CommandForm, LookBudget, NameGround, NamedFiles, TooMuchNamed, closed_files, is_code_variable,
    named_files,
};
pub use message::{HookMessage, HookSource, PermissionWord};
pub use pins::ChangedHook;
pub use settings::HookSettingsError;
pub use verdict::{After, Before, HookOpinion};

use settings::{Hook, Sandboxed};

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
    /// Its other names, by which a matcher may mean it.
    pub aliases: Vec<String>,
    pub call_id: String,
    pub input: Value,
    /// Ends the hooks with the call.
    pub kill: KillSwitch,
    /// Where hooks run that are to run in a cage.
    pub cage: Option<Arc<dyn HookCage>>,
    /// What is closed to tools is closed to those, too.
    pub path_rules: Arc<PathRules>,
}

/// Runs hooks in a cage: they write in the project and nowhere else, as commands do.
pub trait HookCage: fmt::Debug + Send + Sync {
    /// Runs it to its end. The error says why it did not run.
    fn run(&self, script: Script, rules: Arc<PathRules>) -> BoxFuture<'_, Result<Ended, String>>;
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

    /// As hooks of a project: they run in a cage, whatever they say of themselves. Says how many
    /// wanted to run outside.
    pub fn in_cage(self) -> (Self, usize) {
        let mut all = self.all.to_vec();
        let mut refused = 0;
        for hook in &mut all {
            refused += usize::from(hook.sandboxed == Sandboxed::No);
            hook.sandboxed = Sandboxed::Yes;
        }
        (Self { all: Arc::new(all) }, refused)
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

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Asks the hooks that want to know of the call before it runs.
    pub async fn before(&self, call: &HookedCall) -> Before {
        let event = HookEvent::PreToolUse;
        let plan = run::plan(&self.all, event, (&call.tool, &call.aliases));
        if plan.is_empty() {
            return Before::default();
        }
        let replies = run::all(&plan, call, told::before(call)).await;
        verdict::before(call, replies)
    }

    /// Asks the hooks that do not know the input that will run: neither did they see it before, nor
    /// is it what they wrote themselves. `call` has that input, `first` is what came of all before.
    pub async fn again(&self, call: &HookedCall, first: &Before) -> Before {
        let event = HookEvent::PreToolUse;
        let mut plan = run::plan(&self.all, event, (&call.tool, &call.aliases));
        plan.retain(|planned| {
            let mut own = first.wrote.iter();
            !own.any(|(command, input)| *command == planned.hook.command && *input == call.input)
        });
        if plan.is_empty() {
            return Before::default();
        }
        let replies = run::all(&plan, call, told::before(call)).await;
        verdict::again(call, replies)
    }

    /// Tells the hooks how the call ended.
    pub async fn after(&self, call: &HookedCall, ending: &Ending) -> After {
        let event = match ending {
            Ending::Success { .. } => HookEvent::PostToolUse,
            Ending::Failure { .. } => HookEvent::PostToolUseFailure,
        };
        let plan = run::plan(&self.all, event, (&call.tool, &call.aliases));
        if plan.is_empty() {
            return After::default();
        }
        let replies = run::all(&plan, call, told::after(call, event, ending)).await;
        verdict::after(call, event, replies)
    }
}

#[cfg(test)]
mod tests;
