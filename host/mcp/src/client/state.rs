//! Where a server stands.

use serde::Serialize;

use super::config::Scope;

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum State {
    /// Not asked yet; or a person has to say yes first, which is the reason then.
    Pending {
        reason: Option<String>,
    },
    Connected {
        tools: usize,
        protocol: String,
        /// Who the server says it is.
        server: Option<String>,
    },
    Failed {
        reason: String,
    },
    NeedsAuth {
        reason: String,
    },
    Disabled {
        reason: String,
    },
}

impl State {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Connected { .. } => "connected",
            Self::Failed { .. } => "failed",
            Self::NeedsAuth { .. } => "needs-auth",
            Self::Disabled { .. } => "disabled",
        }
    }

    /// Why it is no better than it is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pending { reason } => reason.as_deref(),
            Self::Connected { .. } => None,
            Self::Failed { reason } | Self::NeedsAuth { reason } | Self::Disabled { reason } => {
                Some(reason)
            }
        }
    }
}

/// What servers have beside tools, as they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offers {
    /// There are servers at all, so that the list of tools may change.
    pub changes: bool,
    pub prompts: bool,
    pub resources: bool,
    pub completions: bool,
    /// Some tell when what stands at an address changes.
    pub subscriptions: bool,
}

/// A server as people see it in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    pub name: String,
    pub scope: Scope,
    /// Where it was said that there is such a server.
    pub source: String,
    pub transport: String,
    /// The command or the address.
    pub place: String,
    #[serde(flatten)]
    pub state: State,
    /// What is wrong with some of its tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}
