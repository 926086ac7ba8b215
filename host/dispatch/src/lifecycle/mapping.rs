//! Stage seven: from what the tool says to what the model gets.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{AuditEvent, Content, Modifier, Outcome, Role, Tool};
use toolbay_policy::Trust;

use super::Ticket;
use super::call::Called;
use crate::dispatch::Dispatch;

/// How much of a dropped wish goes into the audit log; a tool may wish at length.
const LONGEST_WISH: usize = 200;

/// A call whose result has the form of one.
pub(crate) struct Mapped {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Value,
    pub(super) content: Vec<Content>,
    pub(super) outcome: Outcome,
}

impl Called {
    pub(crate) fn map(self, dispatch: &Dispatch) -> Mapped {
        let Self {
            mut ticket,
            tool,
            input,
            claims,
            mut outcome,
        } = self;
        drop_what_only_the_trusted_may_ask(&ticket, &*tool, &mut outcome);
        if !claims.read_only {
            let own: Vec<&str> = outcome
                .modifiers
                .iter()
                .filter_map(|modifier| match modifier {
                    Modifier::FileSeen(seen) => Some(seen.path.as_str()),
                    _ => None,
                })
                .collect();
            ticket
                .notes
                .extend(dispatch.watch().changed_by_others(&own));
        }
        let mut content = outcome.content.clone();
        // Some models take an empty result for the end of the conversation.
        if content.iter().all(|block| block.size() == 0) {
            let name = &tool.info().name;
            content = vec![Content::Text(format!("({name} completed with no output)"))];
        }
        Mapped {
            ticket,
            tool,
            input,
            content,
            outcome,
        }
    }
}

fn drop_what_only_the_trusted_may_ask(ticket: &Ticket, tool: &dyn Tool, outcome: &mut Outcome) {
    if tool.trust() == Trust::BuiltIn {
        return;
    }
    let dropped = |what: String| {
        ticket.environment.audit.note(AuditEvent::ModifierDropped {
            plugin: tool.info().name.clone(),
            call_id: ticket.id.clone(),
            modifier: what.chars().take(LONGEST_WISH).collect(),
        });
    };
    outcome.modifiers.retain(|modifier| {
        let kept = !modifier.loosens();
        if !kept {
            dropped(format!("{modifier:?}"));
        }
        kept
    });
    outcome.messages.retain(|message| {
        let kept = message.role != Role::System;
        if !kept {
            dropped("a message that speaks as the system".into());
        }
        kept
    });
}
