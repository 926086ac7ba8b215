//! What a tool is to the host, whether a component, an MCP server's or another.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use toolbay_policy::{Claims, Permit, Reach, Trust};

use crate::audit::Audit;
use crate::failure::Failure;
use crate::grants::CapabilityRequest;
use crate::info::ToolInfo;
use crate::kill::KillSwitch;
use crate::nested::NestedDecisions;
use crate::outcome::Outcome;
use crate::powers::Powers;
use crate::rules_now::RulesNow;
use crate::session::Session;
use crate::view::View;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A complete `tool_use` block.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    pub input: serde_json::Value,
}

/// Something to show while a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    Text(String),
    Output(Vec<u8>),
    Percent(u8),
    Custom {
        kind: String,
        json: String,
    },
    /// A line of the tool's log, for whoever listens to logs.
    Log {
        level: LogLevel,
        text: String,
    },
    /// The tool said more than it may; the rest was dropped.
    Dropped,
}

/// How much a line of a log matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// Where progress goes, at once. Called on the guest's path: keep it short.
pub type ProgressSink = Arc<dyn Fn(&str, Progress) + Send + Sync>;

/// The session around a call: what all calls of it share.
#[derive(Clone)]
pub struct CallEnvironment {
    /// Real paths: absolute, links resolved.
    pub roots: Arc<[PathBuf]>,
    pub working_directory: PathBuf,
    pub path_rules: RulesNow,
    pub session: Arc<Session>,
    pub powers: Powers,
    /// Who decides about what a call sets in motion; without one nothing is.
    pub nested: Option<Arc<dyn NestedDecisions>>,
    pub audit: Arc<dyn Audit>,
    pub progress: ProgressSink,
    pub kill: KillSwitch,
}

/// Why an input is refused before anything runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub message: String,
    pub code: u32,
    pub ask_user: bool,
}

/// The tool's own word on permission, as it said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No opinion, or an `allow` from a plugin that nobody vouches for.
    NoOpinion,
    Allow,
    Ask(String),
    Deny(String),
}

/// What a tool answers when it is shown an input before the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub verdict: Verdict,
    /// The input to run instead, as JSON; to be checked and decided about anew.
    pub updated_input: Option<String>,
    /// Rules that would cover the call, for a prompt to offer.
    pub suggested_rules: Vec<String>,
}

impl Review {
    /// What a tool without an opinion says.
    pub const SILENT: Self = Self {
        verdict: Verdict::NoOpinion,
        updated_input: None,
        suggested_rules: Vec::new(),
    };
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    File(PathBuf),
    /// An MCP server of this name.
    Server(String),
}

/// A tool. None of these functions fails the host: a broken tool is an answer.
pub trait Tool: Send + Sync {
    fn info(&self) -> &ToolInfo;
    fn trust(&self) -> Trust;
    fn origin(&self) -> &Origin;
    /// The digest of the component, for the log of what was done; none if it is no component.
    fn digest(&self) -> Option<&str> {
        None
    }
    /// The limits of a call by name, for the same log.
    fn limits(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
    /// What the tool can use: what its component imports, requests and was granted.
    fn reach(&self) -> BoxFuture<'_, Result<Reach, Failure>>;
    /// What the tool's component requests and does not have: somebody must grant it first.
    fn ungranted(&self) -> BoxFuture<'_, Result<Vec<CapabilityRequest>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Grants what it requests as long as the session.
    fn grant_requests(&self) {}
    /// The claims about this input; strict when the tool does not answer.
    fn claims<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, Result<Claims, Failure>>;
    /// Whether the tool makes sense here at all. One that breaks over the question
    /// does not, and the failure says how.
    fn is_enabled(&self) -> BoxFuture<'_, Result<bool, Failure>>;

    /// Whether it can be asked without compiling it.
    fn is_at_hand(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { true })
    }
    /// Checks what a schema cannot say, and gives the tool's opinion on permission:
    /// both are questions about the same input with the same powers, so one
    /// look answers both.
    fn review<'a>(
        &'a self,
        input: &'a Arc<str>,
        environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Result<Review, Rejection>>;
    /// Does the work. The input is the permit's.
    fn call(
        &self,
        permit: Permit,
        environment: CallEnvironment,
    ) -> BoxFuture<'_, Result<Outcome, Failure>>;
    /// How to use the tool, for the model.
    fn prompt<'a>(&'a self, tools: &'a [String]) -> BoxFuture<'a, String>;
    /// How the call looks to people, before it runs.
    fn render_use<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, View>;
    /// How the result looks to people.
    fn render_result<'a>(
        &'a self,
        input: &'a Arc<str>,
        outcome: &'a Outcome,
    ) -> BoxFuture<'a, View>;
    /// How a call looks that was not permitted.
    fn render_rejected<'a>(&'a self, _input: &'a Arc<str>, reason: &'a str) -> BoxFuture<'a, View> {
        Box::pin(async move { View::Plain(format!("not permitted: {reason}")) })
    }
    /// How a call looks that broke.
    fn render_error<'a>(&'a self, _input: &'a Arc<str>, error: &'a Failure) -> BoxFuture<'a, View> {
        Box::pin(async move { View::Plain(error.to_string()) })
    }
    /// How several calls in a row look as one, if the tool can say so.
    fn render_grouped<'a>(&'a self, _inputs: &'a [Arc<str>]) -> BoxFuture<'a, Option<View>> {
        Box::pin(async { None })
    }
}
