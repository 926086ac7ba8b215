//! Keeps audit events of this run in memory, for commands that show them.

use std::sync::{Mutex, PoisonError};

use toolbay_contract::{Audit, AuditEvent};

/// A guest can cause events at will: keep the first ones and count the rest.
const MOST_EVENTS: usize = 10_000;

#[derive(Default)]
pub struct Events {
    kept: Mutex<Vec<AuditEvent>>,
}

impl Events {
    /// Takes out what has been kept.
    pub fn take(&self) -> Vec<AuditEvent> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Audit for Events {
    fn note(&self, event: AuditEvent) {
        tracing::info!(target: "toolbay::audit", ?event);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_EVENTS {
            kept.push(event);
        }
    }
}
