//! Stage nine: what hooks say after the call, good or bad; and the result.

use serde_json::{Value, json};
use toolbay_contract::{Content, Failure};

use super::persist::Kept;
use super::{Stage, Stopped, Ticket, in_stage};
use crate::dispatch::Dispatch;
use crate::hooks::{After, Ending};
use crate::result::{ToolResult, error_text};

impl Kept {
    pub(crate) async fn post_hooks(self, dispatch: &Dispatch) -> ToolResult {
        let Self {
            mut ticket,
            tool,
            input,
            mut content,
            persisted,
            outcome,
        } = self;
        let ending = || {
            if outcome.failed {
                Ending::Failure {
                    error: Content::texts(&content),
                    interrupted: false,
                }
            } else {
                Ending::Success {
                    response: response(&content, outcome.structured.as_deref()),
                }
            }
        };
        let hooks = dispatch.after(&ticket, &*tool, &input, ending);
        let after = in_stage(Stage::PostHooks, hooks).await;
        let output = take(&mut ticket, after);
        // Only what comes from elsewhere may be rewritten; a tool of ours has its
        // result mapped already, and what it did stays said.
        if let (Some(output), true) = (output, tool.info().name.starts_with("mcp__")) {
            content = vec![Content::Text(match output {
                Value::String(text) => text,
                other => other.to_string(),
            })];
        }
        content.extend(ticket.notes.into_iter().map(Content::Text));
        ToolResult {
            id: ticket.id,
            tool: tool.info().name.clone(),
            content,
            structured: outcome.structured.clone(),
            is_error: outcome.failed,
            failure: None,
            stage: None,
            persisted,
            hook_messages: ticket.hook_messages,
            stop: ticket.stop,
            outcome: Some(outcome),
        }
    }
}

impl Stopped {
    pub(crate) async fn post_hooks(self, dispatch: &Dispatch) -> ToolResult {
        let Self {
            mut ticket,
            stage,
            failure,
            known,
        } = self;
        let mut name = ticket.called.clone();
        if let Some((known, input)) = known {
            name.clone_from(&known.info().name);
            // Only a call that ran has failed in the eyes of a hook.
            if stage == Stage::Call {
                let ending = || Ending::Failure {
                    error: failure.to_string(),
                    interrupted: matches!(failure, Failure::Killed(_)),
                };
                let hooks = dispatch.after(&ticket, &*known, &input, ending);
                let after = in_stage(Stage::PostHooks, hooks).await;
                take(&mut ticket, after);
            }
        }
        let mut content = vec![Content::Text(error_text(stage, &failure))];
        content.extend(ticket.notes.into_iter().map(Content::Text));
        ToolResult {
            id: ticket.id,
            tool: name,
            content,
            structured: None,
            is_error: true,
            failure: Some(failure),
            stage: Some(stage),
            persisted: None,
            hook_messages: ticket.hook_messages,
            stop: ticket.stop,
            outcome: None,
        }
    }
}

/// Takes over what hooks said, and hands back the output that they would rather
/// have.
fn take(ticket: &mut Ticket, after: After) -> Option<Value> {
    ticket.hook_messages.extend(after.messages);
    ticket.notes.extend(after.context);
    ticket.notes.extend(
        after
            .feedback
            .into_iter()
            .map(|text| format!("A hook says after the call: {text}")),
    );
    ticket.stop = ticket.stop.take().or(after.stop);
    after.updated_output
}

/// The result as hooks get it: what the tool has for programs, else its text.
fn response(content: &[Content], structured: Option<&str>) -> Value {
    structured
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| json!({"content": Content::texts(content)}))
}
