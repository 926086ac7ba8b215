//! Blocks out of a model's own stream: the events of the Messages API, as they are
//! sent.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toolbay::contract::{JSON_VALUES, JsonSize, ToolUse};

use super::input::Line;

/// Bytes of input that a block may add up to while it is streamed.
const LONGEST_INPUT: usize = 64 << 20;
/// Blocks that may be under way at once.
const MOST_BLOCKS: usize = 1_000;

/// Blocks that are being sent.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The event that the lines so far belong to.
    data: String,
    blocks: BTreeMap<u64, Block>,
}

#[derive(Debug)]
struct Block {
    id: String,
    name: String,
    /// What the start already holds; used when nothing is streamed.
    start: Value,
    streamed: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    ContentBlockStart {
        index: u64,
        content_block: Value,
    },
    ContentBlockDelta {
        index: u64,
        delta: Value,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Other,
}

impl Stream {
    /// Takes one line of the stream, and answers with what it completes.
    pub(super) fn line(&mut self, line: &str) -> Result<Vec<Line>, String> {
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.trim_start());
            let size = JsonSize::of(self.data.as_bytes()).within(JSON_VALUES);
            if let Err(error) = size {
                self.data.clear();
                return Err(format!("the event cannot be used: {error}"));
            }
            // Most streams send one line of data an event; waiting for the empty line
            // behind it would start calls later.
            return match serde_json::from_str::<Event>(&self.data) {
                Ok(event) => {
                    self.data.clear();
                    self.event(event)
                }
                Err(error) if error.is_eof() && self.data.len() < LONGEST_INPUT => Ok(Vec::new()),
                Err(error) => {
                    self.data.clear();
                    Err(format!("the event cannot be used: {error}"))
                }
            };
        }
        if line.is_empty() && !self.data.is_empty() {
            self.data.clear();
            return Err("an event ended in the middle of its data".into());
        }
        // Comments, names and ids say nothing that the data does not.
        Ok(Vec::new())
    }

    fn event(&mut self, event: Event) -> Result<Vec<Line>, String> {
        match event {
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.begin(index, &content_block).map(|()| Vec::new()),
            Event::ContentBlockDelta { index, delta } => {
                if let (Some(block), Some(part)) = (
                    self.blocks.get_mut(&index),
                    delta.get("partial_json").and_then(Value::as_str),
                ) {
                    if block.streamed.len() + part.len() > LONGEST_INPUT {
                        self.blocks.remove(&index);
                        return Err(format!("block {index} has too long an input"));
                    }
                    block.streamed.push_str(part);
                }
                Ok(Vec::new())
            }
            Event::ContentBlockStop { index } => {
                let Some(block) = self.blocks.remove(&index) else {
                    return Ok(Vec::new());
                };
                let size = JsonSize::of(block.streamed.as_bytes()).within(JSON_VALUES);
                size.map_err(|error| format!("the input of block {index} has {error}"))?;
                Ok(vec![Line::block(block.finish())])
            }
            Event::MessageStop => {
                self.blocks.clear();
                Ok(vec![Line::TurnEnd])
            }
            // The answer will not be completed: what was begun is thrown away.
            Event::Error { error } => {
                self.blocks.clear();
                tracing::warn!(%error, "the model's stream ended with an error");
                Ok(vec![Line::Discard, Line::TurnEnd])
            }
            Event::Other => Ok(Vec::new()),
        }
    }

    fn begin(&mut self, index: u64, block: &Value) -> Result<(), String> {
        if block.get("type").and_then(Value::as_str) != Some("tool_use") {
            return Ok(());
        }
        let text = |key: &str| {
            let value = block.get(key).and_then(Value::as_str);
            value
                .map(str::to_owned)
                .ok_or_else(|| format!("the tool_use block {index} has no {key}"))
        };
        if self.blocks.len() >= MOST_BLOCKS {
            return Err(format!("more than {MOST_BLOCKS} blocks are under way"));
        }
        let begun = Block {
            id: text("id")?,
            name: text("name")?,
            start: block.get("input").cloned().unwrap_or_default(),
            streamed: String::new(),
        };
        self.blocks.insert(index, begun);
        Ok(())
    }
}

impl Block {
    /// An input that is not JSON goes on as text: the schema will refuse it in words
    /// that the model can use.
    fn finish(self) -> ToolUse {
        let input = if self.streamed.trim().is_empty() {
            match self.start {
                Value::Null => Value::Object(serde_json::Map::new()),
                start => start,
            }
        } else {
            serde_json::from_str(&self.streamed).unwrap_or(Value::String(self.streamed))
        };
        ToolUse {
            id: self.id,
            name: self.name,
            input,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(lines: &[&str]) -> Vec<Result<Vec<Line>, String>> {
        let mut stream = Stream::default();
        lines
            .iter()
            .map(|line| stream.line(line))
            .filter(|answer| answer != &Ok(Vec::new()))
            .collect()
    }

    #[test]
    fn a_block_is_complete_when_its_stop_comes() {
        let answers = feed(&[
            "event: message_start",
            r#"data: {"type":"message_start","message":{}}"#,
            "",
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"N","input":{}}}"#,
            r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": [1,"}}"#,
            r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" 2]}"}}"#,
            r#"data: {"type":"content_block_stop","index":0}"#,
            r#"data: {"type":"content_block_stop","index":1}"#,
            r#"data: {"type":"ping"}"#,
            r#"data: {"type":"message_stop"}"#,
        ]);
        let block = Line::ToolUse {
            id: "t1".into(),
            name: "N".into(),
            input: serde_json::json!({"a": [1, 2]}),
        };
        assert_eq!(answers, [Ok(vec![block]), Ok(vec![Line::TurnEnd])]);
    }

    #[test]
    fn what_is_broken_is_told_and_the_stream_goes_on() {
        let answers = feed(&[
            r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"N"}}"#,
            r#"data: {"type": }"#,
            r#"data: {"type":"#,
            "",
            r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"N"}}"#,
            r#"data: {"type":"content_block_delta","index":1,"delta":{"partial_json":"{\"a\":"}}"#,
            r#"data: {"type":"content_block_stop","index":1}"#,
            r#"data: {"type":"error","error":{"type":"overloaded_error"}}"#,
        ]);
        assert!(
            answers[0]
                .as_ref()
                .is_err_and(|error| error.contains("no id"))
        );
        assert!(answers[1].is_err() && answers[2].is_err());
        assert!(
            matches!(&answers[3], Ok(lines) if matches!(&lines[..], [Line::ToolUse { input: Value::String(_), .. }]))
        );
        assert_eq!(answers[4], Ok(vec![Line::Discard, Line::TurnEnd]));
    }
}
