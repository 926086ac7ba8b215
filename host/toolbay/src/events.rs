//! Where audit events of this run go: into memory, for commands that show them, and into the log.

use std::sync::{Mutex, PoisonError};

use toolbay_audit::Log;
use toolbay_contract::{Audit, AuditEvent};

/// A guest can cause events at will, and a session can be long: keep the first ones. The log
/// has them all.
const MOST_EVENTS: usize = 1_000;
/// What is kept of an input; a whole file may be in it.
const LONGEST_INPUT: usize = 2_000;

#[derive(Default)]
pub struct Events {
    kept: Mutex<Vec<AuditEvent>>,
    log: Option<Log>,
}

impl Events {
    /// Writes them into the log as well.
    pub fn and_log(log: Log) -> Self {
        Self {
            kept: Mutex::default(),
            log: Some(log),
        }
    }

    /// Takes out what has been kept.
    pub fn take(&self) -> Vec<AuditEvent> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn shortened(mut event: AuditEvent) -> AuditEvent {
    if let AuditEvent::Decided(decided) = &mut event
        && decided.input.len() > LONGEST_INPUT
    {
        let end = decided.input.floor_char_boundary(LONGEST_INPUT);
        decided.input.truncate(end);
        decided.input.push('…');
    }
    event
}

impl Audit for Events {
    fn note(&self, event: AuditEvent) {
        tracing::info!(target: "toolbay::audit", ?event);
        if let Some(log) = &self.log {
            log.note(event.clone());
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_EVENTS {
            kept.push(shortened(event));
        }
    }

    fn ready(&self, call_id: &str) -> Result<(), String> {
        match &self.log {
            Some(log) => log.ready(call_id),
            None => Ok(()),
        }
    }
}
