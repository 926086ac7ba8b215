//! How the calls of a turn look to a person, as their tools draw them.
//!
//! Many calls of one tool in a row become one line if the tool can say them together, so
//! a call is shown when it is known that the row ends.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolbay::contract::{Failure, ToolUse, View};
use toolbay::dispatch::{Pool, ToolResult, real_path};
use toolbay::policy::SubjectKind;

use super::{draw, harmless};
use crate::spinner::elapsed_text;
use crate::style::Style;

/// So many calls of one tool in a row are shown as one.
const A_ROW: usize = 5;
/// Lines of a result that are shown.
const SHOWN_LINES: usize = 40;
/// A call that takes longer says how long it took.
const LONG: Duration = Duration::from_secs(1);

/// Calls that are not shown yet.
#[derive(Default)]
pub struct Faces {
    /// Calls under way, by id.
    calls: HashMap<String, Call>,
    /// Good results of one tool in a row.
    row: Vec<(ToolResult, Call)>,
}

/// A call as people see it.
#[derive(Clone)]
struct Call {
    input: Arc<str>,
    since: Instant,
    took: Duration,
}

impl Call {
    fn new(input: &Value) -> Self {
        Self {
            input: input.to_string().into(),
            since: Instant::now(),
            took: Duration::ZERO,
        }
    }
}

impl Faces {
    /// A call has come. Paths are made whole for people; the block stays as it is.
    pub fn call(&mut self, pool: &Pool, block: &ToolUse, cwd: &Path) {
        let mut input = block.input.clone();
        if let Some(found) = pool.find(&block.name) {
            for subject in &found.tool.info().subjects {
                if let (SubjectKind::Path, Some(Value::String(path))) =
                    (subject.kind, input.pointer_mut(&subject.pointer))
                {
                    *path = real_path(&cwd.join(&*path)).display().to_string();
                }
            }
        }
        self.calls.insert(block.id.clone(), Call::new(&input));
    }

    /// A call has its result; answers with what can be shown now.
    pub async fn result(&mut self, pool: &Pool, result: ToolResult) -> Option<String> {
        let known = self.calls.remove(&result.id);
        let mut call = known.unwrap_or_else(|| Call::new(&Value::Null));
        call.took = call.since.elapsed();
        let continues = self
            .row
            .last()
            .is_none_or(|(last, _)| last.tool == result.tool);
        if !result.is_error && continues {
            self.row.push((result, call));
            return None;
        }
        let before = self.rest(pool).await;
        let now = if result.is_error {
            Some(face(pool, &result, &call).await)
        } else {
            self.row.push((result, call));
            None
        };
        let lines: Vec<String> = before.into_iter().chain(now).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What is still to be shown.
    pub async fn rest(&mut self, pool: &Pool) -> Option<String> {
        let row = std::mem::take(&mut self.row);
        let tool = &row.first()?.0.tool;
        if row.len() >= A_ROW
            && let Some(found) = pool.find(tool)
        {
            let inputs: Vec<Arc<str>> = row.iter().map(|(_, call)| call.input.clone()).collect();
            if let Some(view) = found.tool.render_grouped(&inputs).await {
                let style = Style::for_output();
                return Some(format!("{} {}", style.good("✓"), draw(&view, style)));
            }
        }
        let mut faces = Vec::new();
        for (result, call) in &row {
            faces.push(face(pool, result, call).await);
        }
        Some(faces.join("\n"))
    }
}

/// One call and what came of it.
async fn face(pool: &Pool, result: &ToolResult, call: &Call) -> String {
    let input = &call.input;
    let style = Style::for_output();
    let mark = if result.is_error {
        style.bad("✗")
    } else {
        style.good("✓")
    };
    let Some(found) = pool.find(&result.tool) else {
        let sentence = harmless(&result.sentence());
        return format!(
            "{mark} {}\n{}",
            style.bold(&harmless(&result.tool)),
            cut(&sentence)
        );
    };
    let tool = found.tool;
    let used = match tool.render_use(input).await {
        // The diff comes with the result.
        View::Diff(_) => result.tool.clone(),
        view @ (View::Plain(_) | View::Markdown(_) | View::Rows(_)) => draw(&view, Style::PLAIN),
    };
    let used = used.lines().next().unwrap_or_default().to_owned();
    let came = match (&result.failure, &result.outcome) {
        (Some(Failure::Denied(reason)), _) => tool.render_rejected(input, reason).await,
        (Some(failure), _) if result.stage.is_some() => tool.render_error(input, failure).await,
        (None, Some(outcome)) if !result.is_error => tool.render_result(input, outcome).await,
        _ => View::Plain(harmless(&result.text())),
    };
    // Only what took long is worth a number.
    let took = if call.took > LONG {
        style.dim(&format!("  {}", elapsed_text(call.took)))
    } else {
        String::new()
    };
    let came = cut(&draw(&came, style));
    format!("{mark} {}{took}\n{came}", style.note(&used))
}

fn cut(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut shown: Vec<String> = lines
        .iter()
        .take(SHOWN_LINES)
        .map(|line| format!("  {line}"))
        .collect();
    if let Some(more) = lines
        .len()
        .checked_sub(SHOWN_LINES)
        .filter(|more| *more > 0)
    {
        shown.push(format!("  … {more} lines more"));
    }
    shown.join("\n")
}
