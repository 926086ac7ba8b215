//! What the model gets when a call fails, stage by stage.

use serde_json::{Value, json};

use super::{Talk, text, with_rogue};
use crate::program::Project;

#[track_caller]
fn fails(result: &Value, stage: Option<&str>, class: Option<&str>, wanted: &str) {
    assert_eq!(result["is_error"], true, "{result}");
    assert_eq!(result["stage"].as_str(), stage, "{result}");
    assert_eq!(result["error_class"].as_str(), class, "{result}");
    assert_eq!(text(result), wanted);
}

#[test]
fn lookup_a_tool_that_does_not_exist() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    let result = talk.call("Raed", json!({}));
    let found = text(&result);
    assert!(
        found.starts_with("<tool_use_error>No such tool available: "),
        "{found}"
    );
    assert!(found.contains("Read"), "the nearest name is told: {found}");
    assert_eq!(result["stage"], "lookup");
    assert_eq!(result["error_class"], "invalid-input");
    assert_eq!(result["tool_use_id"], "t");
    talk.close();
}

#[test]
fn schema_an_input_of_the_wrong_shape() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    let result = talk.call("Read", json!({"file_paht": "x", "limit": [true]}));
    let found = text(&result);
    assert!(
        found.starts_with("<tool_use_error>InputValidationError: the input does not fit Read:\n"),
        "{found}"
    );
    for part in ["file_path", "file_paht", "limit"] {
        assert!(found.contains(part), "{part} is missing in {found}");
    }
    assert_eq!(result["stage"], "schema");
    // What only looks wrong is put right.
    project.file("a.txt", "one\ntwo\nthree\n");
    let result = talk.call("Read", json!({"file_path": "a.txt", "limit": "1"}));
    assert_eq!(result["is_error"], false, "{result}");
    assert!(
        text(&result).starts_with("     1\tone\n\n(Lines 1-1 of 3"),
        "{result}"
    );
    talk.close();
}

#[test]
fn input_that_the_tool_itself_refuses() {
    let project = Project::new();
    let path = project.file("a.txt", "one\n");
    let mut talk = Talk::start(&project, &["--allow", "Edit"]);
    let result = talk.call(
        "Edit",
        json!({"file_path": path, "old_string": "one", "new_string": "two"}),
    );
    assert_eq!(result["stage"], "input", "{result}");
    let found = text(&result);
    assert!(
        found.starts_with("<tool_use_error>InputValidationError: ") && found.contains("read"),
        "{found}"
    );
    talk.close();
}

#[test]
fn pre_hooks_a_hook_that_forbids_and_one_that_spoils_the_input() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let deny = "echo 'not on a Monday' >&2; exit 2";
    let spoil = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"pattern":5,"wrong":1}}}'"#;
    let hooks = json!({"hooks": {"PreToolUse": [
        {"matcher": "Read", "hooks": [{"type": "command", "command": deny}]},
        {"matcher": "Grep", "hooks": [{"type": "command", "command": spoil}]},
    ]}});
    project.file(".toolbay/settings.json", hooks.to_string());
    let mut talk = Talk::start(&project, &["--project-hooks"]);
    let result = talk.call("Read", json!({"file_path": "a.txt"}));
    fails(
        &result,
        Some("permission"),
        Some("denied"),
        "Permission denied: a hook forbids it: not on a Monday",
    );
    let said = talk
        .heard
        .iter()
        .find(|line| line["type"] == "hook_message");
    let said = said.expect("the hook's decision is told");
    assert_eq!(
        said["message"]["kind"], "hook_permission_decision",
        "{said}"
    );

    let result = talk.call("Grep", json!({"pattern": "one"}));
    assert_eq!(result["stage"], "pre-hooks", "{result}");
    assert!(
        text(&result).contains("a hook changed the input, and what it made of it is refused"),
        "{result}"
    );
    talk.close();
}

#[test]
fn pre_hooks_of_a_project_do_not_run_unless_somebody_says_so() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let hooks = json!({"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command", "command": "touch ran"}]},
    ]}});
    let settings = project.file(".toolbay/settings.json", hooks.to_string());
    let mut talk = Talk::start(&project, &[]);
    let problem = talk.ready["problems"][0].as_str().unwrap().to_owned();
    assert!(problem.contains("--project-hooks"), "{problem}");
    let read = json!({"file_path": "a.txt"});
    assert_eq!(talk.call("Read", read.clone())["is_error"], false);
    assert!(!project.root().join("ran").exists());
    talk.close();
    // The same file as the person's own settings is their own word.
    std::fs::rename(settings, project.user_settings()).unwrap();
    let mut talk = Talk::start(&project, &[]);
    assert_eq!(talk.call("Read", read)["is_error"], false);
    assert!(project.root().join("ran").exists());
    talk.close();
}

