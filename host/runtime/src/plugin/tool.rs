//! The phases of a call.

use std::sync::Arc;

use toolbay_contract::{
    Audit, AuditEvent, BoxFuture, CallEnvironment, Failure, KillSwitch, Origin, Outcome, Phase,
    Rejection, Tool, ToolInfo, Verdict, View,
};
use toolbay_policy::{Access, Claims, Permit, Reach, Trust};

use super::instance::{Purpose, Seat};
use super::{Loaded, Plugin};
use crate::bindings::exports::toolbay::tool::prompt::Setting;
use crate::convert;
use crate::filesystem::Fence;
use crate::json;
use crate::state::Grade;
use crate::supervise::supervise;

impl Plugin {
    /// What a question is asked with: no files unless it may look at them.
    fn looking(&self, environment: Option<&CallEnvironment>) -> Purpose {
        let fence = match environment {
            Some(environment) => {
                Fence::reading(environment.roots.clone(), environment.path_rules.clone()).reporting(
                    environment.audit.clone(),
                    self.name.clone(),
                    "inspect".into(),
                )
            }
            None => Fence::closed(),
        };
        Purpose {
            grade: Grade::Inspect,
            plugin: self.name.clone(),
            call_id: "inspect".into(),
            limits: self.limits,
            fence,
            environment: environment.cloned(),
            kill: match environment {
                Some(environment) => environment.kill.below(),
                None => KillSwitch::new(),
            },
            plugin_kill: self.kill.clone(),
        }
    }

    async fn ask_claims(&self, loaded: &Loaded, input: &str) -> Result<Claims, Failure> {
        let input = &input.to_owned();
        let purpose = self.looking(None);
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let linked = &loaded.linked;
        let store = &mut seat.store;
        let work = async {
            let instance = linked.pre.instantiate_async(&mut *store).await?;
            let tool = linked.tool.load(&mut *store, &instance)?;
            let read_only = tool.call_is_read_only(&mut *store, input).await?;
            let concurrency_safe = tool.call_is_concurrency_safe(&mut *store, input).await?;
            let destructive = match &linked.guard {
                Some(guard) => {
                    let guard = guard.load(&mut *store, &instance)?;
                    Some(guard.call_is_destructive(&mut *store, input).await?)
                }
                None => None,
            };
            Ok(Claims {
                read_only,
                concurrency_safe,
                destructive,
            })
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        seat.finish(Phase::IsReadOnly, end)
    }

    async fn ask_claims_once(&self, input: &Arc<str>) -> Result<Claims, Failure> {
        if let Some(reason) = self.kill.reason() {
            return Err(Failure::Killed(reason));
        }
        let loaded = self.loaded().await?;
        let inner = &self.runtime.inner;
        if let Some(claims) = inner.remembered(&loaded.digest, input) {
            return Ok(claims);
        }
        match self.ask_claims(loaded, input).await {
            Ok(claims) => {
                inner.remember(&loaded.digest, input, claims);
                Ok(claims)
            }
            Err(failure @ Failure::Broke { .. }) => {
                // No answer is the strict answer.
                tracing::warn!(plugin = %self.name, %failure, "claims are taken as strict");
                Ok(Claims::STRICT)
            }
            Err(failure) => Err(failure),
        }
    }

    async fn ask_validate(
        &self,
        input: &str,
        environment: &CallEnvironment,
    ) -> Result<Option<Rejection>, Failure> {
        let loaded = self.loaded().await?;
        let Some(guard) = &loaded.linked.guard else {
            return Ok(None);
        };
        let input = &input.to_owned();
        let purpose = self.looking(Some(environment));
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let guard = guard.load(&mut *store, &instance)?;
            guard.call_validate_input(&mut *store, input).await
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        let answer = seat.finish(Phase::ValidateInput, end)?;
        Ok(answer.err().map(convert::rejection))
    }

    async fn ask_permission(
        &self,
        input: &str,
        environment: &CallEnvironment,
    ) -> Result<Verdict, Failure> {
        let loaded = self.loaded().await?;
        let Some(guard) = &loaded.linked.guard else {
            return Ok(Verdict::NoOpinion);
        };
        let input = &input.to_owned();
        let purpose = self.looking(Some(environment));
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let guard = guard.load(&mut *store, &instance)?;
            guard.call_check_permissions(&mut *store, input).await
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        Ok(convert::verdict(seat.finish(Phase::CheckPermissions, end)?))
    }

    async fn ask_enabled(&self) -> Result<bool, Failure> {
        let loaded = self.loaded().await?;
        let Some(guard) = &loaded.linked.guard else {
            return Ok(true);
        };
        let purpose = self.looking(None);
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let guard = guard.load(&mut *store, &instance)?;
            guard.call_is_enabled(&mut *store).await
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        seat.finish(Phase::IsEnabled, end)
    }

    async fn ask_prompt(&self, tools: &[String]) -> Result<Option<String>, Failure> {
        let loaded = self.loaded().await?;
        let Some(prompt) = &loaded.linked.prompt else {
            return Ok(None);
        };
        let setting = Setting {
            model: String::new(),
            tools: tools.to_vec(),
            platform: std::env::consts::OS.to_owned(),
        };
        let purpose = self.looking(None);
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let prompt = prompt.load(&mut *store, &instance)?;
            prompt.call_prompt(&mut *store, &setting).await
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        seat.finish(Phase::Prompt, end).map(Some)
    }

    async fn ask_view(
        &self,
        input: &str,
        outcome: Option<&Outcome>,
    ) -> Result<Option<View>, Failure> {
        let loaded = self.loaded().await?;
        let Some(render) = &loaded.linked.render else {
            return Ok(None);
        };
        let input = &input.to_owned();
        let outcome = outcome.map(convert::outcome_to_wire);
        let purpose = self.looking(None);
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let render = render.load(&mut *store, &instance)?;
            match &outcome {
                Some(outcome) => render.call_render_result(&mut *store, input, outcome).await,
                None => render.call_render_use(&mut *store, input).await,
            }
        };
        let end = supervise(work, self.limits.inspect_time(), &call, &self.kill).await;
        let view = seat.finish(Phase::Render, end)?;
        Ok(Some(convert::view(view)))
    }

