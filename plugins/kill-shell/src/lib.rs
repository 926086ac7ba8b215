//! The `KillShell` tool: ends a background task.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::{Info, Outcome, Prompt, Setting, SubjectKind, Tool, tasks};

#[derive(Debug, Deserialize)]
struct Input {
    task_id: String,
}

struct KillShell;

impl Tool for KillShell {
    type Input = Input;

    const INFO: Info = Info::new("KillShell", "Ends a background task.")
        .schema(include_str!("../schema.json"))
        .aliases(&["TaskStop"])
        .subjects(&[(SubjectKind::Text, "/task_id")]);

    fn call(input: Input) -> toolbay_sdk::Result {
        tasks::stop(&input.task_id)?;
        let said = format!(
            "{} was ended, with everything that it started.",
            input.task_id
        );
        Ok(Outcome::text(said).with_structured(&json!({"task_id": input.task_id})))
    }
}

impl Prompt for KillShell {
    fn describe(input: &Input) -> String {
        format!("End {}", input.task_id)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(KillShell: prompt);
