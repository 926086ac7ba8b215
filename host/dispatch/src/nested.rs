//! Decides about what a call sets in motion, like about a call of its own: hooks, rules, modes, the
//! classifier and the user, with the same audit log. Only the way in is another one, because a
//! component that runs a script is in the middle of its own call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use toolbay_contract::{
    Audit, Behavior, BoxFuture, HostFailure, NestedAct, NestedDecisions, NestedRequest, Shell, View,
};
use toolbay_policy::{Decision, HookWord, Permit, Policy, Question, Request, Ruling, Stage};

use crate::approve::{Answer, Approver, GrantSummary, PermissionQuestion};
use crate::changed_hooks::ChangedHooks;
use crate::classify::{Classifier, Judgement, Situation};
use crate::dispatch::HookSetting;
use crate::hooks::{Before, HookOpinion, HookedCall, Hooks};
use crate::lifecycle::{answered, noted, offered};
use crate::rulebook::Rulebook;

/// What a session decides with.
pub(crate) struct Decider {
    pub(crate) rulebook: Arc<Rulebook>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) classifier: Option<Arc<dyn Classifier>>,
    pub(crate) hooks: Hooks,
    pub(crate) hook_setting: HookSetting,
    pub(crate) audit: Arc<dyn Audit>,
    pub(crate) shell: Option<Arc<dyn Shell>>,
    pub(crate) project: PathBuf,
}

impl NestedDecisions for Decider {
    fn decide(&self, request: NestedRequest) -> BoxFuture<'_, Result<Permit, HostFailure>> {
        Box::pin(async move {
            let permit = self.decide_act(&request).await?;
            // What the log cannot take does not happen.
            let ready = self.audit.ready(&request.call_id);
            ready.map_err(HostFailure::Unavailable)?;
            Ok(permit)
        })
    }
}

/// Something that is not decided yet.
struct Open<'a> {
    caller: &'a NestedRequest,
    request: Request,
    policy: Arc<Policy>,
}

impl Decider {
    async fn decide_act(&self, caller: &NestedRequest) -> Result<Permit, HostFailure> {
        let NestedAct::Script {
            text,
            folder,
            background,
        } = &caller.act;
        let policy = self.rulebook.current();
        let mut request = policy.script_request(caller.call_id.clone(), text, folder);
        // Where and how it runs is part of what is decided about, shown and logged.
        let input = json!({"command": text, "cwd": folder, "run_in_background": background});
        request.input = input.to_string().into();
        request.hooks = self.hook_word(caller, &policy, &request, folder).await;
        let open = Open {
            caller,
            request,
            policy,
        };
        let (decision, ruling) = open
            .policy
            .decide_nested(open.request.clone(), &caller.access);
        self.note(&open, (&ruling).into());
        match decision {
            Decision::Allow(permit) => Ok(permit),
            Decision::Deny { reason } => Err(denied(caller, &reason)),
            Decision::Ask(question) => self.settle(open, &ruling, question).await,
        }
    }

    /// What hooks say about it, as about a call of the tool that rules about commands name.
    async fn hook_word(
        &self,
        caller: &NestedRequest,
        policy: &Policy,
        request: &Request,
        folder: &Path,
    ) -> HookWord {
        if self.hooks.is_empty() {
            return HookWord::None;
        }
        let NestedAct::Script { text, .. } = &caller.act;
        let HookSetting {
            session_id,
            environment,
            cage,
        } = self.hook_setting.clone();
        let call = HookedCall {
            session_id,
            transcript: String::new(),
            cwd: folder.to_owned(),
            project: self.project.clone(),
            permission_mode: policy.mode().word().to_owned(),
            environment,
            tool: request.tool.to_string(),
            // A script is decided as the tool that runs scripts, which has one name.
            aliases: Vec::new(),
            call_id: caller.call_id.to_string(),
            input: json!({ "command": text }),
            kill: caller.kill.clone(),
            cage,
            path_rules: policy.path_rules().clone(),
        };
        let asking = ChangedHooks {
            hooks: &self.hooks,
            approver: &*self.approver,
            audit: &*self.audit,
            tool: &call.tool,
            aliases: &call.aliases,
            caller: Some(&caller.tool),
            call_id: &call.call_id,
            input: &request.input,
        };
        if let Err(reason) = asking.settle().await {
            return HookWord::Deny(reason);
        }
        let Before {
            opinion,
            updated_input,
            stop,
            ..
        } = self.hooks.before(&call).await;
        if updated_input.is_some() {
            return HookWord::Deny(
                "it wants another script in its place, and a component's script cannot be changed"
                    .into(),
            );
        }
        if let Some(reason) = stop {
            return HookWord::Deny(reason);
        }
        match opinion {
            HookOpinion::None => HookWord::None,
            HookOpinion::Allow(reason) => HookWord::Allow(reason),
            HookOpinion::Ask(reason) => HookWord::Ask(reason),
            HookOpinion::Deny(reason) => HookWord::Deny(reason),
        }
    }

