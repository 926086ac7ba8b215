//! The `Bash` tool: runs a command in a cage.
//!
//! The host decides what a command may do: it reads the script itself, whatever this plugin says
//! of it, and a call that claims to only read runs where nothing can be written. Here output
//! becomes text, and exit codes get their meaning.

mod edit;
mod text;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolbay_sdk::shell::{self, Command, Exit, Moved, Ran};
use toolbay_sdk::{
    ContextModifier, Guard, Info, Keep, OnError, OnInterrupt, Outcome, Prompt, Rejection, Render,
    ResultLimit, Setting, SubjectKind, Tool, Verdict, View, tasks,
};

use edit::Edit;
use text::Plain;

/// Longest time that a command may take, in milliseconds.
const MOST_MS: u32 = 600_000;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Input {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    run_in_background: bool,
    #[serde(default)]
    dangerously_disable_sandbox: bool,
    /// Put there by the check before the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<Edit>,
}

impl Input {
    fn command(&self) -> Command {
        Command {
            script: self.command.clone(),
            cwd: Some(toolbay_sdk::context::working_directory()),
            timeout_ms: self.timeout,
            sandboxed: !self.dangerously_disable_sandbox,
        }
    }

    /// What goes on in the background may still write when the call is long over.
    fn only_reads(&self) -> bool {
        !self.run_in_background
            && !self.dangerously_disable_sandbox
            && shell::inspect(&self.command).read_only
    }
}

struct Bash;

impl Tool for Bash {
    type Input = Input;

    const INFO: Info = Info::new("Bash", "Runs a bash command in a cage.")
        .schema(include_str!("../schema.json"))
        .subjects(&[(SubjectKind::Command, "/command")])
        .limit(ResultLimit::Chars(30_000))
        .keep(Keep::End)
        .on_interrupt(OnInterrupt::Cancel)
        .on_error(OnError::CancelSiblings)
        .annotations(&[
            ("simple", "true"),
            ("unsandboxed", "/dangerously_disable_sandbox"),
        ]);

    fn is_read_only(input: &Input) -> bool {
        input.only_reads()
    }

    fn is_concurrency_safe(input: &Input) -> bool {
        input.only_reads()
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        if let Some(shown) = &input.edit {
            return edit::write(&input, shown);
        }
        if input.run_in_background {
            let id = shell::run_in_background(&input.command())?;
            let file = file_of(&id);
            let said = format!(
                "Started in the background as {id}. It ends with the session. {}",
                how_to_read(&id, file.as_deref())
            );
            let structured = json!({"background_task_id": id, "output_file": file});
            return Ok(Outcome::text(said).with_structured(&structured));
        }
        match shell::run_or_move(&input.command())? {
            Ran::Ended(exit) => Ok(outcome(&input, &exit)),
            Ran::Moved(moved) => Ok(moved_outcome(&moved)),
        }
    }
}

/// Where the output of a task goes. That nobody knows is no reason to fail: the task runs.
fn file_of(id: &str) -> Option<String> {
    let mut all = tasks::list().ok()?.into_iter();
    all.find(|task| task.id == id)?.file
}

fn how_to_read(id: &str, file: Option<&str>) -> String {
    let reading = format!("TaskOutput with task_id {id} reads what it writes");
    match file {
        Some(file) => format!("{reading}; the newest of it is kept in {file}."),
        None => format!("{reading}."),
    }
}

/// A command that goes on without its call.
fn moved_outcome(moved: &Moved) -> Outcome {
    let output = Plain::of(&moved.stdout);
    let file = file_of(&moved.id);
    let note = format!(
        "[It takes long, so it goes on in the background as {}; nothing was interrupted. {}]",
        moved.id,
        how_to_read(&moved.id, file.as_deref())
    );
    let mut parts: Vec<String> = output.note().into_iter().collect();
    match output.text.trim_end() {
        "" => {}
        text => parts.push(text.to_owned()),
    }
    parts.push(note);
    let said = parts.join("\n");
    let structured = json!({
        "background_task_id": moved.id,
        "output": output.text,
        "output_file": file,
    });
    Outcome::text(said).with_structured(&structured)
}

