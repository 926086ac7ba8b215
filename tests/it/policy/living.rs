//! Settings that change while a session runs, and answers that last.

use serde_json::{Value, json};

use super::{allow, settings};
use crate::program::Project;
use crate::run::{Talk, text};

fn new(name: &str) -> Value {
    json!({"file_path": name, "content": "x"})
}

fn answer(talk: &mut Talk, more: Value) {
    let asked = talk.until("permission_request");
    let mut line = json!({
        "type": "permission_response", "request_id": asked["request_id"], "behavior": "allow",
    });
    for (key, value) in more.as_object().unwrap() {
        line[key] = value.clone();
    }
    talk.say(line);
}

#[test]
fn an_edit_counts_from_the_next_call_and_a_broken_one_never() {
    let project = Project::new();
    settings(&project, &allow("Write"));
    let mut talk = Talk::start(&project, &[]);
    assert_eq!(talk.call("Write", new("a"))["is_error"], false);
    settings(
        &project,
        &json!({"permissions": {"deny": ["Write(./b)"], "allow": ["Write"]}}),
    );
    let denied = talk.call("Write", new("b"));
    assert!(text(&denied).contains("deny rule `Write(./b)`"), "{denied}");
    std::fs::write(project.user_settings(), "{\"permissions\": {").unwrap();
    let denied = talk.call("Write", new("b"));
    assert_eq!(denied["is_error"], true, "{denied}");
    assert_eq!(talk.call("Write", new("c"))["is_error"], false);
    settings(&project, &json!({"permissions": {"deny": ["Write"]}}));
    assert_eq!(talk.call("Write", new("d"))["is_error"], true);
    talk.close();
    assert!(!project.root().join("b").exists() && !project.root().join("d").exists());
}

#[test]
fn an_answer_for_the_session_lasts_as_long() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    talk.use_tool("1", "Write", new("a"));
    answer(&mut talk, json!({"scope": "session"}));
    assert_eq!(talk.end_turn()[0]["is_error"], false);
    assert_eq!(talk.call("Write", new("a"))["is_error"], false);
    talk.close();
    let mut talk = Talk::start(&project, &[]);
    talk.use_tool("1", "Write", new("c"));
    talk.until("permission_request");
    talk.close_input();
    assert_eq!(talk.results()[0]["is_error"], true);
}

#[test]
fn an_answer_that_keeps_what_was_not_offered_is_a_denial() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    for (more, part) in [
        (json!({"scope": "session", "rules": ["*"]}), "`*`"),
        (
            json!({"scope": "session", "rules": ["Write(./**)"]}),
            "`Write(./**)`",
        ),
        (json!({"scope": "session", "rules": ["Bash"]}), "`Bash`"),
        (json!({"scope": "session", "rules": []}), "names none"),
    ] {
        talk.use_tool("1", "Write", new("a"));
        answer(&mut talk, more);
        let error = talk.until("error");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(part) && message.contains("counts as denied"),
            "{error}"
        );
        assert!(message.starts_with("permission_"), "{error}");
        let result = talk.end_turn().remove(0);
        assert_eq!(result["error_class"], "denied", "{result}");
        assert!(text(&result).contains(part), "{result}");
    }
    assert!(!project.root().join("a").exists());
    // Part of what was offered is fine, and nothing else was kept.
    talk.use_tool("1", "Write", new("a"));
    let asked = talk.until("permission_request");
    assert_eq!(asked["grants"].as_array().unwrap().len(), 1, "{asked}");
    talk.say(json!({
        "type": "permission_response", "request_id": asked["request_id"], "behavior": "allow",
        "scope": "session", "rules": asked["suggested_rules"],
    }));
    assert_eq!(talk.end_turn()[0]["is_error"], false);
    talk.use_tool("1", "Write", new("b"));
    answer(&mut talk, json!({"behavior": "deny"}));
    assert_eq!(talk.end_turn()[0]["is_error"], true);
    talk.close();
}

#[test]
fn a_model_that_asks_for_the_same_again_and_again_is_stopped() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &["--deny", "Write(./no)"]);
    let mut stop = Value::Null;
    for round in 1..=10 {
        talk.use_tool(&format!("t{round}"), "Write", new("no"));
        talk.say(json!({"type": "turn_end"}));
        let result = talk.until("tool_result");
        assert_eq!(
            text(&result).contains("in a row"),
            (3..10).contains(&round),
            "{result}"
        );
        stop = talk.until("turn_end")["stop"].clone();
        assert_eq!(stop.is_null(), round < 10, "{round}: {stop}");
    }
    assert!(stop.to_string().contains("denied 10 times"), "{stop}");
    talk.close();
}
