//! What users get wrong when they write rules and answers, and would rely on.

use serde_json::json;

use crate::program::Project;
use crate::run::Talk;

#[test]
fn a_rule_with_a_misspelt_tool_is_reported() {
    let project = Project::new();
    project.file("a.txt", "x");
    let read = r#"{"file_path": "a.txt"}"#;
    for (rule, meant) in [
        ("Raed(.env)", "Read"),
        ("read(.env)", "Read"),
        ("Grpe", "Grep"),
    ] {
        let wanted = format!("did you mean `{meant}`?");
        project
            .run(&["call", "--deny", rule, "Read", read])
            .exits(0)
            .complains(&[rule, &wanted]);
    }
    for rule in ["Read(.env)", "NotHere(x)", "Task(x)", "mcp__git__log"] {
        let ran = project
            .run(&["call", "--deny", rule, "Read", read])
            .exits(0);
        assert!(!ran.err.contains("did you mean"), "{rule}: {}", ran.err);
    }
}

#[test]
fn a_settings_file_that_does_not_exist_is_an_error() {
    let project = Project::new();
    project
        .run(&["tools", "--settings", "lokc.json"])
        .exits(2)
        .complains(&["--settings", "lokc.json", "no such file"]);
}

#[test]
fn a_call_without_its_path_meets_rules_about_the_working_directory() {
    let project = Project::new();
    project.file("a.txt", "needle");
    let grep = r#"{"pattern": "needle"}"#;
    for rule in ["Grep(./**)", "Grep(.)", "Grep"] {
        project
            .run(&["call", "--deny", rule, "Grep", grep])
            .exits(1);
        let shown = [
            "policy", "explain", "--json", "--deny", rule, "--tool", "Grep",
        ];
        let explained = project
            .run(&[&shown[..], &["--input", grep]].concat())
            .json();
        assert_eq!(explained["behavior"], "deny", "{rule}: {explained}");
    }
    for rule in ["Grep(./src/**)", "Glob(./**)"] {
        project
            .run(&["call", "--deny", rule, "Grep", grep])
            .exits(0);
    }
}

#[test]
fn an_answer_that_cannot_be_used_is_a_denial() {
    let project = Project::new();
    for (more, helps) in [
        (json!({"scope": "managed"}), "session, local"),
        (json!({"scope": "galaxy"}), "session, local"),
        (json!({"rules": ["Write"]}), "`scope`"),
    ] {
        let mut talk = Talk::start(&project, &[]);
        talk.use_tool(
            "t1",
            "Write",
            json!({"file_path": "new.txt", "content": "x"}),
        );
        let asked = talk.until("permission_request");
        let mut answer = json!({
            "type": "permission_response", "request_id": asked["request_id"], "behavior": "allow",
        });
        for (key, value) in more.as_object().unwrap() {
            answer[key] = value.clone();
        }
        talk.say(answer);
        let error = talk.until("error");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("counts as denied") && message.contains(helps),
            "{error}"
        );
        assert_eq!(talk.end_turn()[0]["error_class"], "denied");
        talk.close();
        assert!(!project.root().join("new.txt").exists(), "{more}");
    }
}
