//! A plugin as the host's tool, and the act phase of its calls.

use std::sync::Arc;

use toolbay_contract::{
    Audit, AuditEvent, BoxFuture, CallEnvironment, CapabilityRequest, Content, Failure, Origin,
    Outcome, Phase, Rejection, Review, Tool, ToolInfo, Verdict, View,
};
use toolbay_policy::{Access, Claims, Permit, Reach, Trust};

use super::Plugin;
use super::instance::{Purpose, Seat};
use crate::convert;
use crate::filesystem::Fence;
use crate::json;
use crate::limits::Limits;
use crate::state::{Grade, Grant};
use crate::supervise::supervise;

impl Plugin {
    /// The act phase: the permit becomes powers.
    async fn act(&self, permit: Permit, environment: CallEnvironment) -> Result<Outcome, Failure> {
        let loaded = self.loaded().await?;
        let call_id = permit.call_id().clone();
        let kill = environment.kill.below();
        let fence = Fence::reading(environment.roots.clone(), environment.path_rules.clone())
            .with_extra_reads(permit.extra_reads().clone())
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
            power: self.power(loaded),
            environment: Some(environment),
            grant: Grant {
                access: permit.access().clone(),
                scripts: permit.scripts().to_vec(),
                outside: permit.outside().clone(),
            },
            kill: kill.clone(),
            plugin_kill: self.kill.clone(),
        };
        let mut seat = Seat::take(&self.runtime.inner, purpose).await?;
        let linked = &loaded.linked;
        let input = permit.input().to_string();
        let clock = seat.clock();
        let store = &mut seat.store;
        let work = async {
            let instance = linked.pre.instantiate_async(&mut *store).await?;
            let tool = linked.tool.load(&mut *store, &instance)?;
            tool.call_call(&mut *store, &input).await
        };
        let end = supervise(work, (&clock, self.limits.call_time()), &kill, &self.kill).await;
        let answer = seat.finish(Phase::Call, end)?;
        let log = seat.store.data().log.take();
        if !log.is_empty() {
            tracing::debug!(target: "toolbay::guest", plugin = %self.name, log);
        }
        let missed = seat.store.data().gate.missed();
        let answer = answer.map_err(|error| convert::failure(error, &kill));
        let mut outcome =
            answer
                .map(convert::outcome)
                .map_err(|failure| match missed.is_empty() {
                    true => failure,
                    false => explained(failure, &self.what_helps(loaded, &missed)),
                })?;
        if !missed.is_empty() {
            let help = self.what_helps(loaded, &missed);
            outcome.content.push(Content::Text(help));
        }
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

/// A failure with what a user can do about it.
fn explained(failure: Failure, help: &str) -> Failure {
    match failure {
        Failure::Tool {
            message,
            code,
            retryable,
        } => Failure::Tool {
            message: format!("{message}. {help}"),
            code,
            retryable,
        },
        Failure::Denied(message) => Failure::Denied(format!("{message}. {help}")),
        failure @ (Failure::InvalidInput(_)
        | Failure::Killed(_)
        | Failure::TimedOut
        | Failure::Broke { .. }
        | Failure::BadComponent { .. }
        | Failure::Host(_)) => failure,
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

    fn digest(&self) -> Option<&str> {
        self.loaded.get().map(|loaded| &*loaded.digest)
    }

    fn limits(&self) -> Vec<(String, u64)> {
        let Limits {
            memory_bytes,
            call_ms,
            output_bytes,
            ..
        } = self.limits;
        let named = [
            ("memory-bytes", memory_bytes),
            ("call-ms", call_ms),
            ("output-bytes", output_bytes),
        ];
        named.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn reach(&self) -> BoxFuture<'_, Result<Reach, Failure>> {
        Box::pin(async { Ok(self.power(self.loaded().await?)) })
    }

    fn ungranted(&self) -> BoxFuture<'_, Result<Vec<CapabilityRequest>, Failure>> {
        Box::pin(async { Ok(self.missing(self.loaded().await?)) })
    }

    fn grant_requests(&self) {
        // Whoever asked has loaded it: what is not known yet was not asked about.
        if let Some(loaded) = self.loaded.get() {
            self.grants.grant(&loaded.digest, self.requested());
        }
    }

    fn claims<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, Result<Claims, Failure>> {
        Box::pin(self.ask_claims_once(input))
    }

    fn is_at_hand(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { self.is_loaded() || Self::is_compiled(&self.runtime, &self.source).await })
    }

    fn is_enabled(&self) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(self.ask_enabled_once())
    }

    fn review<'a>(
        &'a self,
        input: &'a Arc<str>,
        environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Result<Review, Rejection>> {
        Box::pin(async {
            let mut review = self.ask_review(input, environment).await?;
            // A guest may tighten the decision, never loosen it.
            if review.verdict == Verdict::Allow && self.trust == Trust::ThirdParty {
                review.verdict = Verdict::NoOpinion;
            }
            Ok(review)
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
            match self.ask_use_view(input).await {
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
            match self.ask_result_view(input, outcome).await {
                Ok(Some(view)) => view,
                Ok(None) | Err(_) => View::Plain(outcome.text()),
            }
        })
    }

    fn render_rejected<'a>(&'a self, input: &'a Arc<str>, reason: &'a str) -> BoxFuture<'a, View> {
        Box::pin(async move {
            match self.ask_rejected_view(input, reason).await {
                Ok(Some(view)) => view,
                Ok(None) | Err(_) => View::Plain(format!("not permitted: {reason}")),
            }
        })
    }

    fn render_error<'a>(&'a self, input: &'a Arc<str>, error: &'a Failure) -> BoxFuture<'a, View> {
        Box::pin(async move {
            match self.ask_error_view(input, error).await {
                Ok(Some(view)) => view,
                Ok(None) | Err(_) => View::Plain(error.to_string()),
            }
        })
    }

    fn render_grouped<'a>(&'a self, inputs: &'a [Arc<str>]) -> BoxFuture<'a, Option<View>> {
        Box::pin(async { self.ask_grouped_view(inputs).await.unwrap_or(None) })
    }
}
