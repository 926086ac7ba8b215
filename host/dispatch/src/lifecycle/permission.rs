//! Stage five: whether the call may run. Without a permit nothing does.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{AuditEvent, Failure, Tool, Verdict};
use toolbay_policy::{Claims, Decision, Opinion, Permit, Request, Rule, Subject};

use super::pre_hooks::Hooked;
use super::{Stage, Stopped, Ticket, traced, unless_killed};
use crate::approve::{Answer, PermissionQuestion};
use crate::dispatch::Dispatch;

/// A call that may run.
pub(crate) struct Permitted {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Value,
    pub(super) claims: Claims,
    pub(super) permit: Permit,
}

impl Hooked {
    pub(crate) async fn permission(self, dispatch: &Dispatch) -> Result<Permitted, Box<Stopped>> {
        match unless_killed(&self.ticket.environment, self.decide(dispatch)).await {
            Ok(Ok(permit)) => Ok(Permitted {
                ticket: self.ticket,
                tool: self.tool,
                input: self.checked.input,
                claims: self.checked.claims,
                permit,
            }),
            Ok(Err(failure)) | Err(failure) => {
                let known = Some((self.tool, self.checked.input));
                Err(Stopped::at(Stage::Permission, self.ticket, failure, known))
            }
        }
    }

    async fn decide(&self, dispatch: &Dispatch) -> Result<Permit, Failure> {
        let info = self.tool.info();
        let review = &self.checked.review;
        let request = Request {
            call_id: self.ticket.id.as_str().into(),
            tool: info.name.as_str().into(),
            input: self.checked.text.clone(),
            subjects: self.subjects.clone(),
            claims: self.checked.claims,
            reach: self.tool.reach().await?,
            opinion: match review.verdict.clone() {
                // Even a built-in's allow is no more than silence: rules decide.
                Verdict::NoOpinion | Verdict::Allow => Opinion::None,
                Verdict::Ask(reason) => Opinion::Ask(reason),
                Verdict::Deny(reason) => Opinion::Deny(reason),
            },
            hooks: self.word.clone(),
            study: self.study.clone(),
        };
        let suggested_rule = suggested_rule(&request);
        let permit = match dispatch.policy().decide(request) {
            Decision::Allow(permit) => permit,
            Decision::Deny { reason } => return Err(self.denied(dispatch, reason)),
            Decision::Ask(question) => {
                let asked = PermissionQuestion {
                    tool: info.name.clone(),
                    call_id: self.ticket.id.clone(),
                    input: self.checked.text.to_string(),
                    reason: question.reason().to_owned(),
                    access: question.would_grant().clone(),
                    view: self.tool.render_use(&self.checked.text).await,
                    suggested_rule,
                    more_rules: review.suggested_rules.clone(),
                    destructive: self.checked.claims.destructive,
                };
                match dispatch.approver().ask(asked).await {
                    Answer::Yes => question.grant(),
                    Answer::No { reason } => return Err(self.denied(dispatch, reason)),
                }
            }
        };
        traced::permitted(permit.reason());
        dispatch.denials().permitted(&info.name);
        self.ticket.environment.audit.note(AuditEvent::Permitted {
            plugin: info.name.clone(),
            call_id: self.ticket.id.clone(),
            reason: permit.reason().to_owned(),
        });
        Ok(permit)
    }

    fn denied(&self, dispatch: &Dispatch, reason: String) -> Failure {
        let name = &self.tool.info().name;
        traced::denied(&reason);
        self.ticket.environment.audit.note(AuditEvent::Denied {
            plugin: name.clone(),
            call_id: self.ticket.id.clone(),
            reason: reason.clone(),
        });
        Failure::Denied(match dispatch.denials().denied(name) {
            Some(advice) => format!("{reason}. {advice}"),
            None => reason,
        })
    }
}

/// The narrowest rule that would cover the call.
fn suggested_rule(request: &Request) -> String {
    let tool = &request.tool;
    match request.subjects.as_slice() {
        [Subject::Path(path)] => Rule::text_for_path(tool, path),
        [Subject::Command(text)] => Rule::text_for_command(tool, text),
        [Subject::Text(text)] => format!("{tool}({text})"),
        _ => tool.to_string(),
    }
}
