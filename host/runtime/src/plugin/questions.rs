//! What a tool is asked before, and about, its calls.
//!
//! Each question goes to a fresh inspect instance: no powers, a stopped clock, a
//! short deadline. An interface that is absent is the strict default.

use std::sync::Arc;

use toolbay_contract::{
    CallEnvironment, Failure, KillSwitch, Outcome, Phase, Rejection, Review, Verdict, View,
};
use toolbay_policy::Claims;

use super::instance::{Purpose, Seat};
use super::{Loaded, Plugin};
use crate::bindings::exports::toolbay::tool::prompt::Setting;
use crate::clock::CallClock;
use crate::convert;
use crate::filesystem::Fence;
use crate::state::{Grade, Grant};
use crate::supervise::supervise;

/// Puts one question. A macro and no function, because every interface has a type of
/// its own, and what is asked borrows the store.
macro_rules! ask {
    ($plugin:ident, $loaded:ident, $indices:ident, $phase:expr, $environment:expr,
     |$guest:ident, $store:ident| $question:expr) => {{
        let purpose = $plugin.looking($loaded, $environment);
        let call = purpose.kill.clone();
        let mut seat = Seat::take(&$plugin.runtime.inner, purpose).await?;
        let $store = &mut seat.store;
        let work = async {
            let instance = $loaded.linked.pre.instantiate_async(&mut *$store).await?;
            let $guest = $indices.load(&mut *$store, &instance)?;
            $question.await
        };
        let limit = $plugin.limits.inspect_time();
        let end = supervise(work, (&CallClock::start(), limit), &call, &$plugin.kill).await;
        seat.finish($phase, end)?
    }};
}

/// Lets the tool draw; `None` from the function around it if it cannot.
macro_rules! draw {
    ($plugin:ident, |$guest:ident, $store:ident| $question:expr) => {{
        let loaded = $plugin.loaded().await?;
        let Some(render) = &loaded.linked.render else {
            return Ok(None);
        };
        ask!(
            $plugin,
            loaded,
            render,
            Phase::Render,
            None,
            |$guest, $store| $question
        )
    }};
}