    /// The act phase: the permit becomes powers.
    async fn act(&self, permit: Permit, environment: CallEnvironment) -> Result<Outcome, Failure> {
        let loaded = self.loaded().await?;
        let call_id = permit.call_id().clone();
        let kill = environment.kill.below();
        let fence = Fence::reading(environment.roots.clone(), environment.path_rules.clone())
            .with_extra_reads(permit.extra_reads())
            .reporting(
                environment.audit.clone(),
                self.name.clone(),
                call_id.clone(),
            );
        let (grade, fence) = match permit.access() {
            Access::ReadOnly => (Grade::ActReadOnly, fence),
            Access::ReadWrite { zones } => (Grade::Act, fence.with_zones(zones.clone())),
        };
        let purpose = Purpose {
            grade,
            plugin: self.name.clone(),
            call_id,
            limits: self.limits,
            fence,
            environment: Some(environment),
            kill: kill.clone(),
            plugin_kill: self.kill.clone(),
        };
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let linked = &loaded.linked;
        let input = permit.input().to_string();
        let store = &mut seat.store;
        let work = async {
            let instance = linked.pre.instantiate_async(&mut *store).await?;
            let tool = linked.tool.load(&mut *store, &instance)?;
            tool.call_call(&mut *store, &input).await
        };
        let end = supervise(work, self.limits.call_time(), &kill, &self.kill).await;
        let answer = seat.finish(Phase::Call, end)?;
        let log = seat.store.data().log.take();
        if !log.is_empty() {
            tracing::debug!(target: "toolbay::guest", plugin = %self.name, log);
        }
        let outcome = convert::outcome(answer.map_err(|error| convert::failure(error, &kill))?);
        self.check(&outcome).map_err(|reason| Failure::Broke {
            plugin: self.name.to_string(),
            phase: Phase::Call,
            reason,
        })?;
        Ok(outcome)
    }

