//! How a call goes wrong, as data.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::kill::KillReason;

/// Which part of a component's life went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Load,
    Info,
    IsReadOnly,
    IsConcurrencySafe,
    IsEnabled,
    IsDestructive,
    ValidateInput,
    CheckPermissions,
    Describe,
    Prompt,
    Render,
    Call,
}

impl Phase {
    pub fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Info => "info",
            Self::IsReadOnly => "is-read-only",
            Self::IsConcurrencySafe => "is-concurrency-safe",
            Self::IsEnabled => "is-enabled",
            Self::IsDestructive => "is-destructive",
            Self::ValidateInput => "validate-input",
            Self::CheckPermissions => "check-permissions",
            Self::Describe => "describe",
            Self::Prompt => "prompt",
            Self::Render => "render",
            Self::Call => "call",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a call has no outcome. Each text can be shown to a model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    #[error("invalid input: {0}")]
    InvalidInput(String),
    #[error("denied: {0}")]
    Denied(String),
    #[error("{}", .0.sentence())]
    Killed(KillReason),
    #[error("the tool gave up: its own time limit passed")]
    TimedOut,
    /// The tool says that it broke.
    #[error("{message}")]
    Tool {
        message: String,
        code: Option<String>,
        retryable: bool,
    },
    /// The component broke: it trapped, or went over a limit.
    #[error("plugin {plugin} broke in {phase}: {reason}")]
    Broke {
        plugin: String,
        phase: Phase,
        reason: String,
    },
    /// The component cannot be used at all.
    #[error("plugin {plugin} cannot be loaded: {reason}")]
    BadComponent { plugin: String, reason: String },
    /// The host itself could not do its part.
    #[error("toolbay could not run the call: {0}")]
    Host(String),
}

impl Failure {
    /// A stable word for telemetry and programs: no paths, no contents.
    pub fn class(&self) -> &'static str {
        match self {
            Self::InvalidInput(_) => "invalid-input",
            Self::Denied(_) => "denied",
            Self::Killed(reason) => reason.word(),
            Self::TimedOut => "timed-out",
            Self::Tool { .. } => "failed",
            Self::Broke { .. } => "broke",
            Self::BadComponent { .. } => "bad-component",
            Self::Host(_) => "host",
        }
    }
}
