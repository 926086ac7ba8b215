//! What the host notes about what tools did and tried.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolbay_policy::Behavior;

/// Something worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum AuditEvent {
    /// A component tried what its call was not granted.
    PowerRefused {
        plugin: String,
        call_id: String,
        power: String,
        detail: String,
        path: Option<PathBuf>,
    },
    /// A component broke or was ended.
    Ended {
        plugin: String,
        call_id: String,
        class: String,
        reason: String,
    },
    /// A wish that only a trusted plugin may have was dropped.
    ModifierDropped {
        plugin: String,
        call_id: String,
        modifier: String,
    },
    /// What was decided about a call, and by what.
    Decided(Decided),
    /// A call ran to its end, good or bad.
    Called(Called),
}

/// What a call is about, as rules see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// `command`, `path`, `url` or `text`.
    pub kind: String,
    pub text: String,
}

/// A decision. Whoever keeps it redacts and shortens the texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    pub tool: String,
    pub call_id: String,
    /// The digest of the component; tools that are none have none.
    pub plugin: Option<String>,
    /// To ask is a decision too; the answer is one of its own.
    pub ruling: Behavior,
    /// What had the last word: a rule, a mode, a hook, the tool itself, a person.
    pub by: String,
    pub reason: String,
    /// The rule that won, as it was written.
    pub rule: Option<String>,
    /// Where the rule stands: its source, and file and line if it has them.
    pub source: Option<String>,
    pub subjects: Vec<About>,
    /// The tool whose call set this in motion, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The input as JSON.
    pub input: String,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Called {
    pub tool: String,
    pub call_id: String,
    pub plugin: Option<String>,
    /// `done`, or the class of the failure.
    pub class: String,
    pub reason: Option<String>,
    /// The limits that held, by name.
    pub limits: Vec<(String, u64)>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub micros: u64,
}

/// Where audit events go. Called on the path of a call: keep it short.
pub trait Audit: Send + Sync {
    fn note(&self, event: AuditEvent);

    /// Whether this call may act as far as the log goes. Asked after its decision was
    /// noted and before it acts; an error is the reason why it must not.
    fn ready(&self, _call_id: &str) -> Result<(), String> {
        Ok(())
    }
}

/// Keeps nothing.
pub struct Discard;

impl Audit for Discard {
    fn note(&self, _event: AuditEvent) {}
}
