//! Tools as others are told of them: a model's list, and an MCP client's.

use serde_json::{Map, Value, json};
use toolbay_contract::ToolInfo;

use super::Pool;

/// The annotations that MCP knows as booleans; all others are texts.
const HINTS: &[&str] = &[
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

impl Pool {
    /// The definitions that a Messages API takes. Loading a tool adds to their end and
    /// moves nothing, so what a model's cache holds of them stays good.
    pub fn messages_definitions(&self) -> Vec<Value> {
        let tools = self.tools();
        let always = tools.iter().filter(|tool| !tool.info().deferred);
        let mut all: Vec<Value> = always.map(|tool| for_messages(tool.info())).collect();
        // One whose server is gone is no longer there.
        let loaded = self.loaded_names();
        let loaded = loaded.iter().filter_map(|name| self.slot(name));
        all.extend(loaded.map(|(slot, _)| for_messages(slot.tool.info())));
        all
    }

    /// The definitions that an MCP client is given: all of them, for such a client has
    /// its own ways to put tools off.
    pub fn mcp_definitions(&self) -> Vec<Value> {
        let tools = self.tools();
        tools.iter().map(|tool| for_mcp(tool.info())).collect()
    }
}

fn for_messages(info: &ToolInfo) -> Value {
    json!({
        "name": info.name,
        "description": info.summary,
        "input_schema": schema(&info.input_schema),
    })
}

fn for_mcp(info: &ToolInfo) -> Value {
    let annotations: Map<String, Value> = info
        .annotations
        .iter()
        .filter_map(|(key, text)| Some((key.clone(), annotation(key, text)?)))
        .collect();
    let mut definition = json!({
        "name": info.name,
        "description": info.summary,
        "inputSchema": schema(&info.input_schema),
        "annotations": annotations,
    });
    if let Some(text) = &info.output_schema {
        definition["outputSchema"] = schema(text);
    }
    definition
}

/// A hint that is neither true nor false is no hint.
fn annotation(key: &str, text: &str) -> Option<Value> {
    if HINTS.contains(&key) {
        text.parse().ok().map(Value::Bool)
    } else {
        Some(Value::String(text.to_owned()))
    }
}

/// The pool holds sound infos alone, so this always parses; if it did not, an object
/// without further demands is what a client can live with.
fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({"type": "object"}))
}
