//! Servers that want the model to write something (sampling): only if their entry says that they
//! may, only during a call of theirs, and only so much.
// Deprecated in the newest protocol; older servers use it.
#![allow(deprecated)]

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{CreateMessageRequestParams, CreateMessageResult};
use serde_json::Value;
use toolbay_contract::BoxFuture;

use super::bounds;

/// What a server wants written, in the protocol's words.
#[derive(Debug, Clone)]
pub struct Sampling {
    pub server: String,
    /// The call during which it asks.
    pub call_id: String,
    /// The parameters of `sampling/createMessage`.
    pub params: Value,
}

/// Somebody who has a model.
pub trait Sampler: Send + Sync {
    /// The result of `sampling/createMessage`, or why there is none.
    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Value, String>>;
}

/// How often each call has used the model.
#[derive(Default)]
pub(super) struct Used(Mutex<HashMap<String, usize>>);

impl Used {
    /// Counts once more, unless the call has had its share.
    pub(super) fn one_more(&self, call_id: &str) -> bool {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = used.entry(call_id.to_owned()).or_default();
        *count += 1;
        *count <= bounds::SAMPLES
    }

    /// The call has ended.
    pub(super) fn forget(&self, call_id: &str) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.remove(call_id);
    }
}

/// What may be passed on of a server's wish: other servers' context is nobody's business, and
/// tools that it names would run outside of every rule.
pub(super) fn bounded(mut params: CreateMessageRequestParams) -> Result<Value, String> {
    params.meta = None;
    params.include_context = None;
    params.metadata = None;
    if params.tools.take().is_some_and(|tools| !tools.is_empty()) {
        return Err("it wants the model to use tools of its own, which is not allowed".into());
    }
    params.tool_choice = None;
    params.max_tokens = params.max_tokens.min(bounds::SAMPLE_TOKENS);
    serde_json::to_value(params).map_err(|error| error.to_string())
}

/// Reads what came back.
pub(super) fn written(value: Value) -> Result<CreateMessageResult, String> {
    serde_json::from_value(value)
        .map_err(|error| format!("what the model's owner sent is no message: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(more: Value) -> Result<Value, String> {
        let mut params = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            "maxTokens": 4_000_000_000_u32, "includeContext": "allServers",
            "metadata": {"x": 1}, "systemPrompt": "s",
        });
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bounded(serde_json::from_value(params).unwrap())
    }

    #[test]
    fn a_wish_is_cut_to_what_a_server_may_wish() {
        let params = asked(json!({})).unwrap();
        assert_eq!(params["maxTokens"], bounds::SAMPLE_TOKENS);
        assert_eq!(params["systemPrompt"], "s");
        for gone in ["includeContext", "metadata", "tools", "toolChoice", "_meta"] {
            assert_eq!(params.get(gone), None, "{gone}");
        }
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        let refused = asked(json!({"tools": [tool]})).unwrap_err();
        assert!(refused.contains("tools of its own"), "{refused}");
        assert!(asked(json!({"tools": []})).is_ok());
    }

    #[test]
    fn each_call_has_its_share() {
        let used = Used::default();
        for _ in 0..bounds::SAMPLES {
            assert!(used.one_more("a"));
        }
        assert!(!used.one_more("a"));
        assert!(used.one_more("b"));
        used.forget("a");
        assert!(used.one_more("a"));
    }
}