    /// Finds an answer to what the policy leaves open: the classifier's first, then the user's.
    async fn settle(
        &self,
        open: Open<'_>,
        ruling: &Ruling,
        question: Question,
    ) -> Result<Permit, HostFailure> {
        if let Some(classifier) = &self.classifier {
            let situation = Situation {
                tool: open.request.tool.to_string(),
                call_id: open.caller.call_id.to_string(),
                input: serde_json::from_str(&open.request.input).unwrap_or_default(),
                working_directory: self.project.clone(),
                reason: question.reason().to_owned(),
            };
            match classifier.judge(situation).await {
                Judgement::Deny(reason) => {
                    let reason = format!("the classifier forbids it: {reason}");
                    self.note_answer(&open, Behavior::Deny, "classifier", &reason);
                    return Err(denied(open.caller, &reason));
                }
                Judgement::Allow(reason) if ruling.stage == Stage::Otherwise => {
                    let reason = format!("the classifier allows it: {reason}");
                    self.note_answer(&open, Behavior::Allow, "classifier", &reason);
                    return Ok(question.grant_because(reason));
                }
                Judgement::Allow(_) | Judgement::Unsure(_) => {}
            }
        }
        let _turn = match self.approver.queue() {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        self.ask(open, ruling, question).await
    }

    async fn ask(
        &self,
        open: Open<'_>,
        ruling: &Ruling,
        question: Question,
    ) -> Result<Permit, HostFailure> {
        let by = self.approver.who();
        let asked = self.question(&open, ruling, &question);
        let who = (&*self.approver, &*self.rulebook);
        let reason = match answered(who, &open.policy, &open.request, asked).await {
            Answer::Yes => "a user allowed it this once".to_owned(),
            Answer::Always { rules, scope, .. } => {
                if let Err(trouble) = self.rulebook.allow(&rules, scope) {
                    self.approver.tell(&trouble);
                }
                let rules = rules.join("`, `");
                format!("a user allowed it and `{rules}` ({})", scope.word())
            }
            Answer::No { reason } => {
                self.note_answer(&open, Behavior::Deny, by, &reason);
                return Err(denied(open.caller, &reason));
            }
        };
        self.note_answer(&open, Behavior::Allow, by, &reason);
        self.still_allowed(open, question)
    }

    /// Rules that came while the user thought hold for what was asked, too.
    fn still_allowed(&self, open: Open<'_>, question: Question) -> Result<Permit, HostFailure> {
        let policy = self.rulebook.current();
        if Arc::ptr_eq(&policy, &open.policy) {
            return Ok(question.grant());
        }
        let (decision, ruling) = policy.decide_nested(open.request.clone(), &open.caller.access);
        match decision {
            Decision::Allow(permit) => Ok(permit),
            Decision::Ask(question) => Ok(question.grant()),
            Decision::Deny { reason } => {
                self.note(&open, (&ruling).into());
                Err(denied(open.caller, &reason))
            }
        }
    }

    fn question(
        &self,
        open: &Open<'_>,
        ruling: &Ruling,
        question: &Question,
    ) -> PermissionQuestion {
        let Open {
            caller,
            request,
            policy,
        } = open;
        let (rules, no_rule) = offered(policy, request);
        let winner = ruling.winner.as_ref();
        PermissionQuestion {
            tool: request.tool.to_string(),
            caller: Some(caller.tool.to_string()),
            call_id: caller.call_id.to_string(),
            input: request.input.to_string(),
            reason: question.reason().to_owned(),
            asked_by: winner.map(|winner| format!("{} ({})", winner.rule, winner.provenance)),
            granted: GrantSummary::of(question.permit(), self.shell.as_deref()),
            view: View::Rows(rows(&caller.act)),
            commands: request.study.shown_parts(),
            warnings: request.study.warnings(),
            scopes: match rules.is_empty() {
                true => Vec::new(),
                false => self.rulebook.places(policy),
            },
            rules,
            no_rule,
            more_rules: Vec::new(),
            destructive: None,
        }
    }

    fn note(&self, open: &Open<'_>, decision: noted::Decision<'_>) {
        noted::decided_within(&*self.audit, open.caller, &open.request, &decision);
    }

    fn note_answer(&self, open: &Open<'_>, behavior: Behavior, by: &str, reason: &str) {
        let decision = noted::Decision {
            behavior,
            by,
            reason,
            winner: None,
        };
        self.note(open, decision);
    }
}

/// What is to run, for the approval card.
fn rows(act: &NestedAct) -> Vec<(String, String)> {
    let NestedAct::Script {
        text,
        folder,
        background,
    } = act;
    let mut rows = vec![
        ("script".to_owned(), text.clone()),
        ("in".to_owned(), folder.display().to_string()),
    ];
    if *background {
        let how = "in the background, where it goes on when the call is over";
        rows.push(("how".to_owned(), how.to_owned()));
    }
    rows
}

/// What the component is told: who ran what, and why it may not.
fn denied(caller: &NestedRequest, reason: &str) -> HostFailure {
    let NestedAct::Script { text, .. } = &caller.act;
    let shown: String = text.chars().take(200).collect();
    HostFailure::Denied(format!("{} → `{shown}`: {reason}", caller.tool))
}
