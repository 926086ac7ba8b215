//! What the audit log is told of a call.

use std::time::Instant;

use toolbay_contract::{
    About, Audit, AuditEvent, Behavior, Called, Decided, Failure, NestedRequest, Outcome, Tool,
};
use toolbay_policy::{Permit, Request, Ruling, Subject, Winner};

use super::Ticket;

/// A decision: what, by whom or what, and why.
pub(crate) struct Decision<'a> {
    pub(crate) behavior: Behavior,
    pub(crate) by: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) winner: Option<&'a Winner>,
}

impl<'a> From<&'a Ruling> for Decision<'a> {
    fn from(ruling: &'a Ruling) -> Self {
        Self {
            behavior: ruling.behavior,
            by: ruling.stage.word(),
            reason: &ruling.reason,
            winner: ruling.winner.as_ref(),
        }
    }
}

pub(super) fn decided(ticket: &Ticket, tool: &dyn Tool, request: &Request, decision: Decision<'_>) {
    let about = Decided {
        plugin: tool.digest().map(str::to_owned),
        ..of(request, &decision, &ticket.id)
    };
    ticket.environment.audit.note(AuditEvent::Decided(about));
}

/// A decision about what a call set in motion.
pub(crate) fn decided_within(
    audit: &dyn Audit,
    caller: &NestedRequest,
    request: &Request,
    decision: &Decision<'_>,
) {
    let about = Decided {
        caller: Some(caller.tool.to_string()),
        ..of(request, decision, &caller.call_id)
    };
    audit.note(AuditEvent::Decided(about));
}

fn of(request: &Request, decision: &Decision<'_>, call_id: &str) -> Decided {
    Decided {
        tool: request.tool.to_string(),
        call_id: call_id.to_owned(),
        plugin: None,
        ruling: decision.behavior,
        by: decision.by.to_owned(),
        reason: decision.reason.to_owned(),
        rule: decision.winner.map(|winner| winner.rule.clone()),
        source: decision.winner.map(source),
        subjects: request.subjects.iter().map(about).collect(),
        caller: None,
        input: request.input.to_string(),
    }
}

/// A call of a tool that is not offered because a rule denies it.
pub(super) fn removed(ticket: &Ticket, reason: &str) {
    let decided = Decided {
        tool: ticket.called.clone(),
        call_id: ticket.id.clone(),
        plugin: None,
        ruling: Behavior::Deny,
        by: "rules".into(),
        reason: reason.to_owned(),
        rule: None,
        source: None,
        subjects: Vec::new(),
        caller: None,
        input: ticket.raw.to_string(),
    };
    ticket.environment.audit.note(AuditEvent::Decided(decided));
}

/// A call that is about to run.
pub(super) struct Begun {
    at: Instant,
    bytes_in: u64,
}

impl Begun {
    /// Notes nothing yet, but asks whether the log can take what follows.
    pub(super) fn now(ticket: &Ticket, permit: &Permit) -> Result<Self, Failure> {
        let ready = ticket.environment.audit.ready(&ticket.id);
        ready.map_err(Failure::Host)?;
        Ok(Self {
            at: Instant::now(),
            bytes_in: permit.input().len() as u64,
        })
    }

    pub(super) fn ended(self, ticket: &Ticket, tool: &dyn Tool, result: &Result<Outcome, Failure>) {
        let (class, reason, bytes_out) = match result {
            Ok(outcome) if outcome.failed => ("failed", None, outcome.size()),
            Ok(outcome) => ("done", None, outcome.size()),
            Err(failure) => (failure.class(), Some(failure.to_string()), 0),
        };
        let called = Called {
            tool: tool.info().name.clone(),
            call_id: ticket.id.clone(),
            plugin: tool.digest().map(str::to_owned),
            class: class.to_owned(),
            reason,
            limits: tool.limits(),
            bytes_in: self.bytes_in,
            bytes_out: bytes_out as u64,
            micros: u64::try_from(self.at.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        ticket.environment.audit.note(AuditEvent::Called(called));
    }
}

fn about(subject: &Subject) -> About {
    let (kind, text) = match subject {
        Subject::Command(text) => ("command", text.clone()),
        Subject::Path(path) | Subject::Folder(path) => ("path", path.display().to_string()),
        Subject::Url(text) => ("url", text.clone()),
        Subject::Text(text) => ("text", text.clone()),
    };
    About {
        kind: kind.to_owned(),
        text,
    }
}

/// Whose rule it is, and where it stands.
fn source(winner: &Winner) -> String {
    let provenance = &winner.provenance;
    match provenance.file {
        Some(_) => format!("{} {provenance}", provenance.source.word()),
        None => provenance.source.word().to_owned(),
    }
}
