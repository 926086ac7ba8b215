//! The list of tasks: what makes it valid, and how it reads.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    pub content: String,
    pub status: Status,
    #[serde(
        rename = "activeForm",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub active_form: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Todo {
    /// How the task reads while it is being done.
    pub fn active(&self) -> &str {
        match self.active_form.as_deref().map(str::trim) {
            Some(form) if !form.is_empty() => form,
            Some(_) | None => self.content.trim(),
        }
    }
}

/// Why the list cannot be kept, if so.
pub fn check(todos: &[Todo]) -> Result<(), String> {
    if let Some(place) = todos.iter().position(|todo| todo.content.trim().is_empty()) {
        return Err(format!(
            "task {} has no content; the list was left as it is",
            place + 1
        ));
    }
    let active: Vec<String> = in_status(todos, Status::InProgress)
        .map(|todo| format!("\"{}\"", todo.content.trim()))
        .collect();
    if active.len() > 1 {
        return Err(format!(
            "{} tasks are in_progress ({}), but only one may be; the list was left as it is",
            active.len(),
            active.join(", ")
        ));
    }
    Ok(())
}

/// The tasks that have this status.
pub fn in_status(todos: &[Todo], status: Status) -> impl Iterator<Item = &Todo> {
    todos.iter().filter(move |todo| todo.status == status)
}

/// Where the work stands, for the model.
pub fn summary(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The todo list is now empty.".into();
    }
    let done = in_status(todos, Status::Completed).count();
    let next = in_status(todos, Status::Pending).next();
    let active = match (in_status(todos, Status::InProgress).next(), next) {
        (Some(todo), _) => format!("Active: {}.", todo.active()),
        (None, Some(next)) => format!("No task is active; next: {}.", next.content.trim()),
        (None, None) => "All tasks are completed.".into(),
    };
    format!(
        "Todo list updated: {done} of {} completed. {active}",
        todos.len()
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn todos(json: &str) -> Vec<Todo> {
        serde_json::from_str(json).unwrap()
    }

    const ACTIVE: &str = r#"[
        {"content":"Read","status":"completed"},
        {"content":"Fix","status":"in_progress","activeForm":"Fixing"},
        {"content":"Test","status":"pending"}]"#;

    #[test]
    fn summaries_name_the_active_task() {
        for (json, wanted) in [
            ("[]", "The todo list is now empty."),
            (
                ACTIVE,
                "Todo list updated: 1 of 3 completed. Active: Fixing.",
            ),
            (
                r#"[{"content":"Fix","status":"in_progress"}]"#,
                "Todo list updated: 0 of 1 completed. Active: Fix.",
            ),
            (
                r#"[{"content":"Fix","status":"pending"}]"#,
                "Todo list updated: 0 of 1 completed. No task is active; next: Fix.",
            ),
            (
                r#"[{"content":"Fix","status":"completed"}]"#,
                "Todo list updated: 1 of 1 completed. All tasks are completed.",
            ),
        ] {
            assert_eq!(summary(&todos(json)), wanted, "{json}");
        }
    }

    #[test]
    fn empty_tasks_and_two_active_ones_are_refused() {
        for (json, part) in [
            (ACTIVE, None),
            ("[]", None),
            (
                r#"[{"content":"Fix","status":"pending"},{"content":" ","status":"pending"}]"#,
                Some("task 2 has no content"),
            ),
            (
                r#"[{"content":"A","status":"in_progress"},{"content":"B","status":"in_progress"}]"#,
                Some(r#"2 tasks are in_progress ("A", "B")"#),
            ),
        ] {
            let message = check(&todos(json)).err();
            match part {
                None => assert_eq!(message, None, "{json}"),
                Some(part) => assert!(message.unwrap().contains(part), "{json}"),
            }
        }
    }

    #[test]
    fn unknown_words_are_refused() {
        for json in [
            r#"[{"content":"A","status":"done"}]"#,
            r#"[{"content":"A","status":"pending","priority":1}]"#,
            r#"[{"status":"pending"}]"#,
        ] {
            assert!(serde_json::from_str::<Vec<Todo>>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn lists_read_back_as_they_were_written() {
        let list = todos(ACTIVE);
        let text = serde_json::to_string(&list).unwrap();
        assert_eq!(todos(&text), list);
        assert!(text.contains(r#""activeForm":"Fixing""#));
    }
}
