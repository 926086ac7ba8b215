//! The life of a call, in nine stages.
//!
//! `lookup → schema → input → pre_hooks → permission → call → mapping → persist →
//! post_hooks`. Each stage has a file and a type, and eats the type of the one before, so
//! that none can be left out. A failure anywhere is data: it becomes a result that
//! says so, never an error.

mod answered;
mod call;
mod granted;
mod input;
mod lookup;
mod losses;
mod mapping;
pub(crate) mod noted;
mod permission;
mod persist;
mod post_hooks;
mod pre_hooks;
mod schema;
mod traced;

use std::sync::Arc;

pub(crate) use answered::answered;
pub(crate) use permission::offered;

use serde_json::Value;
use toolbay_contract::{CallEnvironment, Failure, KillReason, Tool, ToolUse};
use toolbay_policy::Policy;
use tracing::Instrument;

use crate::begin::Begin;
use crate::dispatch::Dispatch;
use crate::hooks::HookMessage;
use crate::result::ToolResult;

/// Where in its life a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    Lookup,
    Schema,
    Input,
    PreHooks,
    Permission,
    Call,
    Mapping,
    Persist,
    PostHooks,
}

impl Stage {
    pub fn word(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Schema => "schema",
            Self::Input => "input",
            Self::PreHooks => "pre-hooks",
            Self::Permission => "permission",
            Self::Call => "call",
            Self::Mapping => "mapping",
            Self::Persist => "persist",
            Self::PostHooks => "post-hooks",
        }
    }
}

/// What a call carries through all its stages.
pub(crate) struct Ticket {
    pub(crate) id: String,
    /// The name under which it was called.
    pub(crate) called: String,
    /// The input as the model gave it.
    pub(crate) raw: Value,
    pub(crate) environment: CallEnvironment,
    /// The rules as they were when the call began.
    pub(crate) policy: Arc<Policy>,
    /// Decides who came first: the call that begins to act, or whoever ends it.
    pub(crate) begin: Begin,
    /// Texts that go to the model behind the result.
    pub(crate) notes: Vec<String>,
    pub(crate) hook_messages: Vec<HookMessage>,
    /// Why a hook wants the conversation to stop after this call.
    pub(crate) stop: Option<String>,
}

impl Ticket {
    fn new(
        block: ToolUse,
        environment: CallEnvironment,
        policy: Arc<Policy>,
        begin: Begin,
    ) -> Self {
        Self {
            id: block.id,
            called: block.name,
            raw: block.input,
            environment,
            policy,
            begin,
            notes: Vec::new(),
            hook_messages: Vec::new(),
            stop: None,
        }
    }
}

/// A call that came to its end before it had a result.
pub(crate) struct Stopped {
    pub(crate) ticket: Ticket,
    pub(crate) stage: Stage,
    pub(crate) failure: Failure,
    /// The tool and the input as they were, once they were known.
    pub(crate) known: Option<(Arc<dyn Tool>, Value)>,
}

impl Stopped {
    fn at(
        stage: Stage,
        ticket: Ticket,
        failure: Failure,
        known: Option<(Arc<dyn Tool>, Value)>,
    ) -> Box<Self> {
        Box::new(Self {
            ticket,
            stage,
            failure,
            known,
        })
    }
}

/// Runs a call through all its stages. What it asks of the session nobody has done
/// yet.
pub(crate) async fn live(
    dispatch: &Dispatch,
    given: Option<Arc<dyn Tool>>,
    block: ToolUse,
    environment: CallEnvironment,
    policy: Arc<Policy>,
    begin: Begin,
) -> ToolResult {
    let span = tracing::info_span!(
        target: "toolbay::call",
        "call",
        id = %block.id,
        tool = %block.name,
        class = tracing::field::Empty,
        stage = tracing::field::Empty,
        bytes = tracing::field::Empty,
    );
    let ticket = Ticket::new(block, environment, policy, begin);
    let lived = async {
        match act(dispatch, given, ticket).await {
            Ok(kept) => kept.post_hooks(dispatch).await,
            Err(stopped) => stopped.post_hooks(dispatch).await,
        }
    };
    let result = lived.instrument(span.clone()).await;
    span.record("class", result.class());
    span.record("bytes", result.size());
    if let Some(stage) = result.stage {
        span.record("stage", stage.word());
    }
    result
}

/// All stages but the last, which comes to every call.
async fn act(
    dispatch: &Dispatch,
    given: Option<Arc<dyn Tool>>,
    ticket: Ticket,
) -> Result<persist::Kept, Box<Stopped>> {
    let looking = async {
        match given {
            Some(tool) => lookup::take(tool, ticket).await,
            None => lookup::look_up(dispatch, ticket).await,
        }
    };
    let found = in_stage(Stage::Lookup, looking).await?;
    let shaped = in_stage(Stage::Schema, async { found.shape() }).await?;
    let reviewed = in_stage(Stage::Input, shaped.review()).await?;
    let hooked = in_stage(Stage::PreHooks, reviewed.pre_hooks(dispatch)).await?;
    let permitted = in_stage(Stage::Permission, hooked.permission(dispatch)).await?;
    let called = in_stage(Stage::Call, permitted.call(dispatch)).await?;
    let mapped = in_stage(Stage::Mapping, async { called.map(dispatch) }).await;
    Ok(in_stage(Stage::Persist, async { mapped.persist(dispatch) }).await)
}

async fn in_stage<T>(stage: Stage, work: impl Future<Output = T>) -> T {
    let span = tracing::info_span!(
        target: "toolbay::call",
        "stage",
        name = stage.word(),
        decision = tracing::field::Empty,
        rule = tracing::field::Empty,
    );
    work.instrument(span).await
}

/// Waits, unless the call is ended first. For what may be dropped half done: the
/// call itself is ended by its tool.
async fn unless_killed<T>(
    environment: &CallEnvironment,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let kill = &environment.kill;
    tokio::select! {
        biased;
        () = kill.thrown() => {
            Err(Failure::Killed(kill.reason().unwrap_or(KillReason::Cancelled)))
        }
        done = work => Ok(done),
    }
}

#[cfg(test)]
mod tests;
