//! `toolbay shell`: the validator for people and programs.

use serde_json::{Value, json};

use crate::program::Project;

#[test]
fn a_command_is_explained_to_people() {
    let project = Project::alone();
    project
        .run(&["shell", "check", "cat a.txt | wc -l"])
        .exits(0)
        .quietly()
        .prints(&["read-only", "cat a.txt", "a.txt"]);
    project
        .run(&["shell", "check", "ls && rm -rf build"])
        .exits(1)
        .quietly()
        .prints(&[
            "ask",
            "UNKNOWN_COMMAND",
            "recursively force-remove",
            "build",
        ]);
    project
        .run(&["shell", "check", "echo $(rm x)"])
        .exits(1)
        .quietly()
        .prints(&["too complex", "rm x"]);
    project
        .run(&["shell", "checks"])
        .exits(0)
        .quietly()
        .prints(&["INCOMPLETE_COMMANDS", "QUOTED_NEWLINE", "DANGEROUS_REMOVAL"]);
}

#[test]
fn a_command_is_described_to_programs() {
    let project = Project::alone();
    let ran = project.run(&["shell", "check", "--json", "git commit -m 'a b' > log"]);
    let report = ran.exits(1).quietly().json();
    assert_eq!(report["read_only"], false);
    assert_eq!(report["verdict"], "ask");
    assert_eq!(report["commands"], json!([["git", "commit", "-m", "a b"]]));
    assert_eq!(report["prefix"], "git commit");
    assert_eq!(report["writes"], json!([project.root().join("log")]));
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.contains(&json!(10)), "{checks:?}");
}

#[test]
fn many_commands_are_answered_line_by_line() {
    let project = Project::alone();
    let questions = [
        json!({"id": "a", "command": "ls -la"}).to_string(),
        json!({"id": 2, "command": "cat /elsewhere/x"}).to_string(),
        String::new(),
        "not json".into(),
        json!({"id": "d", "command": "ls\u{0}; touch x"}).to_string(),
        json!({"id": "e", "command": "cat /somewhere/x"}).to_string(),
    ];
    let args = ["shell", "check", "--jsonl", "--cwd", "/somewhere"];
    let ran = project
        .run_with_input(&args, questions.join("\n").as_bytes())
        .exits(2);
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<_> = answers
        .iter()
        .map(|answer| (&answer["id"], &answer["read_only"], &answer["verdict"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!("a"), &json!(true), &json!("read-only")),
            (&json!(2), &json!(false), &json!("ask")),
            (&Value::Null, &Value::Null, &Value::Null),
            (&json!("d"), &json!(false), &json!("too-complex")),
            (&json!("e"), &json!(true), &json!("read-only")),
        ]
    );
    assert_eq!(answers[2]["line"], 4);
}

#[test]
fn a_script_that_is_missing_is_said_so() {
    let project = Project::alone();
    let ran = project.run(&["shell", "check"]).exits(2);
    assert!(ran.err.contains("<SCRIPT>"), "{ran:?}");
}
