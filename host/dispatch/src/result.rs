//! What goes back to the model.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolbay_contract::{Content, Failure, Outcome};

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
    /// The outcome behind a success, for rendering.
    pub outcome: Option<Outcome>,
}

impl ToolResult {
    pub(crate) fn of(id: String, tool: String, done: Result<Outcome, Failure>) -> Self {
        match done {
            Ok(outcome) => {
                let mut content = outcome.content.clone();
                let empty = content.iter().all(|block| block.size() == 0);
                if empty {
                    content = vec![Content::Text(format!("({tool} completed with no output)"))];
                }
                Self {
                    id,
                    tool,
                    content,
                    structured: outcome.structured.clone(),
                    is_error: outcome.failed,
                    failure: None,
                    outcome: Some(outcome),
                }
            }
            Err(failure) => Self {
                id,
                tool,
                content: vec![Content::Text(failure.to_string())],
                structured: None,
                is_error: true,
                failure: Some(failure),
                outcome: None,
            },
        }
    }

    /// The text blocks, one below the other.
    pub fn text(&self) -> String {
        Content::texts(&self.content)
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
