//! Rules that are written while a question is open.

use serde_json::json;
use toolbay_tests::guests;

use super::guest;
use crate::program::Project;
use crate::run::Talk;

#[test]
fn a_deny_rule_that_comes_while_a_prompt_is_open_holds_for_the_call() {
    let project = Project::new();
    let secret = project.file("secret.txt", "secret");
    project.file("a.txt", "text");
    let (_folder, file) = guest("greedy", guests::GREEDY);
    let mut talk = Talk::start(&project, &["--plugin", &file, "--grant", "Greedy"]);
    talk.say(
        json!({"type": "tool_use", "id": "t1", "name": "Greedy", "input": {
            "subject": "a.txt",
            "tries": [
                {"what": "read", "path": secret},
                {"what": "append", "path": project.root().join("a.txt")},
            ],
        }}),
    );
    let request = talk.until("permission_request");
    project.file(
        ".toolbay/settings.json",
        json!({"permissions": {"deny": ["Read(secret.txt)"]}}).to_string(),
    );
    talk.say(json!({
        "type": "permission_response",
        "request_id": request["request_id"],
        "behavior": "allow",
    }));
    let result = talk.until("tool_result");
    assert_eq!(
        result["structured"]["worked"],
        json!([false, true]),
        "{result}"
    );
}

#[test]
fn a_deny_rule_about_the_call_itself_beats_the_answer() {
    let project = Project::new();
    let target = project.file("a.txt", "text");
    let mut talk = Talk::start(&project, &[]);
    talk.say(
        json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {
            "command": "rm a.txt",
        }}),
    );
    let request = talk.until("permission_request");
    project.file(
        ".toolbay/settings.json",
        json!({"permissions": {"deny": ["Bash(rm:*)"]}}).to_string(),
    );
    talk.say(json!({
        "type": "permission_response",
        "request_id": request["request_id"],
        "behavior": "allow",
    }));
    let result = talk.until("tool_result");
    assert_eq!(result["is_error"], true, "{result}");
    assert!(target.exists());
}
