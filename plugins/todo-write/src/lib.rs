//! The `TodoWrite` tool: the session's list of tasks.
//!
//! The list lives in the session, not in a file, so this plugin needs no file
//! system. A call replaces the list as a whole or, when something is wrong with
//! it, not at all.

mod list;
mod view;

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::{
    Guard, Info, Outcome, Prompt, Rejection, Render, Setting, Tool, ToolError, View, session,
};

use list::Todo;

/// The list's place in the session.
const KEY: &str = "todos";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    todos: Vec<Todo>,
}

struct TodoWrite;

impl Tool for TodoWrite {
    type Input = Input;

    const INFO: Info = Info::new("TodoWrite", "Replaces the session's list of tasks.")
        .schema(include_str!("../schema.json"));

    fn call(input: Input) -> toolbay_sdk::Result {
        list::check(&input.todos).map_err(ToolError::InvalidInput)?;
        // A list that does not read back was written by another version; losing
        // it is better than never being able to write again.
        let old: Vec<Todo> = session::get(KEY)
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        session::put(KEY, &json!(input.todos).to_string())?;
        Ok(
            Outcome::text(list::summary(&input.todos)).with_structured(&json!({
                "oldTodos": old,
                "newTodos": input.todos,
            })),
        )
    }
}

impl Guard for TodoWrite {
    /// A list can always be written again.
    fn is_destructive(_: &Input) -> bool {
        false
    }

    fn validate_input(input: &Input) -> Result<(), Rejection> {
        list::check(&input.todos).map_err(|message| Rejection::new(1, message))
    }
}

impl Prompt for TodoWrite {
    fn describe(input: &Input) -> String {
        view::headline(&input.todos)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for TodoWrite {
    fn render_use(input: &Input) -> View {
        View::Plain(view::headline(&input.todos))
    }

    fn render_result(input: &Input, _: &Outcome) -> View {
        view::tasks(&input.todos)
    }

    fn render_error(_: &Input, error: &ToolError) -> View {
        View::Plain(format!("TodoWrite: {}", error.sentence()))
    }

    /// Each call replaces the list, so the last one says it all.
    fn render_grouped(inputs: &[Input]) -> Option<View> {
        inputs.last().map(|input| view::tasks(&input.todos))
    }
}

toolbay_sdk::export!(TodoWrite: guard, prompt, render);
