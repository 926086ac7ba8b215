//! Stage four: what hooks say before the call, and beside them what its commands
//! do.

use std::sync::Arc;

use toolbay_contract::Tool;
use toolbay_policy::{HookWord, Study, Subject};

use super::input::{Checked, Reviewed, check};
use super::schema::shape;
use super::{Stage, Stopped, Ticket, unless_killed};
use crate::dispatch::Dispatch;
use crate::hooks::{Before, HookOpinion};
use crate::subjects::subjects;

/// A call about which hooks have spoken.
pub(crate) struct Hooked {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) checked: Checked,
    pub(super) subjects: Vec<Subject>,
    pub(super) study: Study,
    pub(super) word: HookWord,
}

impl Reviewed {
    pub(crate) async fn pre_hooks(self, dispatch: &Dispatch) -> Result<Hooked, Box<Stopped>> {
        let Self {
            mut ticket,
            tool,
            schema,
            mut checked,
        } = self;
        let taken = |ticket: &Ticket, checked: &Checked| {
            let declared = &tool.info().subjects;
            let cwd = &ticket.environment.working_directory;
            subjects(declared, &checked.input, cwd)
        };
        let studied = |ticket: &Ticket, found: &[Subject]| -> Study {
            let cwd = &ticket.environment.working_directory;
            dispatch.policy().study(found, cwd)
        };
        let mut found = taken(&ticket, &checked);
        let hooks = dispatch.before(&ticket, &*tool, &checked.input);
        let hooks = unless_killed(&ticket.environment, hooks);
        let (before, mut study) = tokio::join!(hooks, async { studied(&ticket, &found) });
        let stop = |ticket, failure, input| {
            Stopped::at(
                Stage::PreHooks,
                ticket,
                failure,
                Some((tool.clone(), input)),
            )
        };
        let Before {
            opinion,
            updated_input,
            context,
            stop: stops,
            messages,
        } = match before {
            Ok(before) => before,
            Err(failure) => return Err(stop(ticket, failure, checked.input)),
        };
        ticket.hook_messages.extend(messages);
        ticket.notes.extend(context);
        ticket.stop = stops;

        // What a hook puts in place of the input is no more trusted than the input.
        if let Some(updated) = updated_input {
            let shaped = match shape(&*tool, &schema, updated) {
                Ok(shaped) => shaped,
                Err(failure) => return Err(stop(ticket, by_a_hook(failure), checked.input)),
            };
            checked = match check(&*tool, &schema, shaped, &ticket.environment).await {
                Ok(checked) => checked,
                Err(failure) => return Err(stop(ticket, by_a_hook(failure), checked.input)),
            };
            found = taken(&ticket, &checked);
            study = studied(&ticket, &found);
        }
        Ok(Hooked {
            ticket,
            tool,
            checked,
            subjects: found,
            study,
            word: match opinion {
                HookOpinion::None => HookWord::None,
                HookOpinion::Allow(reason) => HookWord::Allow(reason),
                HookOpinion::Ask(reason) => HookWord::Ask(reason),
                HookOpinion::Deny(reason) => HookWord::Deny(reason),
            },
        })
    }
}

fn by_a_hook(failure: toolbay_contract::Failure) -> toolbay_contract::Failure {
    use toolbay_contract::Failure;

    match failure {
        Failure::InvalidInput(problem) => Failure::InvalidInput(format!(
            "a hook changed the input, and what it made of it is refused: {problem}"
        )),
        failure => failure,
    }
}