fn outcome(input: &Input, exit: &Exit) -> Outcome {
    let output = Plain::of(&exit.stdout);
    let remarks = text::plain(&exit.stderr);
    let meaning = match exit.code {
        0 => None,
        code => shell::exit_meaning(&input.command, code),
    };
    let is_failure = exit.code != 0 && meaning.is_none();
    let mut parts: Vec<String> = Vec::new();
    if is_failure {
        parts.push(format!("Exit code {}", exit.code));
    }
    parts.extend(output.note());
    if !output.text.trim().is_empty() {
        parts.push(output.text.trim_end().to_owned());
    }
    if exit.truncated {
        parts.push("[There was more output, which is lost.]".into());
    }
    if let Some(meaning) = &meaning {
        parts.push(format!("[Exit code {}: {meaning}]", exit.code));
    }
    if !remarks.trim().is_empty() {
        parts.push(format!("[{}]", remarks.trim()));
    }
    if parts.is_empty() {
        parts.push("(no output)".into());
    }
    let said = parts.join("\n");
    let folder = shell::ended_in();
    let structured = json!({
        "exit_code": exit.code,
        "output": output.text,
        "meaning": meaning,
        "truncated": exit.truncated || output.left_out > 0,
        "folder": folder,
    });
    let outcome = match is_failure {
        true => Outcome::bad_news(said),
        false => Outcome::text(said),
    };
    let outcome = outcome.with_structured(&structured);
    match folder {
        Some(folder) => outcome.with_modifier(ContextModifier::WorkingDirectory(folder)),
        None => outcome,
    }
}

impl Guard for Bash {
    /// What a script destroys is for the host to say, which reads it and names it. To claim it
    /// of every script that does more than read would be a warning on every question.
    fn is_destructive(_: &Input) -> bool {
        false
    }

    fn validate_input(input: &Input) -> Result<(), Rejection> {
        if input.timeout.is_some_and(|ms| ms > MOST_MS) {
            return Err(Rejection::new(1, "a command may take ten minutes at most"));
        }
        if input.command.trim().is_empty() {
            return Err(Rejection::new(2, "the command is empty"));
        }
        if input.edit.is_some() && input.edit != edit::of(input) {
            let why = "`edit` is made by the tool itself from the command; leave it out";
            return Err(Rejection::new(3, why));
        }
        Ok(())
    }

    /// A command that is an edit is asked about as one.
    fn check_permissions(input: &Input) -> Verdict {
        let mut verdict = Verdict::passthrough();
        if input.edit.is_none()
            && let Some(edit) = edit::of(input)
        {
            let shown = Input {
                edit: Some(edit),
                ..input.clone()
            };
            verdict.updated_input = serde_json::to_string(&shown).ok();
        }
        verdict
    }
}

impl Prompt for Bash {
    fn describe(input: &Input) -> String {
        match &input.description {
            Some(text) => text.clone(),
            None => format!("Run {}", input.command),
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Bash {
    fn render_use(input: &Input) -> View {
        if let Some(edit) = &input.edit {
            return View::Diff(edit.diff.clone());
        }
        let mut text = format!("$ {}", input.command);
        if let Some(description) = &input.description {
            text.push_str(&format!("\n# {description}"));
        }
        View::Plain(text)
    }

    fn render_result(input: &Input, outcome: &Outcome) -> View {
        if let Some(edit) = &input.edit {
            return View::Diff(edit.diff.clone());
        }
        View::Plain(outcome.plain_text())
    }

    fn render_grouped(inputs: &[Input]) -> Option<View> {
        let rows = inputs.iter();
        let rows = rows.map(|input| ("Bash".to_owned(), input.command.clone()));
        Some(View::Rows(rows.collect()))
    }
}

toolbay_sdk::export!(Bash: guard, prompt, render);
