//! What the model gets when a call fails, stage by stage: the whole block, to the letter.

mod after;

use serde_json::{Value, json};

use super::{Talk, text};
use crate::program::Project;

/// The block for the model. The folders of this run have names of their own: `PROJECT`,
/// and `FILE` for the place of a result that was kept.
fn block(project: &Project, result: &Value) -> Value {
    let block = json!({
        "type": result["type"],
        "tool_use_id": result["tool_use_id"],
        "content": result["content"],
        "is_error": result["is_error"],
    });
    let mut text = block.to_string();
    if let Some(file) = result["persisted_to"].as_str() {
        text = text.replace(file, "FILE");
    }
    text = text.replace(project.root().to_str().unwrap(), "PROJECT");
    serde_json::from_str(&text).unwrap()
}

fn text_block(id: &str, texts: &[&str], is_error: bool) -> Value {
    let content: Vec<Value> = texts
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
}

/// Where a call failed: the stage and the class of its failure.
type Place = (&'static str, &'static str);

#[track_caller]
fn fails(project: &Project, result: &Value, (stage, class): Place, texts: &[&str]) {
    let id = result["tool_use_id"].as_str().unwrap();
    assert_eq!(block(project, result), text_block(id, texts, true));
    assert_eq!(result["stage"], stage, "{result}");
    assert_eq!(result["error_class"], class, "{result}");
}

#[track_caller]
fn succeeds(project: &Project, result: &Value, texts: &[&str]) {
    let id = result["tool_use_id"].as_str().unwrap();
    assert_eq!(block(project, result), text_block(id, texts, false));
    assert_eq!(result.get("stage"), None, "{result}");
    assert_eq!(result.get("error_class"), None, "{result}");
}

#[test]
fn lookup_a_tool_that_does_not_exist() {
    let project = Project::new();
    let listed = project.run(&["tools", "--json"]).json();
    let tools = listed["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    let mut talk = Talk::start(&project, &[]);
    let result = talk.call("Raed", json!({}));
    fails(
        &project,
        &result,
        ("lookup", "invalid-input"),
        &[&format!(
            "<tool_use_error>No such tool available: there is no tool called Raed; \
             did you mean Read? There are: {}</tool_use_error>",
            names.join(", ")
        )],
    );
    talk.close();
}

#[test]
fn schema_an_input_of_the_wrong_shape() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    let result = talk.call("Read", json!({"file_paht": "x", "limit": [true]}));
    fails(
        &project,
        &result,
        ("schema", "invalid-input"),
        &[
            "<tool_use_error>InputValidationError: the input does not fit Read:\n\
            file_path: missing; wanted a string\n\
            file_paht: no such parameter; did you mean file_path?\n\
            limit: wanted an integer, given [true]</tool_use_error>",
        ],
    );
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
    fails(
        &project,
        &result,
        ("input", "invalid-input"),
        &[
            "<tool_use_error>InputValidationError: PROJECT/a.txt has not been read in this session. \
            Read it first, then change it.</tool_use_error>",
        ],
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
        &project,
        &result,
        ("permission", "denied"),
        &["Permission denied: a hook forbids it: not on a Monday"],
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
    fails(
        &project,
        &result,
        ("pre-hooks", "invalid-input"),
        &[
            "<tool_use_error>InputValidationError: a hook changed the input, and what it made of it is refused: \
            the input does not fit Grep:\n\
            wrong: no such parameter; known are -A, -B, -C, -i, -n, glob, head_limit, multiline, offset, \
            output_mode, path, pattern and 1 more</tool_use_error>",
        ],
    );
    talk.close();
}

#[test]
fn pre_hooks_one_that_allows_does_not_allow_what_another_made_of_the_call() {
    let project = Project::new();
    let specific = |more: Value| {
        let mut answer = json!({"hookEventName": "PreToolUse"});
        for (key, value) in more.as_object().unwrap() {
            answer[key] = value.clone();
        }
        let answer = json!({"hookSpecificOutput": answer});
        json!({"type": "command", "command": format!("echo '{answer}'")})
    };
    let evil = json!({"file_path": "evil.txt", "content": "x"});
    let allows = specific(json!({"permissionDecision": "allow"}));
    let changes = specific(json!({"updatedInput": evil}));
    let both = specific(json!({"permissionDecision": "allow", "updatedInput": evil}));
    let file = project.root().join("evil.txt");
    for (hooks, asks) in [
        (json!([allows, changes]), true),
        (json!([changes, allows]), true),
        (json!([both]), false),
    ] {
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}});
        std::fs::write(project.user_settings(), settings.to_string()).unwrap();
        let mut talk = Talk::start(&project, &[]);
        let good = json!({"file_path": "good.txt", "content": "x"});
        talk.use_tool("1", "Write", good);
        if asks {
            let asked = talk.until("permission_request");
            assert_eq!(asked["input"], evil, "{asked}");
            talk.say(json!({
                "type": "permission_response", "request_id": asked["request_id"],
                "behavior": "deny",
            }));
        }
        assert_eq!(talk.end_turn()[0]["is_error"], asks);
        talk.close();
        assert_eq!(file.exists(), !asks);
    }
}