#[test]
fn permission_denied_by_a_rule_by_a_person_and_by_nobody() {
    let project = Project::new();
    let secret = project.file("secret.txt", "s3cret\n");
    let mut talk = Talk::start(&project, &["--deny", "Read(secret.txt)"]);
    let result = talk.call("Read", json!({"file_path": "secret.txt"}));
    fails(
        &result,
        Some("permission"),
        Some("denied"),
        "Permission denied: the deny rule `Read(secret.txt)` forbids it",
    );

    talk.use_tool(
        "w",
        "Write",
        json!({"file_path": "new.txt", "content": "x"}),
    );
    let asked = talk.until("permission_request");
    assert_eq!(asked["tool_use_id"], "w");
    assert_eq!(asked["input"]["file_path"], "new.txt");
    talk.say(
        json!({"type": "permission_response", "request_id": asked["request_id"],
                    "behavior": "deny", "message": "not now"}),
    );
    let results = talk.end_turn();
    fails(
        &results[0],
        Some("permission"),
        Some("denied"),
        "Permission denied: not now",
    );

    talk.use_tool(
        "w",
        "Write",
        json!({"file_path": "new.txt", "content": "x"}),
    );
    talk.until("permission_request");
    talk.close_input();
    let results = talk.results();
    let found = text(&results[0]);
    assert!(
        found.contains("nobody is there to answer: the input was closed"),
        "{found}"
    );
    assert!(!project.root().join("new.txt").exists());
    drop(secret);
}

#[test]
fn permission_is_given_and_the_third_denial_in_a_row_says_so() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    talk.use_tool(
        "w",
        "Write",
        json!({"file_path": "new.txt", "content": "x"}),
    );
    let asked = talk.until("permission_request");
    let id = asked["request_id"].clone();
    talk.say(json!({"type": "permission_response", "request_id": "no_such", "behavior": "allow"}));
    assert!(
        talk.until("error")["message"]
            .as_str()
            .unwrap()
            .contains("no_such")
    );
    talk.say(json!({"type": "permission_response", "request_id": id, "behavior": "allow"}));
    assert_eq!(talk.end_turn()[0]["is_error"], false);
    assert_eq!(std::fs::read(project.root().join("new.txt")).unwrap(), b"x");

    let mut last = String::new();
    for _ in 0..3 {
        talk.use_tool(
            "w",
            "Write",
            json!({"file_path": "other.txt", "content": "x"}),
        );
        let asked = talk.until("permission_request");
        talk.say(
            json!({"type": "permission_response", "request_id": asked["request_id"],
                        "behavior": "deny"}),
        );
        last = text(&talk.end_turn()[0]);
    }
    assert!(last.contains("denied 3 times in a row"), "{last}");
    talk.close();
}

#[test]
fn call_the_tool_fails_breaks_or_runs_out_of_time() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    project.file(
        ".toolbay/settings.json",
        json!({"limits": {"Rogue": {"call-ms": 300}}}).to_string(),
    );
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let result = talk.call("Read", json!({"file_path": "missing.txt"}));
    assert_eq!(result["stage"], "call", "{result}");
    assert_eq!(result["error_class"], "failed");
    let found = text(&result);
    assert!(
        found.starts_with("<tool_use_error>") && found.contains("missing.txt"),
        "{found}"
    );

    let result = talk.call("Rogue", json!({"act": "panic"}));
    assert_eq!(result["error_class"], "broke", "{result}");
    assert!(
        text(&result).starts_with("<tool_use_error>Error: plugin Rogue broke in call: "),
        "{result}"
    );

    let result = talk.call("Rogue", json!({"act": "loop"}));
    assert_eq!(result["error_class"], "deadline", "{result}");
    fails(
        &result,
        Some("call"),
        Some("deadline"),
        "<tool_use_error>Error: ended: it took longer than the 300ms it may take</tool_use_error>",
    );
    talk.close();
}

#[test]
fn mapping_an_empty_result_says_so() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let result = talk.call("Rogue", json!({"act": "echo", "text": ""}));
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(text(&result), "(Rogue completed with no output)");
    talk.close();
}

#[test]
fn persist_a_large_result_goes_to_a_file_that_can_be_read() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let line = "x".repeat(99);
    let long = format!("{line}\n").repeat(1_000);
    let result = talk.call("Rogue", json!({"act": "echo", "text": long}));
    assert_eq!(result["is_error"], false, "{result}");
    let shown = text(&result);
    assert!(shown.len() < 4_000, "{}", shown.len());
    assert!(shown.starts_with("<persisted-output>"), "{shown}");
    let path = result["persisted_to"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), long);
    assert!(shown.contains(path), "{shown}");
    // What the model is told to read it may read, without a question.
    let read = talk.call("Read", json!({"file_path": path, "limit": 2}));
    assert_eq!(read["is_error"], false, "{read}");
    assert!(text(&read).starts_with("     1\txxx"), "{read}");
    talk.close();
}

#[test]
fn post_hooks_add_to_the_result_and_may_stop_the_conversation() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let feedback = "echo 'remember the tests' >&2; exit 2";
    let stop = r#"echo '{"continue": false, "stopReason": "enough for today"}'"#;
    let failed = r#"grep -q '"error"' && echo '{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"files live in src"}}'"#;
    let hooks = json!({"hooks": {
        "PostToolUse": [
            {"matcher": "Read", "hooks": [{"type": "command", "command": feedback}]},
            {"matcher": "Glob", "hooks": [{"type": "command", "command": stop}]},
        ],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": failed}]}],
    }});
    project.file(".toolbay/settings.json", hooks.to_string());
    let mut talk = Talk::start(&project, &["--project-hooks"]);
    let result = talk.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(
        text(&result),
        "     1\tone\nA hook says after the call: remember the tests"
    );
    let result = talk.call("Read", json!({"file_path": "b.txt"}));
    assert!(text(&result).ends_with("\nfiles live in src"), "{result}");
    talk.use_tool("g", "Glob", json!({"pattern": "*.txt"}));
    talk.end_turn();
    let end = talk.heard.last().unwrap();
    assert_eq!(end["stop"], "enough for today", "{end}");
    talk.close();
}
