//! The `TaskOutput` tool: what a background task has written, and how far it is.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::tasks::{self, State};
use toolbay_sdk::{
    Info, Keep, OnInterrupt, Outcome, Prompt, ResultLimit, Setting, SubjectKind, Tool,
};

/// What one waits for unless told otherwise, in milliseconds.
const USUAL_WAIT: u32 = 30_000;

#[derive(Debug, Deserialize)]
struct Input {
    task_id: String,
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

    const INFO: Info = Info::new("TaskOutput", "Reads the output of a background task.")
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
        let snapshot = tasks::read(&input.task_id, input.wait())?;
        let state = match snapshot.state {
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Stopped => "stopped",
        };
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
}

impl Prompt for TaskOutput {
    fn describe(input: &Input) -> String {
        format!("Read the output of {}", input.task_id)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(TaskOutput: prompt);
