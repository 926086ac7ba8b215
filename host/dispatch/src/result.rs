//! What goes back to the model.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolbay_contract::{Content, Failure, KillReason, Outcome};

use crate::hooks::HookMessage;
use crate::lifecycle::Stage;

/// The result of one call. There is always one.
#[derive(Debug, Clone)]
pub struct ToolResult {
    pub id: String,
    pub tool: String,
    pub content: Vec<Content>,
    pub structured: Option<String>,
    pub is_error: bool,
    /// The failure behind an error, for programs.
    pub failure: Option<Failure>,
    /// Where in its life the call failed.
    pub stage: Option<Stage>,
    /// The file with the whole result, if the model got a part of it.
    pub persisted: Option<PathBuf>,
    pub hook_messages: Vec<HookMessage>,
    /// Why a hook wants the conversation to stop here.
    pub stop: Option<String>,
    /// The outcome behind a call that ran, for rendering and for the session.
    pub outcome: Option<Outcome>,
}

impl ToolResult {
    /// The result of a call that was given up before it had one of its own.
    pub(crate) fn made_up(id: String, tool: String, text: String) -> Self {
        Self {
            id,
            tool,
            content: vec![Content::Text(text)],
            structured: None,
            is_error: true,
            failure: Some(Failure::Killed(KillReason::Cancelled)),
            stage: None,
            persisted: None,
            hook_messages: Vec::new(),
            stop: None,
            outcome: None,
        }
    }

    /// The text blocks, one below the other.
    pub fn text(&self) -> String {
        Content::texts(&self.content)
    }

    /// The same for people: a failure without the marks that tell a model what it is.
    pub fn sentence(&self) -> String {
        match &self.failure {
            Some(failure) if self.stage.is_some() => failure.to_string(),
            Some(_) | None => self.text(),
        }
    }

    /// A stable word for telemetry: no paths, no contents.
    pub fn class(&self) -> &'static str {
        match &self.failure {
            Some(failure) => failure.class(),
            None if self.is_error => "failed",
            None => "ok",
        }
    }

    /// Bytes that the model gets.
    pub fn size(&self) -> usize {
        self.content.iter().map(Content::size).sum()
    }

    /// The block as the Messages API has it.
    pub fn to_block(&self) -> Value {
        let content: Vec<Value> = self
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => json!({"type": "text", "text": text}),
                Content::Image(blob) => json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": blob.mime, "data": STANDARD.encode(&blob.data)},
                }),
                Content::Document(blob) => json!({
                    "type": "document",
                    "source": {"type": "base64", "media_type": blob.mime, "data": STANDARD.encode(&blob.data)},
                }),
                Content::Link(link) => json!({"type": "text", "text": format!("{}: {}", link.name, link.uri)}),
            })
            .collect();
        json!({
            "type": "tool_result",
            "tool_use_id": self.id,
            "content": content,
            "is_error": self.is_error,
        })
    }
}

/// What the model reads about a failure. What is wrong with the use of a tool is
/// marked, so that it is not taken for the tool's own output; a denial is a person's
/// or a rule's word, and stands as it is.
pub(crate) fn error_text(stage: Stage, failure: &Failure) -> String {
    let marked = |text: String| format!("<tool_use_error>{text}</tool_use_error>");
    match (stage, failure) {
        (Stage::Lookup, Failure::InvalidInput(sentence)) => {
            marked(format!("No such tool available: {sentence}"))
        }
        (_, Failure::InvalidInput(problem)) => marked(format!("InputValidationError: {problem}")),
        (_, Failure::Denied(reason)) => format!("Permission denied: {reason}"),
        (_, Failure::Tool { message, .. }) => marked(message.clone()),
        (_, failure) => marked(format!("Error: {failure}")),
    }
}