impl Plugin {
    /// What a question is asked with: no files unless it may look at them.
    fn looking(&self, loaded: &Loaded, environment: Option<&CallEnvironment>) -> Purpose {
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
            power: self.power(loaded),
            environment: environment.cloned(),
            grant: Grant::default(),
            kill: match environment {
                Some(environment) => environment.kill.below(),
                None => KillSwitch::new(),
            },
            plugin_kill: self.kill.clone(),
        }
    }

    async fn ask_claims(&self, loaded: &Loaded, input: &str) -> Result<Claims, Failure> {
        let input = &input.to_owned();
        let purpose = self.looking(loaded, None);
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
        let limit = self.limits.inspect_time();
        let end = supervise(work, (&CallClock::start(), limit), &call, &self.kill).await;
        seat.finish(Phase::IsReadOnly, end)
    }

    pub(super) async fn ask_claims_once(&self, input: &Arc<str>) -> Result<Claims, Failure> {
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

    /// Whether the input is valid, and what the tool thinks of permission. A tool
    /// that breaks in the first has refused the input, one that breaks in the second
    /// wants a person to decide.
    pub(super) async fn ask_review(
        &self,
        input: &str,
        environment: &CallEnvironment,
    ) -> Result<Review, Rejection> {
        let loaded = self.loaded().await.map_err(broken)?;
        let Some(guard) = &loaded.linked.guard else {
            return Ok(Review::SILENT);
        };
        let input = &input.to_owned();
        let purpose = self.looking(loaded, Some(environment));
        let call = purpose.kill.clone();
        let limit = self.limits.inspect_time();
        let taking = Seat::take(&self.runtime.inner, purpose);
        let mut seat = taking.await.map_err(broken)?;

        let store = &mut seat.store;
        let work = async {
            let instance = loaded.linked.pre.instantiate_async(&mut *store).await?;
            let guest = guard.load(&mut *store, &instance)?;
            let answer = guest.call_validate_input(&mut *store, input).await?;
            Ok((guest, answer))
        };
        let end = supervise(work, (&CallClock::start(), limit), &call, &self.kill).await;
        let (guest, answer) = seat.finish(Phase::ValidateInput, end).map_err(broken)?;
        answer.map_err(convert::rejection)?;

        let asking = guest.call_check_permissions(&mut seat.store, input);
        let end = supervise(asking, (&CallClock::start(), limit), &call, &self.kill).await;
        Ok(match seat.finish(Phase::CheckPermissions, end) {
            Ok(verdict) => convert::review(verdict),
            Err(failure) => Review {
                verdict: Verdict::Ask(failure.to_string()),
                ..Review::SILENT
            },
        })
    }

    pub(super) async fn ask_enabled_once(&self) -> Result<bool, Failure> {
        let loaded = self.loaded().await?;
        let asking = loaded.enabled.get_or_try_init(|| self.ask_enabled(loaded));
        asking.await.copied()
    }

    async fn ask_enabled(&self, loaded: &Loaded) -> Result<bool, Failure> {
        let Some(guard) = &loaded.linked.guard else {
            return Ok(true);
        };
        Ok(ask!(
            self,
            loaded,
            guard,
            Phase::IsEnabled,
            None,
            |guest, store| guest.call_is_enabled(&mut *store)
        ))
    }

    pub(super) async fn ask_prompt(&self, tools: &[String]) -> Result<Option<String>, Failure> {
        let loaded = self.loaded().await?;
        let Some(prompt) = &loaded.linked.prompt else {
            return Ok(None);
        };
        let setting = Setting {
            model: String::new(),
            tools: tools.to_vec(),
            platform: std::env::consts::OS.to_owned(),
        };
        Ok(Some(ask!(
            self,
            loaded,
            prompt,
            Phase::Prompt,
            None,
            |guest, store| guest.call_prompt(&mut *store, &setting)
        )))
    }

    pub(super) async fn ask_use_view(&self, input: &str) -> Result<Option<View>, Failure> {
        let input = &input.to_owned();
        let view = draw!(self, |guest, store| {
            guest.call_render_use(&mut *store, input)
        });
        Ok(Some(convert::view(view)))
    }

    pub(super) async fn ask_result_view(
        &self,
        input: &str,
        outcome: &Outcome,
    ) -> Result<Option<View>, Failure> {
        let input = &input.to_owned();
        let outcome = &convert::outcome_to_wire(outcome);
        let view = draw!(self, |guest, store| {
            guest.call_render_result(&mut *store, input, outcome)
        });
        Ok(Some(convert::view(view)))
    }

    pub(super) async fn ask_rejected_view(
        &self,
        input: &str,
        reason: &str,
    ) -> Result<Option<View>, Failure> {
        let (input, reason) = (&input.to_owned(), &reason.to_owned());
        let view = draw!(self, |guest, store| {
            guest.call_render_rejected(&mut *store, input, reason)
        });
        Ok(Some(convert::view(view)))
    }

    pub(super) async fn ask_error_view(
        &self,
        input: &str,
        error: &Failure,
    ) -> Result<Option<View>, Failure> {
        let input = &input.to_owned();
        let error = &convert::failure_to_wire(error);
        let view = draw!(self, |guest, store| {
            guest.call_render_error(&mut *store, input, error)
        });
        Ok(Some(convert::view(view)))
    }

    pub(super) async fn ask_grouped_view(
        &self,
        inputs: &[Arc<str>],
    ) -> Result<Option<View>, Failure> {
        let inputs: &[String] = &inputs.iter().map(ToString::to_string).collect::<Vec<_>>();
        let view = draw!(self, |guest, store| {
            guest.call_render_grouped(&mut *store, inputs)
        });
        Ok(view.map(convert::view))
    }
}

fn broken(failure: Failure) -> Rejection {
    Rejection {
        message: failure.to_string(),
        code: 0,
        ask_user: false,
    }
}
