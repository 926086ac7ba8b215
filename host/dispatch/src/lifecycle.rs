//! The life of a call.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::RwLock as Gate;
use toolbay_contract::{
    AuditEvent, CallEnvironment, Failure, KillReason, KillSwitch, Modifier, Outcome, Role,
    SeenFile, Tool, ToolUse, Verdict,
};
use toolbay_policy::{Claims, Decision, Opinion, Permit, Policy, Request, Rule, Subject, Trust};

use crate::approve::{Answer, Approver, PermissionQuestion};
use crate::registry::Registry;
use crate::result::ToolResult;
use crate::subjects::{real_path, subjects};

/// How much of a dropped wish goes into the audit log; a tool may wish at length.
const LONGEST_WISH: usize = 200;

/// What a dispatch is made of.
pub struct Setting {
    pub registry: Registry,
    pub policy: Policy,
    pub environment: CallEnvironment,
    pub approver: Arc<dyn Approver>,
}

/// Runs calls of one session.
pub struct Dispatch {
    registry: Registry,
    policy: Policy,
    environment: CallEnvironment,
    approver: Arc<dyn Approver>,
    working_directory: RwLock<PathBuf>,
    /// Calls that may run beside others share it, the rest hold it alone.
    gate: Gate<()>,
}

impl Dispatch {
    pub fn new(setting: Setting) -> Self {
        Self {
            working_directory: RwLock::new(setting.environment.working_directory.clone()),
            registry: setting.registry,
            policy: setting.policy,
            environment: setting.environment,
            approver: setting.approver,
            gate: Gate::new(()),
        }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// To add tools before the first call.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Whether the call may run beside others. A claim counts where it is
    /// enforced: a call that cannot write disturbs nobody; a claim to write safely
    /// is believed of built-ins alone.
    pub async fn runs_beside_others(&self, block: &ToolUse) -> bool {
        let Some(found) = self.registry.find(&block.name) else {
            return false;
        };
        let input: Arc<str> = block.input.to_string().into();
        match found.tool.claims(&input).await {
            Ok(claims) => is_shared(claims, found.tool.trust()),
            Err(_) => false,
        }
    }

    /// Runs one call to its result.
    pub async fn run(&self, block: ToolUse, kill: KillSwitch) -> ToolResult {
        let (id, name) = (block.id.clone(), block.name.clone());
        let done = self.try_run(block, kill).await;
        ToolResult::of(id, name, done)
    }

    async fn try_run(&self, block: ToolUse, kill: KillSwitch) -> Result<Outcome, Failure> {
        let tool = self.look_up(&block.name)?;
        let input: Arc<str> = block.input.to_string().into();
        let environment = CallEnvironment {
            kill,
            working_directory: self.working_directory(),
            ..self.environment.clone()
        };
        let asking = self.ask(&*tool, &block, &input, &environment);
        let (claims, permit) = unless_killed(&environment.kill, asking).await?;
        let outcome = self.call(&*tool, claims, permit, environment).await?;
        Ok(self.apply_modifiers(&*tool, &block.id, outcome))
    }

    /// All that comes before the call: claims, validation, permission.
    async fn ask(
        &self,
        tool: &dyn Tool,
        block: &ToolUse,
        input: &Arc<str>,
        environment: &CallEnvironment,
    ) -> Result<(Claims, Permit), Failure> {
        let claims = tool.claims(input).await?;
        let verdict = match tool.review(input, environment).await {
            Ok(verdict) => verdict,
            Err(rejection) => return Err(Failure::InvalidInput(rejection.message)),
        };
        let permit = self
            .permission(tool, block, input, claims, verdict, environment)
            .await?;
        Ok((claims, permit))
    }

    fn look_up(&self, name: &str) -> Result<Arc<dyn Tool>, Failure> {
        match self.registry.find(name) {
            Some(found) => Ok(found.tool),
            None => Err(Failure::InvalidInput(format!(
                "there is no tool called {name}; there are: {}",
                self.registry.names().join(", ")
            ))),
        }
    }

    async fn permission(
        &self,
        tool: &dyn Tool,
        block: &ToolUse,
        input: &Arc<str>,
        claims: Claims,
        verdict: Verdict,
        environment: &CallEnvironment,
    ) -> Result<Permit, Failure> {
        let info = tool.info();
        let opinion = match verdict {
            // Even a built-in's allow is no more than silence: rules decide.
            Verdict::NoOpinion | Verdict::Allow => Opinion::None,
            Verdict::Ask(reason) => Opinion::Ask(reason),
            Verdict::Deny(reason) => Opinion::Deny(reason),
        };
        let request = Request {
            call_id: block.id.as_str().into(),
            tool: info.name.as_str().into(),
            input: input.clone(),
            subjects: subjects(&info.subjects, &block.input, &environment.working_directory),
            claims,
            reach: tool.reach().await?,
            opinion,
        };
        let suggested_rule = suggested_rule(&request);
        let permit = match self.policy.decide(request) {
            Decision::Allow(permit) => permit,
            Decision::Deny { reason } => return Err(self.denied(tool, block, reason)),
            Decision::Ask(question) => {
                let asked = PermissionQuestion {
                    tool: info.name.clone(),
                    call_id: block.id.clone(),
                    input: input.to_string(),
                    reason: question.reason().to_owned(),
                    access: question.would_grant().clone(),
                    view: tool.render_use(input).await,
                    suggested_rule,
                    destructive: claims.destructive,
                };
                match self.approver.ask(asked).await {
                    Answer::Yes => question.grant(),
                    Answer::No { reason } => return Err(self.denied(tool, block, reason)),
                }
            }
        };
        environment.audit.note(AuditEvent::Permitted {
            plugin: info.name.clone(),
            call_id: block.id.clone(),
            reason: permit.reason().to_owned(),
        });
        Ok(permit)
    }

    fn denied(&self, tool: &dyn Tool, block: &ToolUse, reason: String) -> Failure {
        self.environment.audit.note(AuditEvent::Denied {
            plugin: tool.info().name.clone(),
            call_id: block.id.clone(),
            reason: reason.clone(),
        });
        Failure::Denied(reason)
    }

    /// The one place that calls a tool.
    async fn call(
        &self,
        tool: &dyn Tool,
        claims: Claims,
        permit: Permit,
        environment: CallEnvironment,
    ) -> Result<Outcome, Failure> {
        let kill = environment.kill.clone();
        if is_shared(claims, tool.trust()) {
            let turn = async { Ok(self.gate.read().await) };
            let _beside_others = unless_killed(&kill, turn).await?;
            tool.call(permit, environment).await
        } else {
            let turn = async { Ok(self.gate.write().await) };
            let _alone = unless_killed(&kill, turn).await?;
            tool.call(permit, environment).await
        }
    }

    /// Applies what the call asks of the session, and drops what only a trusted
    /// tool may ask.
    fn apply_modifiers(&self, tool: &dyn Tool, call_id: &str, mut outcome: Outcome) -> Outcome {
        let trusted = tool.trust() == Trust::BuiltIn;
        let dropped = |what: String| {
            self.environment.audit.note(AuditEvent::ModifierDropped {
                plugin: tool.info().name.clone(),
                call_id: call_id.to_owned(),
                modifier: what.chars().take(LONGEST_WISH).collect(),
            });
        };
        outcome.modifiers.retain(|modifier| {
            let kept = trusted || !modifier.loosens();
            if !kept {
                dropped(format!("{modifier:?}"));
            }
            kept
        });
        outcome.messages.retain(|message| {
            let kept = trusted || message.role != Role::System;
            if !kept {
                dropped("a message that speaks as the system".into());
            }
            kept
        });
        for modifier in &outcome.modifiers {
            match modifier {
                Modifier::FileSeen(seen) => {
                    let file = SeenFile {
                        digest: seen.digest.clone(),
                        whole: seen.whole,
                        shown: seen.shown.clone(),
                    };
                    self.environment
                        .session
                        .note_seen(PathBuf::from(&seen.path), file);
                }
                Modifier::WorkingDirectory(path) => self.change_directory(path),
                // Their consumers come with the parts that own them.
                Modifier::PermissionMode(_)
                | Modifier::AllowRule(_)
                | Modifier::LoadTools(_)
                | Modifier::Custom { .. } => {}
            }
        }
        outcome
    }

    fn change_directory(&self, path: &str) {
        let real = real_path(&self.working_directory().join(path));
        let inside = self
            .environment
            .roots
            .iter()
            .any(|root| real.starts_with(root));
        if inside && real.is_dir() {
            *self
                .working_directory
                .write()
                .unwrap_or_else(PoisonError::into_inner) = real;
        }
    }

    fn working_directory(&self) -> PathBuf {
        self.working_directory
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The narrowest rule that would cover the call.
fn suggested_rule(request: &Request) -> String {
    let tool = &request.tool;
    match request.subjects.as_slice() {
        [Subject::Path(path)] => Rule::text_for_path(tool, path),
        [Subject::Command(text) | Subject::Text(text)] => format!("{tool}({text})"),
        _ => tool.to_string(),
    }
}

/// Waits, unless the call is ended first. For what may be dropped half done: the
/// call itself is ended by its tool.
async fn unless_killed<T>(
    kill: &KillSwitch,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = kill.thrown() => {
            Err(Failure::Killed(kill.reason().unwrap_or(KillReason::Cancelled)))
        }
        done = work => done,
    }
}

fn is_shared(claims: Claims, trust: Trust) -> bool {
    claims.concurrency_safe
        && match trust {
            Trust::BuiltIn => true,
            Trust::ThirdParty => claims.read_only,
        }
}
