//! What people and programs are told about hooks.

use serde::Serialize;

use super::HookedCall;
use super::event::HookEvent;
use super::settings::Hook;

/// The longest text that a hook puts anywhere, in characters: as much as a tool's result
/// may have. Past it, the model would read hooks instead of results.
const LONGEST_TEXT: usize = 50_000;

/// How much of a command names it.
const LONGEST_NAME: usize = 200;

/// Something that happened to a call because of its hooks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HookMessage {
    /// A hook has an opinion on whether the call may run.
    HookPermissionDecision {
        #[serde(flatten)]
        source: HookSource,
        decision: PermissionWord,
        reason: String,
    },
    /// The call was ended while the hook ran, and the hook with it.
    HookCancelled {
        #[serde(flatten)]
        source: HookSource,
        reason: String,
    },
    /// The hook broke; the text says how, and what follows for the call.
    HookErrorDuringExecution {
        #[serde(flatten)]
        source: HookSource,
        error: String,
    },
    /// The hook wants the agent to stop after this call.
    HookStoppedContinuation {
        #[serde(flatten)]
        source: HookSource,
        reason: String,
    },
    /// The hook has something for the model to know.
    HookAdditionalContext {
        #[serde(flatten)]
        source: HookSource,
        context: String,
    },
    /// The agent stops: all hooks of the event at one glance.
    StopHookSummary {
        event: HookEvent,
        tool: String,
        call_id: String,
        hook_count: usize,
        hooks: Vec<String>,
        errors: Vec<String>,
        prevented_continuation: bool,
        stop_reason: String,
    },
    /// For people only: what a hook wants them to read, or plainly printed.
    SystemMessage {
        #[serde(flatten)]
        source: HookSource,
        message: String,
    },
}

/// Which hook it was, on which call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookSource {
    pub event: HookEvent,
    pub tool: String,
    pub call_id: String,
    /// The command, cut if it is long.
    pub hook: String,
    /// The settings that it stands in.
    pub settings: String,
}

/// A decision as hooks spell it; a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionWord {
    Allow,
    Ask,
    Deny,
}

impl PermissionWord {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Allow => "allows it",
            Self::Ask => "wants a person to be asked",
            Self::Deny => "denies it",
        }
    }
}

impl HookSource {
    pub(super) fn new(hook: &Hook, call: &HookedCall) -> Self {
        Self {
            event: hook.event,
            tool: call.tool.clone(),
            call_id: call.call_id.clone(),
            hook: name(&hook.command),
            settings: hook.settings.to_string(),
        }
    }
}

/// A command as messages name it.
pub(super) fn name(command: &str) -> String {
    cut_at(command, LONGEST_NAME)
}

/// A text of a hook, trimmed and bounded.
pub(super) fn bounded(text: &str) -> String {
    cut_at(text.trim(), LONGEST_TEXT)
}

fn cut_at(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({} more characters are left out)",
            &text[..end],
            text[end..].chars().count()
        ),
    }
}
