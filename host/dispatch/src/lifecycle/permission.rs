//! Stage five: whether the call may run. Without a permit nothing does.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{Behavior, Failure, Tool, Verdict};
use toolbay_policy::{
    Claims, Decision, Opinion, Outside, Permit, Policy, Question, Request, RuleAdvice, Ruling,
    Stage as Step,
};

use super::answered::answered;
use super::losses::Losses;
use super::noted;
use super::pre_hooks::Hooked;
use super::traced::{self, By};
use super::{Stage, Stopped, Ticket, unless_killed};
use crate::approve::{Answer, GrantSummary, PermissionQuestion};
use crate::classify::{Judgement, Judging};
use crate::denials::Counsel;
use crate::dispatch::Dispatch;
use crate::subjects::asks_of_the_cage;

/// A call that may run.
pub(crate) struct Permitted {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Value,
    pub(super) claims: Claims,
    pub(super) permit: Permit,
}

/// Why a call may not run, and whether the conversation should end over it.
struct Refused {
    failure: Failure,
    stop: Option<String>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            stop: None,
        }
    }
}

impl Hooked {
    pub(crate) async fn permission(
        mut self,
        dispatch: &Dispatch,
    ) -> Result<Permitted, Box<Stopped>> {
        let judging = self.judging.take();
        let decided = self.decide(dispatch, judging);
        let refused = match unless_killed(&self.ticket.environment, decided).await {
            Ok(Ok(permit)) => {
                return Ok(Permitted {
                    ticket: self.ticket,
                    tool: self.tool,
                    input: self.checked.input,
                    claims: match permit.outside() {
                        Outside::Nothing => self.checked.claims,
                        // What runs outside the cage runs beside nothing.
                        Outside::Asked(_) | Outside::Excluded(_) => Claims::STRICT,
                    },
                    permit,
                });
            }
            Ok(Err(refused)) => refused,
            Err(killed) => killed.into(),
        };
        let mut ticket = self.ticket;
        ticket.stop = ticket.stop.or(refused.stop);
        let known = Some((self.tool, self.checked.input));
        Err(Stopped::at(
            Stage::Permission,
            ticket,
            refused.failure,
            known,
        ))
    }

    async fn decide(
        &self,
        dispatch: &Dispatch,
        judging: Option<Judging>,
    ) -> Result<Permit, Refused> {
        self.ensure_granted(dispatch).await?;
        let request = self.request().await?;
        let (decision, ruling) = self.ticket.policy.decide_and_say(request.clone());
        noted::decided(&self.ticket, &*self.tool, &request, (&ruling).into());
        match decision {
            Decision::Allow(permit) => Ok(self.permitted(dispatch, By::Policy, &ruling, permit)),
            Decision::Deny { reason } => Err(self.denied(dispatch, &request, &ruling, reason)),
            Decision::Ask(question) => {
                let open = Open {
                    request,
                    ruling,
                    question,
                };
                self.settle(dispatch, judging, open).await
            }
        }
    }

    /// The call as the policy sees it.
    pub(super) async fn request(&self) -> Result<Request, Failure> {
        Ok(Request {
            call_id: self.ticket.id.as_str().into(),
            tool: self.tool.info().name.as_str().into(),
            input: self.checked.text.clone(),
            subjects: self.found.subjects.clone(),
            aliases: self.found.aliases.clone(),
            claims: self.checked.claims,
            reach: self.tool.reach().await?,
            opinion: match self.checked.review.verdict.clone() {
                // Even a built-in's allow is no more than silence: rules decide.
                Verdict::NoOpinion | Verdict::Allow => Opinion::None,
                Verdict::Ask(reason) => Opinion::Ask(reason),
                Verdict::Deny(reason) => Opinion::Deny(reason),
            },
            hooks: self.word.clone(),
            cage: asks_of_the_cage(self.tool.info(), &self.checked.input),
            study: self.study.clone(),
        })
    }

