//! What the host notes about what tools did and tried.

use std::path::PathBuf;

use serde::Serialize;

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
    /// A call was permitted.
    Permitted {
        plugin: String,
        call_id: String,
        reason: String,
    },
    /// A call was refused before it ran.
    Denied {
        plugin: String,
        call_id: String,
        reason: String,
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
}

/// Where audit events go. Called on the path of a call: keep it short.
pub trait Audit: Send + Sync {
    fn note(&self, event: AuditEvent);
}

/// Keeps nothing.
pub struct Discard;

impl Audit for Discard {
    fn note(&self, _event: AuditEvent) {}
}