#[test]
fn pre_hooks_one_that_allows_does_not_allow_what_the_tool_makes_of_its_input() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "sed -i s/one/two/ a.txt"},
    }});
    let hook = json!({"type": "command", "command": format!("echo '{answer}'")});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    let mut talk = Talk::start(&project, &[]);
    talk.use_tool("1", "Bash", json!({"command": "ls"}));
    // The tool turns the command into an edit, which the hook never saw.
    let asked = talk.until("permission_request");
    assert!(asked["input"]["edit"].is_object(), "{asked}");
    talk.say(json!({
        "type": "permission_response", "request_id": asked["request_id"], "behavior": "deny",
    }));
    assert_eq!(talk.end_turn()[0]["is_error"], true);
    talk.close();
    let text = std::fs::read_to_string(project.root().join("a.txt")).unwrap();
    assert_eq!(text, "one\n");
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
    assert!(problem.contains("its hooks do not count"), "{problem}");
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
    project.file("secret.txt", "s3cret\n");
    let mut talk = Talk::start(&project, &["--deny", "Read(secret.txt)"]);
    let result = talk.call("Read", json!({"file_path": "secret.txt"}));
    fails(
        &project,
        &result,
        ("permission", "denied"),
        &["Permission denied: the deny rule `Read(secret.txt)` forbids it"],
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
        &project,
        &results[0],
        ("permission", "denied"),
        &["Permission denied: not now"],
    );

    talk.use_tool(
        "w",
        "Write",
        json!({"file_path": "new.txt", "content": "x"}),
    );
    talk.until("permission_request");
    talk.close_input();
    let results = talk.results();
    fails(
        &project,
        &results[0],
        ("permission", "denied"),
        &[
            "Permission denied: Write needs permission because it may change things, \
            and nobody is there to answer: the input was closed; \
            `--allow 'Write(/PROJECT/new.txt)'` would allow it",
        ],
    );
    assert!(!project.root().join("new.txt").exists());
}

#[test]
fn an_answer_that_cannot_be_used_is_a_denial_and_names_its_line() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    for (number, given) in [
        json!({"behavior": "yes"}),
        json!({"behavior": 1, "message": {}}),
        json!({"message": "without a behavior"}),
        json!({"behavior": "allow", "rules": "Write"}),
        json!({"behavior": "allow", "scope": "nowhere"}),
        json!({"behavior": "allow", "rules": ["Write"]}),
    ]
    .into_iter()
    .enumerate()
    {
        talk.use_tool(
            "w",
            "Write",
            json!({"file_path": "new.txt", "content": "x"}),
        );
        let asked = talk.until("permission_request");
        let mut answer = given;
        answer["type"] = json!("permission_response");
        answer["request_id"] = asked["request_id"].clone();
        talk.say(answer.clone());
        let error = talk.until("error");
        // A call, its answer and the end of the turn are three lines.
        assert_eq!(error["line"], 3 * number + 2, "{answer}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("counts as denied"), "{answer}: {error}");
        let result = talk.end_turn().remove(0);
        assert_eq!(result["is_error"], true, "{answer}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("cannot be used"), "{answer}: {text}");
    }
    assert!(!project.root().join("new.txt").exists());
    talk.close();
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

    let mut last = Value::Null;
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
        last = talk.end_turn().remove(0);
    }
    fails(
        &project,
        &last,
        ("permission", "denied"),
        &[
            "Permission denied: the user said no. This was denied 3 times in a row; asking again will not help. \
            Go another way, or ask the person what they would allow",
        ],
    );
    talk.close();
}