    /// Finds an answer to what the policy leaves open: the classifier's first, then a person's.
    async fn settle(
        &self,
        dispatch: &Dispatch,
        judging: Option<Judging>,
        open: Open,
    ) -> Result<Permit, Refused> {
        // What a hook made of the input was not judged.
        let judging = judging.filter(|judging| judging.input == self.checked.text);
        let judgement = match judging {
            Some(judging) => judging.judgement().await,
            None => Judgement::Unsure(String::new()),
        };
        let by = "classifier";
        match judgement {
            Judgement::Deny(reason) => {
                let reason = format!("the classifier forbids it: {reason}");
                self.note_answer(&open, Behavior::Deny, by, &reason);
                return Err(self.denied(dispatch, &open.request, &open.ruling, reason));
            }
            // Rules, hooks and hard limits that want a person to decide mean a person.
            Judgement::Allow(reason) if open.ruling.stage == Step::Otherwise => {
                let reason = format!("the classifier allows it: {reason}");
                self.note_answer(&open, Behavior::Allow, by, &reason);
                let permit = open.question.grant_because(reason);
                return Ok(self.permitted(dispatch, By::Classifier, &open.ruling, permit));
            }
            Judgement::Allow(_) | Judgement::Unsure(_) => {}
        }
        let _turn = match dispatch.approver().queue() {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        self.ask(dispatch, open).await
    }

    async fn ask(&self, dispatch: &Dispatch, mut open: Open) -> Result<Permit, Refused> {
        // While it waited for its turn, an answer or an edit may have made it needless.
        let policy = dispatch.rulebook().current();
        if !Arc::ptr_eq(&policy, &self.ticket.policy) {
            let (decision, ruling) = policy.decide_and_say(open.request.clone());
            noted::decided(&self.ticket, &*self.tool, &open.request, (&ruling).into());
            open.question = match decision {
                Decision::Ask(question) => question,
                Decision::Allow(permit) => {
                    return Ok(self.permitted(dispatch, By::Policy, &ruling, permit));
                }
                Decision::Deny { reason } => {
                    return Err(self.denied(dispatch, &open.request, &ruling, reason));
                }
            };
            open.ruling = ruling;
        }
        let asked = self.question(dispatch, &policy, &open).await;
        let by = dispatch.approver().who();
        let who = (dispatch.approver(), dispatch.rulebook());
        let reason = match answered(who, &policy, &open.request, asked).await {
            Answer::Yes => "a person allowed it this once".to_owned(),
            Answer::Always { rules, scope, .. } => {
                if let Err(trouble) = dispatch.rulebook().allow(&rules, scope) {
                    dispatch.approver().tell(&trouble);
                }
                format!(
                    "a person allowed it and `{}` ({})",
                    rules.join("`, `"),
                    scope.word()
                )
            }
            Answer::No { reason } => {
                self.note_answer(&open, Behavior::Deny, by, &reason);
                return Err(self.denied(dispatch, &open.request, &open.ruling, reason));
            }
        };
        self.note_answer(&open, Behavior::Allow, by, &reason);
        // Rules that came while the user thought hold for what was asked, too.
        let now = dispatch.rulebook().current();
        if Arc::ptr_eq(&now, &policy) {
            let permit = open.question.grant();
            return Ok(self.permitted(dispatch, By::Person, &open.ruling, permit));
        }
        let (decision, ruling) = now.decide_and_say(open.request.clone());
        let permit = match decision {
            Decision::Allow(permit) => permit,
            Decision::Ask(question) => question.grant(),
            Decision::Deny { reason } => {
                noted::decided(&self.ticket, &*self.tool, &open.request, (&ruling).into());
                return Err(self.denied(dispatch, &open.request, &ruling, reason));
            }
        };
        Ok(self.permitted(dispatch, By::Person, &ruling, permit))
    }

    async fn question(
        &self,
        dispatch: &Dispatch,
        policy: &Policy,
        open: &Open,
    ) -> PermissionQuestion {
        let (rules, no_rule) = offered(policy, &open.request);
        let losses = Losses::of(self.checked.claims, &self.found.subjects, &self.study);
        let winner = open.ruling.winner.as_ref();
        PermissionQuestion {
            tool: self.tool.info().name.clone(),
            caller: None,
            call_id: self.ticket.id.clone(),
            input: self.checked.text.to_string(),
            reason: open.question.reason().to_owned(),
            asked_by: winner.map(|winner| format!("{} ({})", winner.rule, winner.provenance)),
            granted: GrantSummary::of(
                open.question.permit(),
                self.ticket.environment.powers.shell.as_deref(),
            ),
            view: self.tool.render_use(&self.checked.text).await,
            commands: self.study.shown_parts(),
            warnings: policy
                .cage_warning(&open.request)
                .map(str::to_owned)
                .into_iter()
                .chain(losses.warnings)
                .collect(),
            scopes: match rules.is_empty() {
                true => Vec::new(),
                false => dispatch.rulebook().places(policy),
            },
            rules,
            no_rule,
            more_rules: self.checked.review.suggested_rules.clone(),
            destructive: losses.destructive,
        }
    }

    fn note_answer(&self, open: &Open, behavior: Behavior, by: &str, reason: &str) {
        let decision = noted::Decision {
            behavior,
            by,
            reason,
            winner: None,
        };
        noted::decided(&self.ticket, &*self.tool, &open.request, decision);
    }

    fn permitted(&self, dispatch: &Dispatch, by: By, ruling: &Ruling, permit: Permit) -> Permit {
        traced::permitted(by, ruling);
        dispatch.denials().permitted(&self.tool.info().name);
        permit
    }

    fn denied(
        &self,
        dispatch: &Dispatch,
        request: &Request,
        ruling: &Ruling,
        reason: String,
    ) -> Refused {
        traced::denied(ruling);
        let name = &self.tool.info().name;
        match dispatch.denials().denied(name, &request.input) {
            Counsel::Nothing => Failure::Denied(reason).into(),
            Counsel::Advice(advice) => Failure::Denied(format!("{reason}. {advice}")).into(),
            Counsel::Stop(why) => Refused {
                failure: Failure::Denied(format!("{reason}. The conversation stops: {why}")),
                stop: Some(why),
            },
        }
    }
}

/// Rules that would spare the question, or why there are none.
pub(crate) fn offered(policy: &Policy, request: &Request) -> (Vec<String>, Option<String>) {
    match policy.advice(request) {
        RuleAdvice::Rules(rules) => (rules, None),
        RuleAdvice::NoRule(why) => (Vec::new(), Some(why)),
    }
}

/// What the policy leaves open.
struct Open {
    request: Request,
    ruling: Ruling,
    question: Question,
}
