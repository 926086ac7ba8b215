//! A tool of a server as a tool of this host: the same stages, budgets and log as any other.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{
    Access, BoxFuture, CallEnvironment, Claims, Failure, KillReason, Origin, Outcome, Permit,
    Reach, Rejection, Review, Tool, ToolInfo, Trust, Verdict, View,
};

use super::definition::{Definition, Kind};
use super::launch::Instance;
use super::link::{CallError, Conversation};
use super::memory::ToolKey;
use super::remote::Remote;
use super::result::{outcome, prompt_outcome, resource_outcome};

/// A foreign tool.
pub(super) struct ForeignTool {
    remote: Arc<Remote>,
    definition: Arc<Definition>,
    origin: Origin,
}

impl ForeignTool {
    pub(super) fn new(remote: Arc<Remote>, definition: Arc<Definition>) -> Self {
        let origin = Origin::Server(remote.config.name.clone());
        Self {
            remote,
            definition,
            origin,
        }
    }

    pub(super) fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// Hints are claims. That a call only reads counts where it cannot do anything else, or where
    /// the person trusts the server; that it warns of itself always counts.
    fn judged(&self) -> Claims {
        let hints = self.definition.hints;
        let is_believed = self.remote.config.trusted || self.remote.has_reading_instance();
        let warns = hints.destructive == Some(true);
        let read_only = hints.read_only == Some(true) && is_believed && !warns;
        Claims {
            read_only,
            concurrency_safe: read_only,
            destructive: match (read_only, hints.destructive) {
                (true, _) => Some(false),
                (false, Some(true)) => Some(true),
                (false, _) => None,
            },
        }
    }

    /// Under what its description is remembered: a prompt and a tool may have one name.
    fn key(&self) -> ToolKey {
        let original = &self.definition.original;
        self.remote.key(&match self.definition.kind {
            Kind::Tool => original.clone(),
            Kind::Prompt => format!("prompt {original}"),
            Kind::Resource => "resources".into(),
        })
    }

    async fn run(
        &self,
        permit: &Permit,
        environment: &CallEnvironment,
    ) -> Result<Outcome, Failure> {
        let input: Value = serde_json::from_str(permit.input())
            .map_err(|error| Failure::Host(format!("the input is no JSON: {error}")))?;
        let Value::Object(arguments) = input else {
            return Err(Failure::InvalidInput("the input must be an object".into()));
        };
        // What was granted decides, not what was claimed.
        let instance = match permit.access() {
            Access::ReadOnly => self.remote.reader(),
            Access::ReadWrite { .. } => Instance::Main,
        };
        let link = tokio::select! {
            link = self.remote.link(instance) => link.map_err(unavailable)?,
            () = environment.kill.thrown() => return Err(killed(environment)),
        };
        let with = Conversation {
            call_id: permit.call_id(),
            progress: environment.progress.clone(),
            kill: &environment.kill,
            timeout: self.remote.config.timeout,
        };
        let original = &self.definition.original;
        let called = match self.definition.kind {
            Kind::Tool => {
                let called = link.call(original, arguments, &with).await;
                called.map(outcome)
            }
            Kind::Prompt => {
                let told = link.prompt(original, arguments, &with).await;
                told.map(prompt_outcome)
            }
            Kind::Resource => {
                let uri = arguments.get("uri").and_then(Value::as_str);
                let read = link.read(uri.unwrap_or_default(), &with).await;
                read.map(resource_outcome)
            }
        };
        let name = &self.remote.config.name;
        called.map_err(|error| match error {
            CallError::Killed => killed(environment),
            CallError::TimedOut(limit) => Failure::Tool {
                message: format!(
                    "the MCP server `{name}` gave no sign of life for {} s, so the call was given \
                     up; `timeout` in its configuration changes that",
                    limit.as_secs_f32()
                ),
                code: Some("timeout".into()),
                retryable: true,
            },
            CallError::Gone(why) => {
                self.remote.note_gone(&why);
                Failure::Tool {
                    message: format!(
                        "the MCP server `{name}` ended during the call, which may have had an \
                         effect: {why}"
                    ),
                    code: Some("gone".into()),
                    retryable: true,
                }
            }
            CallError::NeedsAuth(why) => unavailable(self.remote.note_needs_auth(&why)),
            CallError::Refused(why) => Failure::Tool {
                message: format!("the MCP server `{name}` says: {why}"),
                code: None,
                retryable: false,
            },
        })
    }
}

fn unavailable(message: String) -> Failure {
    Failure::Tool {
        message,
        code: Some("unavailable".into()),
        retryable: true,
    }
}

fn killed(environment: &CallEnvironment) -> Failure {
    let reason = environment.kill.reason();
    Failure::Killed(reason.unwrap_or(KillReason::Cancelled))
}

impl Tool for ForeignTool {
    fn info(&self) -> &ToolInfo {
        &self.definition.info
    }

    fn trust(&self) -> Trust {
        Trust::ThirdParty
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn limits(&self) -> Vec<(String, u64)> {
        let timeout = self.remote.config.timeout.as_millis();
        vec![(
            "timeout_ms".into(),
            u64::try_from(timeout).unwrap_or(u64::MAX),
        )]
    }

    fn reach(&self) -> BoxFuture<'_, Result<Reach, Failure>> {
        Box::pin(async { Ok(Reach::ALL) })
    }

    fn claims<'a>(&'a self, _input: &'a Arc<str>) -> BoxFuture<'a, Result<Claims, Failure>> {
        Box::pin(async { Ok(self.judged()) })
    }

    fn is_enabled(&self) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(async { Ok(true) })
    }

    /// A tool that is described otherwise than when it was last used is another tool.
    fn review<'a>(
        &'a self,
        _input: &'a Arc<str>,
        _environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Result<Review, Rejection>> {
        Box::pin(async {
            let key = self.key();
            let before = self.remote.memory.recall(&key);
            let changed = before.and_then(|before| before.difference(&self.definition.described));
            Ok(match changed {
                None => Review::SILENT,
                Some(difference) => Review {
                    verdict: Verdict::Ask(format!(
                        "the MCP server `{}` has changed this tool since it was last used: \
                         {difference}",
                        self.remote.config.name
                    )),
                    ..Review::SILENT
                },
            })
        })
    }

    fn call(
        &self,
        permit: Permit,
        environment: CallEnvironment,
    ) -> BoxFuture<'_, Result<Outcome, Failure>> {
        Box::pin(async move {
            // Whoever permitted the call has seen what the tool is now.
            let key = self.key();
            self.remote
                .memory
                .remember(&key, &self.definition.described);
            self.run(&permit, &environment).await
        })
    }

    fn prompt<'a>(&'a self, _tools: &'a [String]) -> BoxFuture<'a, String> {
        Box::pin(async { self.definition.info.summary.clone() })
    }

    fn render_use<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, View> {
        Box::pin(async move {
            let server = &self.remote.config.name;
            let tool = super::text::clean(&self.definition.original, 100);
            View::Plain(format!("{tool} of the MCP server {server}: {input}"))
        })
    }

    fn render_result<'a>(
        &'a self,
        _input: &'a Arc<str>,
        outcome: &'a Outcome,
    ) -> BoxFuture<'a, View> {
        Box::pin(async { View::Plain(outcome.text()) })
    }
}
