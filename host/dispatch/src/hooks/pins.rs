//! What hooks run is what it was when the session began.
//!
//! Tools and commands cannot write a hook's scripts. A checkout, an editor or another program can,
//! and what they bring may be the work of somebody else. So each hook remembers what the files of its
//! command held, and does not run when that has changed, until somebody says that it may.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::HookEvent;
use super::files::{CommandForm, LookBudget, NameGround, NamedFiles, TooMuchNamed, named_files};
use super::message::name;
use super::settings::{Hook, Sandboxed};
use super::{Hooks, run};
use crate::fingerprint::{FileChange, Fingerprint, listed};

/// What one hook ran when somebody last looked.
#[derive(Debug)]
pub(super) struct Pin {
    ground: NameGround,
    /// Why it names more than can be looked at; then it never runs.
    refused: Option<TooMuchNamed>,
    seen: Mutex<Fingerprint>,
}

impl Pin {
    fn now(&self, command: &str) -> Result<Fingerprint, String> {
        if let Some(why) = self.refused {
            return Err(why.to_string());
        }
        let mut budget = LookBudget::default();
        let files = code(command, &self.ground, &mut budget).map_err(|why| why.to_string())?;
        Fingerprint::of(files)
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    fn seen(&self) -> Fingerprint {
        let seen = self.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A hook whose files are not what they were.
#[derive(Debug, Clone)]
pub struct ChangedHook {
    pub command: String,
    /// What is different; nothing if the files cannot be read at all.
    pub changes: Vec<FileChange>,
    /// Why they cannot be read.
    pub unreadable: Option<String>,
    /// It runs in a cage, as hooks of projects do.
    pub is_caged: bool,
    pin: Arc<Pin>,
    now: Fingerprint,
}

impl ChangedHook {
    /// Takes what was shown for good; what changed after that counts as changed.
    pub(crate) fn accept(self) {
        let mut seen = self.pin.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = self.now;
    }
}

impl fmt::Display for ChangedHook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = name(&self.command);
        match &self.unreadable {
            Some(why) => write!(
                out,
                "what the hook `{command}` runs cannot be checked: {why}"
            ),
            None => write!(
                out,
                "what the hook `{command}` runs is not what it was when the session began: {}",
                listed(&self.changes)
            ),
        }
    }
}

impl Hooks {
    /// Remembers what the hooks run in a project as it is now. Those that are pinned already stay as
    /// they are. One that names more than can be looked at will not run.
    pub fn pinned(self, ground: &NameGround) -> Result<Self, String> {
        let mut budgets = [LookBudget::default(), LookBudget::default()];
        let mut all = Vec::with_capacity(self.all.len());
        for hook in self.all.iter() {
            let mut hook = hook.clone();
            if hook.pin.is_none() {
                let (refused, seen) = match pinnable(&hook.command, ground, &mut budgets) {
                    Err(why) => (Some(why), Fingerprint::default()),
                    Ok(files) => {
                        let about = |why| format!("the hook `{}`: {why}", name(&hook.command));
                        (None, Fingerprint::of(files).map_err(about)?)
                    }
                };
                hook.pin = Some(Arc::new(Pin {
                    ground: ground.clone(),
                    refused,
                    seen: Mutex::new(seen),
                }));
            }
            all.push(hook);
        }
        Ok(Self { all: Arc::new(all) })
    }

    /// What the pinned hooks ran when they were pinned, all together.
    pub fn fingerprint(&self) -> Fingerprint {
        let pins = self.all.iter().filter_map(|hook| hook.pin.as_ref());
        pins.fold(Fingerprint::default(), |all, pin| all.and(pin.seen()))
    }

    /// The hooks that would run before a call of this tool and whose files have changed.
    pub(crate) async fn changed(&self, tool: &str, aliases: &[String]) -> Vec<ChangedHook> {
        let plan = run::plan(&self.all, HookEvent::PreToolUse, (tool, aliases));
        let hooks: Vec<Hook> = plan.iter().map(|one| one.hook.clone()).collect();
        let looking = move || hooks.iter().filter_map(changed).collect();
        // The reading has no side effect that could be lost; a panic in it is a bug to be seen.
        tokio::task::spawn_blocking(looking)
            .await
            .unwrap_or_else(|_| Vec::new())
    }
}

/// What has changed of a hook; none if it is what it was, or if nobody remembers.
pub(super) fn changed(hook: &Hook) -> Option<ChangedHook> {
    let pin = hook.pin.clone()?;
    let (changes, unreadable, now) = match pin.now(&hook.command) {
        Ok(now) => {
            let changes = pin.seen().changes_to(&now);
            if changes.is_empty() {
                return None;
            }
            (changes, None, now)
        }
        Err(why) => (Vec::new(), Some(why), Fingerprint::default()),
    };
    Some(ChangedHook {
        command: hook.command.to_string(),
        is_caged: hook.sandboxed == Sandboxed::Yes,
        changes,
        unreadable,
        pin,
        now,
    })
}

fn code(
    command: &str,
    ground: &NameGround,
    budget: &mut LookBudget,
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    let command = CommandForm::Shell(command);
    named_files(command, ground, NamedFiles::Code, budget)
}

/// The code that a hook names. One for which the look at what has to be closed is too much does not run
/// either.
fn pinnable(
    command: &str,
    ground: &NameGround,
    [open, closed]: &mut [LookBudget; 2],
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    let form = CommandForm::Shell(command);
    named_files(form, ground, NamedFiles::Closed, closed)?;
    code(command, ground, open)
}

/// The same beside other work; whoever cannot look must not run it.
pub(super) async fn check(hook: &Hook) -> Result<(), String> {
    if hook.pin.is_none() {
        return Ok(());
    }
    let hook = hook.clone();
    let looked = tokio::task::spawn_blocking(move || changed(&hook).map(|it| it.to_string())).await;
    match looked {
        Ok(None) => Ok(()),
        Ok(Some(what)) => Err(format!("{what}; it did not run")),
        Err(error) => Err(error.to_string()),
    }
}
