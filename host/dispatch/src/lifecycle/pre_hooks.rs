//! Stage four: what hooks say before the call, and beside them what its commands
//! do.

use std::sync::Arc;

use toolbay_contract::{Failure, Tool};
use toolbay_policy::{CallSubjects, Decision, HookWord, Opinion, Request, Study};

use super::input::{Checked, Reviewed, check};
use super::schema::shape;
use super::{Stage, Stopped, Ticket, unless_killed};
use crate::changed_hooks::ChangedHooks;
use crate::classify::{Judging, Situation};
use crate::dispatch::Dispatch;
use crate::hooks::HookOpinion;
use crate::subjects::{asks_of_the_cage, subjects};

/// A call about which hooks have spoken.
pub(crate) struct Hooked {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) checked: Checked,
    pub(super) found: CallSubjects,
    pub(super) study: Study,
    pub(super) word: HookWord,
    /// What the classifier makes of it, if it is asked.
    pub(super) judging: Option<Judging>,
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
            subjects(declared, &checked.input, cwd, checked.claims)
        };
        let studied = |ticket: &Ticket, found: &CallSubjects| -> Study {
            let cwd = &ticket.environment.working_directory;
            ticket.policy.study(&found.subjects, cwd)
        };
        let mut found = taken(&ticket, &checked);
        let asking = ChangedHooks {
            hooks: dispatch.hooks(),
            approver: dispatch.approver(),
            audit: &*ticket.environment.audit,
            tool: &tool.info().name,
            aliases: &tool.info().aliases,
            caller: None,
            call_id: ticket.id.as_str(),
            input: &checked.text,
        };
        let settled = unless_killed(&ticket.environment, asking.settle()).await;
        if let Err(failure) = settled.and_then(|it| it.map_err(Failure::Denied)) {
            let known = Some((tool.clone(), checked.input));
            return Err(Stopped::at(Stage::PreHooks, ticket, failure, known));
        }
        let hooks = dispatch.before(&ticket, &*tool, &checked.input);
        let hooks = unless_killed(&ticket.environment, hooks);
        let looking = async {
            let study = studied(&ticket, &found);
            let judging = judging(dispatch, &ticket, &*tool, &checked, &found, &study).await;
            (study, judging)
        };
        let (before, (mut study, judging)) = tokio::join!(hooks, looking);
        let stop = |ticket, failure, input| {
            Stopped::at(
                Stage::PreHooks,
                ticket,
                failure,
                Some((tool.clone(), input)),
            )
        };
        let mut before = match before {
            Ok(before) => before,
            Err(failure) => return Err(stop(ticket, failure, checked.input)),
        };
        ticket.hook_messages.append(&mut before.messages);
        ticket.notes.append(&mut before.context);
        ticket.stop = before.stop.take();
        let mut opinion = std::mem::take(&mut before.opinion);

        // What a hook puts in place of the input is no more trusted than the input.
        if let Some(updated) = before.updated_input.take() {
            let seen = checked.input.clone();
            let shaped = match shape(&*tool, &schema, updated) {
                Ok(shaped) => shaped,
                Err(failure) => return Err(stop(ticket, by_a_hook(failure), checked.input)),
            };
            let written = shaped.clone();
            checked = match check(&*tool, &schema, shaped, &ticket.environment).await {
                Ok(checked) => checked,
                Err(failure) => return Err(stop(ticket, by_a_hook(failure), checked.input)),
            };
            // A hook's allow is about what it wrote, not about what the tool makes of that.
            if checked.input != written && matches!(opinion, HookOpinion::Allow(_)) {
                opinion = HookOpinion::None;
            }
            found = taken(&ticket, &checked);
            study = studied(&ticket, &found);
            // Who guards must know what will run, and not what somebody wanted at first.
            if checked.input != seen {
                let again = dispatch.before_again(&ticket, &*tool, &checked.input, &before);
                let again = match unless_killed(&ticket.environment, again).await {
                    Ok(again) => again,
                    Err(failure) => return Err(stop(ticket, failure, checked.input)),
                };
                ticket.hook_messages.extend(again.messages);
                let known = ticket.notes.clone();
                let news = again.context.into_iter();
                ticket
                    .notes
                    .extend(news.filter(|note| !known.contains(note)));
                ticket.stop = ticket.stop.take().or(again.stop);
                opinion = opinion.and(again.opinion);
            }
        }
        Ok(Hooked {
            ticket,
            tool,
            checked,
            found,
            study,
            judging,
            word: match opinion {
                HookOpinion::None => HookWord::None,
                HookOpinion::Allow(reason) => HookWord::Allow(reason),
                HookOpinion::Ask(reason) => HookWord::Ask(reason),
                HookOpinion::Deny(reason) => HookWord::Deny(reason),
            },
        })
    }
}

/// Asks the classifier, if there is one and a person would have to be asked without it.
async fn judging(
    dispatch: &Dispatch,
    ticket: &Ticket,
    tool: &dyn Tool,
    checked: &Checked,
    found: &CallSubjects,
    study: &Study,
) -> Option<Judging> {
    let classifier = dispatch.classifier()?;
    let request = Request {
        call_id: ticket.id.as_str().into(),
        tool: tool.info().name.as_str().into(),
        input: checked.text.clone(),
        subjects: found.subjects.clone(),
        aliases: found.aliases.clone(),
        claims: checked.claims,
        reach: tool.reach().await.ok()?,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: asks_of_the_cage(tool.info(), &checked.input),
        study: study.clone(),
    };
    let Decision::Ask(question) = ticket.policy.decide(request) else {
        return None;
    };
    let situation = Situation {
        tool: tool.info().name.clone(),
        call_id: ticket.id.clone(),
        input: checked.input.clone(),
        working_directory: ticket.environment.working_directory.clone(),
        reason: question.reason().to_owned(),
    };
    Some(Judging::start(classifier, checked.text.clone(), situation))
}

fn by_a_hook(failure: Failure) -> Failure {
    match failure {
        Failure::InvalidInput(problem) => Failure::InvalidInput(format!(
            "a hook changed the input, and what it made of it is refused: {problem}"
        )),
        failure => failure,
    }
}
