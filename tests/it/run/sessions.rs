//! Sessions that outlive the program, also when it is killed.

use serde_json::{Value, json};

use super::{Talk, text, with_rogue};
use crate::program::Project;

fn session_name() -> String {
    let random = std::collections::hash_map::RandomState::new();
    let number = std::hash::BuildHasher::hash_one(&random, 0);
    format!("it-{number:016x}")
}

#[test]
fn a_session_is_taken_up_where_it_was_left() {
    let project = Project::new();
    let path = project.file("a.txt", "one\n");
    let name = session_name();
    let args = ["--session", &name, "--allow", "Edit"];
    let mut talk = Talk::start(&project, &args);
    assert_eq!(talk.ready["session_id"], name);
    talk.call("Read", json!({"file_path": "a.txt"}));
    talk.call("ToolSearch", json!({"query": "select:NotebookEdit"}));
    talk.call(
        "TodoWrite",
        json!({"todos": [{"content": "rest", "status": "pending", "activeForm": "resting"}]}),
    );
    talk.close();

    let mut talk = Talk::start(&project, &args);
    let tools = talk.ready["tools"].as_array().unwrap();
    assert_eq!(tools.last().unwrap()["name"], "NotebookEdit");
    // The file was read by the program before this one.
    let edit = json!({"file_path": path, "old_string": "one", "new_string": "two"});
    let result = talk.call("Edit", edit);
    assert_eq!(result["is_error"], false, "{result}");
    talk.close();
}

#[test]
fn a_killed_session_answers_with_the_same_replaced_bytes() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let name = session_name();
    let args = ["--session", &name, "--plugin", &rogue];
    let long = "0123456789\n".repeat(20_000);
    let large = |talk: &mut Talk, id: &str| -> Value {
        talk.use_tool(id, "Rogue", json!({"act": "echo", "text": long}));
        talk.until("tool_result")
    };

    let mut talk = Talk::start(&project, &args);
    let first = large(&mut talk, "big");
    assert!(text(&first).starts_with("<persisted-output>"), "{first}");
    // In the middle of the turn, with a call under way.
    talk.use_tool("s", "Rogue", json!({"act": "sleep", "ms": 5_000}));
    talk.until("started");
    talk.kill();

    let folder = project.session(&name);
    let folder = folder.parent().unwrap();
    let half_written = |folder: &std::path::Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.contains("tmp") || name.contains("partial"))
            .collect()
    };
    assert_eq!(half_written(folder), Vec::<String>::new());
    assert_eq!(
        half_written(&folder.join("tool-results")),
        Vec::<String>::new()
    );

    let mut talk = Talk::start(&project, &args);
    let again = large(&mut talk, "big");
    assert_eq!(first["content"], again["content"]);
    talk.say(json!({"type": "turn_end"}));
    talk.results();
    talk.close();
}
