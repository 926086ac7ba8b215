//! The `TaskOutput` tool: what a background task has written, and how far it is.

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay_sdk::tasks::{self, Entry, State};
use toolbay_sdk::{
    Info, Keep, OnInterrupt, Outcome, Prompt, ResultLimit, Setting, SubjectKind, Tool,
};

/// What one waits for unless told otherwise, in milliseconds.
const USUAL_WAIT: u32 = 30_000;
/// Letters of a command in the list; programs get all of them.
const MOST_OF_A_TITLE: usize = 120;

#[derive(Debug, Deserialize)]
struct Input {
    /// None asks for the list of all tasks.
    task_id: Option<String>,
    block: Option<bool>,
    timeout: Option<u32>,
}

impl Input {
    fn wait(&self) -> u32 {
        match self.block {
            Some(false) => 0,
            Some(true) | None => self.timeout.unwrap_or(USUAL_WAIT),
        }
    }
}

struct TaskOutput;

impl Tool for TaskOutput {
    type Input = Input;

    const INFO: Info = Info::new(
        "TaskOutput",
        "Reads the output of a background task, or lists all.",
    )
    .schema(include_str!("../schema.json"))
    .aliases(&["BashOutput"])
    .subjects(&[(SubjectKind::Text, "/task_id")])
    .limit(ResultLimit::Chars(30_000))
    .keep(Keep::End)
    .on_interrupt(OnInterrupt::Cancel);

    /// Output is read once, but nothing outside the session changes.
    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        match &input.task_id {
            Some(id) => one(id, input.wait()),
            None => all(),
        }
    }
}

fn one(id: &str, wait: u32) -> toolbay_sdk::Result {
    let snapshot = tasks::read(id, wait)?;
    let state = word(snapshot.state);
    let output = String::from_utf8_lossy(&snapshot.output).into_owned();
    let mut said = format!("{} is {state}.", snapshot.id);
    if output.trim().is_empty() {
        said.push_str(" There is no new output.");
    } else {
        said.push('\n');
        said.push_str(output.trim_end());
    }
    let structured = json!({"task_id": snapshot.id, "state": state, "output": output});
    Ok(Outcome::text(said).with_structured(&structured))
}

fn all() -> toolbay_sdk::Result {
    let tasks = tasks::list()?;
    let lines: Vec<String> = tasks.iter().map(line).collect();
    let said = match lines.is_empty() {
        true => "There are no background tasks.".into(),
        false => lines.join("\n"),
    };
    let structured: Vec<Value> = tasks.iter().map(entry).collect();
    Ok(Outcome::text(said).with_structured(&json!({"tasks": structured})))
}

fn line(task: &Entry) -> String {
    let file = task.file.as_ref();
    let file = file.map_or(String::new(), |file| format!(" ({file})"));
    format!(
        "{}: {}, {} s, {} bytes{file}: {}",
        task.id,
        word(task.state),
        task.age_ms / 1000,
        task.bytes,
        one_line(&task.title)
    )
}

/// The beginning of a command, on one line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(MOST_OF_A_TITLE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn entry(task: &Entry) -> Value {
    json!({
        "task_id": task.id,
        "command": task.title,
        "state": word(task.state),
        "age_ms": task.age_ms,
        "bytes": task.bytes,
        "output_file": task.file,
    })
}

fn word(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Done => "done",
        State::Failed => "failed",
        State::Stopped => "stopped",
    }
}

impl Prompt for TaskOutput {
    fn describe(input: &Input) -> String {
        match &input.task_id {
            Some(id) => format!("Read the output of {id}"),
            None => "List the background tasks".into(),
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(TaskOutput: prompt);