    /// Whether the outcome is what the contract says, which its types cannot.
    fn check(&self, outcome: &Outcome) -> Result<(), String> {
        let size = outcome.size() as u64;
        let limit = self.limits.output_bytes;
        if size > limit {
            return Err(format!(
                "its result has {size} bytes; at most {limit} are accepted"
            ));
        }
        match &outcome.structured {
            Some(text) => json::check(text)
                .map_err(|error| format!("its structured result is not JSON: {error}")),
            None => Ok(()),
        }
    }
}

/// Tells the audit log how a call ended that did not end well.
fn note_end(audit: &dyn Audit, plugin: &str, call_id: &str, failure: &Failure) {
    match failure {
        Failure::Broke { .. } | Failure::Killed(_) | Failure::BadComponent { .. } => {
            audit.note(AuditEvent::Ended {
                plugin: plugin.to_owned(),
                call_id: call_id.to_owned(),
                class: failure.class().to_owned(),
                reason: failure.to_string(),
            });
        }
        Failure::InvalidInput(_)
        | Failure::Denied(_)
        | Failure::TimedOut
        | Failure::Tool { .. }
        | Failure::Host(_) => {}
    }
}

impl Tool for Plugin {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn trust(&self) -> Trust {
        self.trust
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn reach(&self) -> BoxFuture<'_, Result<Reach, Failure>> {
        Box::pin(async { Ok(self.loaded().await?.linked.reach) })
    }

    fn claims<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, Result<Claims, Failure>> {
        Box::pin(self.ask_claims_once(input))
    }

    fn is_enabled(&self) -> BoxFuture<'_, bool> {
        // A tool that cannot say that it is enabled is not.
        Box::pin(async { self.ask_enabled().await.unwrap_or(false) })
    }

    fn validate<'a>(
        &'a self,
        input: &'a Arc<str>,
        environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Result<(), Rejection>> {
        Box::pin(async {
            let rejection = match self.ask_validate(input, environment).await {
                Ok(None) => return Ok(()),
                Ok(Some(rejection)) => rejection,
                Err(failure) => Rejection {
                    message: failure.to_string(),
                    code: 0,
                    ask_user: false,
                },
            };
            Err(rejection)
        })
    }

    fn check_permissions<'a>(
        &'a self,
        input: &'a Arc<str>,
        environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            let verdict = self
                .ask_permission(input, environment)
                .await
                .unwrap_or_else(|failure| Verdict::Ask(failure.to_string()));
            match (verdict, self.trust) {
                // A guest may tighten the decision, never loosen it.
                (Verdict::Allow, Trust::ThirdParty) => Verdict::NoOpinion,
                (verdict, Trust::BuiltIn | Trust::ThirdParty) => verdict,
            }
        })
    }

    fn call(
        &self,
        permit: Permit,
        environment: CallEnvironment,
    ) -> BoxFuture<'_, Result<Outcome, Failure>> {
        Box::pin(async {
            let call_id = permit.call_id().clone();
            let audit = environment.audit.clone();
            let done = self.act(permit, environment).await;
            if let Err(failure) = &done {
                note_end(&*audit, &self.name, &call_id, failure);
            }
            done
        })
    }

    fn prompt<'a>(&'a self, tools: &'a [String]) -> BoxFuture<'a, String> {
        Box::pin(async {
            match self.ask_prompt(tools).await {
                Ok(Some(text)) => text,
                Ok(None) | Err(_) => self.info.summary.clone(),
            }
        })
    }

    fn render_use<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, View> {
        Box::pin(async move {
            match self.ask_view(input, None).await {
                Ok(Some(view)) => view,
                Ok(None) | Err(_) => View::Plain(format!("{} {input}", self.name)),
            }
        })
    }

    fn render_result<'a>(
        &'a self,
        input: &'a Arc<str>,
        outcome: &'a Outcome,
    ) -> BoxFuture<'a, View> {
        Box::pin(async move {
            match self.ask_view(input, Some(outcome)).await {
                Ok(Some(view)) => view,
                Ok(None) | Err(_) => View::Plain(outcome.text()),
            }
        })
    }
}
