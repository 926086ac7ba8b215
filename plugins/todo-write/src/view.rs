//! How the list looks to people.

use toolbay_sdk::View;

use crate::list::{Status, Todo, in_status};

/// The call in one line.
pub fn headline(todos: &[Todo]) -> String {
    match in_status(todos, Status::InProgress).next() {
        Some(todo) => format!("Update todos: {}", todo.active()),
        None if todos.is_empty() => "Clear todos".into(),
        None => format!("Update todos ({})", todos.len()),
    }
}

/// One row a task, with a mark for its status.
pub fn tasks(todos: &[Todo]) -> View {
    if todos.is_empty() {
        return View::Plain("No todos".into());
    }
    let row = |todo: &Todo| match todo.status {
        Status::Completed => ("[x]".into(), todo.content.clone()),
        Status::InProgress => ("[>]".into(), todo.active().to_owned()),
        Status::Pending => ("[ ]".into(), todo.content.clone()),
    };
    View::Rows(todos.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn marks_tell_the_status() {
        let todos: Vec<Todo> = serde_json::from_str(
            r#"[{"content":"Read","status":"completed"},
                {"content":"Fix","status":"in_progress","activeForm":"Fixing"},
                {"content":"Test","status":"pending"}]"#,
        )
        .unwrap();
        let View::Rows(rows) = tasks(&todos) else {
            panic!("no rows");
        };
        let rows: Vec<String> = rows
            .iter()
            .map(|(mark, text)| format!("{mark} {text}"))
            .collect();
        assert_eq!(rows, ["[x] Read", "[>] Fixing", "[ ] Test"]);
        assert_eq!(headline(&todos), "Update todos: Fixing");
        assert!(matches!(tasks(&[]), View::Plain(_)));
    }
}
