//! From a `tool_use` block to a `tool_result`.
//!
//! One way down for every call, whatever tool it names: nine stages, one executor that
//! decides which calls run beside each other, results that fit. `run` never fails: a
//! failure is a result that says so. Nothing here knows a tool by name.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod approve;
mod begin;
mod changed_hooks;
mod classify;
mod denials;
mod dispatch;
mod executor;
pub mod fingerprint;
mod gate;
pub mod hooks;
mod lifecycle;
mod links;
mod nested;
mod pool;
mod result;
pub mod results;
mod rulebook;
mod schema;
mod subjects;
#[cfg(test)]
mod testing;
mod unknown;
mod watch;

pub use approve::{
    Answer, Approver, GrantSummary, Nobody, PermissionQuestion, RuleOrigin, RuleScope,
};
pub use classify::{Classifier, Judgement, Situation};
pub use dispatch::{Dispatch, HookSetting, Setting};
pub use executor::{Budget, DEFAULT_CAP, Event, Events, Executor, TurnSetting, run_batch};
pub use lifecycle::Stage;
pub use links::links_on_disk;
pub use pool::{Compiled, Found, LazySchema, Newcomers, Pool, PoolSetting};
pub use result::ToolResult;
pub use results::Results;
pub use rulebook::{Keeper, Rulebook, Unchanging};
pub use schema::{Schema, Shaped, nearest};
pub use subjects::{path_subject, real_path};
pub use unknown::unknown_tool;
