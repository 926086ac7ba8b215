//! The moments at which hooks run.

use serde::Serialize;

/// The events of a call. Their names are those that settings and scripts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HookEvent {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
}

/// Events that other parts of an agent have. Settings that hold them are shared with
/// such agents, so they are no mistake; they are not ours to run.
const OF_OTHERS: [&str; 19] = [
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "InstructionsLoaded",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PreCompact",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TeammateIdle",
    "UserPromptSubmit",
];

impl HookEvent {
    pub(super) const ALL: [Self; 3] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether the name is an event that we know of and leave to others.
    pub(super) fn is_of_others(name: &str) -> bool {
        OF_OTHERS.contains(&name)
    }
}
