//! The lines that come in.

use std::io::{BufRead, BufReader, Read};

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use toolbay::contract::{JSON_VALUES, JsonSize, ToolUse};

use super::sse::Stream;
use crate::args::StreamForm;

/// The longest line that is read. The largest input of a call is a whole file.
const LONGEST: u64 = 64 << 20;

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    ToolUse {
        id: String,
        name: String,
        #[serde(default = "empty_input")]
        input: Value,
    },
    PermissionResponse {
        request_id: String,
        behavior: Behavior,
        #[serde(default)]
        message: Option<String>,
        /// Allow what the rules cover as well, and keep them there.
        #[serde(default)]
        scope: Option<String>,
        /// Instead of those that were suggested.
        #[serde(default)]
        rules: Option<Vec<String>>,
    },
    /// Answers to a question of a tool: for each question the chosen options.
    UserResponse {
        request_id: String,
        #[serde(default)]
        answers: Vec<Vec<String>>,
    },
    /// What the model wrote for an MCP server, or why it wrote nothing.
    SamplingResponse {
        request_id: String,
        #[serde(default)]
        result: Option<Value>,
        #[serde(default)]
        error: Option<String>,
    },
    Interrupt,
    /// The model's answer is thrown away.
    Discard,
    TurnEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Behavior {
    Allow,
    Deny,
}

/// What came in.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// With its number.
    Line(u64, Line),
    /// A line that is none, by its number.
    Bad {
        number: u64,
        problem: String,
        /// The permission request that it was to answer.
        answers: Option<String>,
    },
}

fn empty_input() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Line {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let cannot = |error: &dyn std::fmt::Display| format!("the line cannot be used: {error}");
        let size = JsonSize::of(text.as_bytes()).within(JSON_VALUES);
        size.map_err(|error| cannot(&error))?;
        serde_json::from_str(text).map_err(|error| cannot(&error))
    }

    pub(super) fn block(block: ToolUse) -> Self {
        Self::ToolUse {
            id: block.id,
            name: block.name,
            input: block.input,
        }
    }
}

/// The permission request that a line answers which cannot be used otherwise. The rest of it is
/// passed over.
fn answered(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Start {
        r#type: String,
        request_id: String,
    }
    let start: Start = serde_json::from_str(text).ok()?;
    (start.r#type == "permission_response").then_some(start.request_id)
}

/// Reads lines on a thread of their own; the channel closes at the end of input.
pub(super) fn start(form: StreamForm) -> anyhow::Result<mpsc::UnboundedReceiver<Incoming>> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::Builder::new()
        .name("toolbay-input".into())
        .spawn(move || {
            // Whoever does not listen any more needs no reason.
            let _ = read(BufReader::new(std::io::stdin()), form, |incoming| {
                sender.send(incoming).is_ok()
            });
        })
        .context("the thread that reads the input")?;
    Ok(lines)
}

/// Reads until the end, or until nobody wants more.
fn read(
    mut input: impl BufRead,
    form: StreamForm,
    mut tell: impl FnMut(Incoming) -> bool,
) -> std::io::Result<()> {
    let mut stream = Stream::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let mut bad = |problem: String, answers: Option<String>| {
            tell(Incoming::Bad {
                number,
                problem,
                answers,
            })
        };
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            skip_line(&mut input)?;
            if !bad(format!("the line is longer than {LONGEST} bytes"), None) {
                break;
            }
            continue;
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            if !bad("the line is not UTF-8".into(), None) {
                break;
            }
            continue;
        };
        let text = text.trim();
        let parsed = match form {
            StreamForm::Sse if !text.starts_with('{') => stream.line(text),
            StreamForm::Sse | StreamForm::Lines if text.is_empty() => Ok(Vec::new()),
            StreamForm::Sse | StreamForm::Lines => Line::parse(text).map(|line| vec![line]),
        };
        let wanted = match parsed {
            Ok(lines) => lines
                .into_iter()
                .all(|line| tell(Incoming::Line(number, line))),
            Err(problem) => bad(problem, answered(text)),
        };
        if !wanted {
            break;
        }
    }
    Ok(())
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let Some(end) = buffer.iter().position(|byte| *byte == b'\n') else {
            let length = buffer.len();
            input.consume(length);
            if length == 0 {
                return Ok(());
            }
            continue;
        };
        input.consume(end + 1);
        return Ok(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, form: StreamForm) -> Vec<Incoming> {
        let mut all = Vec::new();
        read(text.as_bytes(), form, |incoming| {
            all.push(incoming);
            true
        })
        .unwrap();
        all
    }

    #[test]
    fn every_kind_of_line_is_read_and_a_bad_one_is_told_with_its_number() {
        let text = r#"
            {"type":"tool_use","id":"a","name":"N","input":{"x":1},"caller":"later versions may add keys"}
            {"type":"permission_response","request_id":"p","behavior":"deny","message":"no"}
            {"type":"interrupt"}
            nonsense
            {"type":"unheard_of"}
            {"type":"turn_end"}"#;
        let lines = all(text, StreamForm::Lines);
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert!(
            matches!(&lines[0], Incoming::Line(2, Line::ToolUse { id, input, .. }) if id == "a" && input["x"] == 1)
        );
        assert!(matches!(
            &lines[1],
            Incoming::Line(
                3,
                Line::PermissionResponse {
                    behavior: Behavior::Deny,
                    ..
                }
            )
        ));
        assert_eq!(lines[2], Incoming::Line(4, Line::Interrupt));
        for (at, number) in [(3, 5), (4, 6)] {
            assert!(matches!(&lines[at], Incoming::Bad { number: told, .. } if *told == number));
        }
        assert_eq!(lines[5], Incoming::Line(7, Line::TurnEnd));
    }

    #[test]
    fn the_request_that_a_bad_answer_was_for_is_told() {
        let many = format!("\"x\":[0{}]", ",0".repeat(JSON_VALUES));
        for (line, wanted) in [
            (r#""behavior":"yes""#, Some("p")),
            (r#""behavior":1,"message":{}"#, Some("p")),
            (r#""behavior":"allow","rules":"Read""#, Some("p")),
            (r#""message":"without""#, Some("p")),
            (&many, Some("p")),
            (r#""behavior""#, None),
        ] {
            let text = format!(r#"{{"type":"permission_response","request_id":"p",{line}}}"#);
            let all = all(&text, StreamForm::Lines);
            let [Incoming::Bad { answers, .. }] = all.as_slice() else {
                panic!("{all:?}");
            };
            assert_eq!(answers.as_deref(), wanted, "{}", &text[..60]);
        }
        for other in ["user_response", "tool_use"] {
            let text = format!(r#"{{"type":"{other}","request_id":"p","answers":1}}"#);
            let all = all(&text, StreamForm::Lines);
            assert!(matches!(&all[0], Incoming::Bad { answers: None, .. }));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let mut all = Vec::new();
        read(
            &b"\xff\xfe\n{\"type\":\"interrupt\"}\n"[..],
            StreamForm::Lines,
            |incoming| {
                all.push(incoming);
                true
            },
        )
        .unwrap();
        assert!(matches!(&all[0], Incoming::Bad { number: 1, .. }));
        assert_eq!(all[1], Incoming::Line(2, Line::Interrupt));
    }
}
