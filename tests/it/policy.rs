//! Who may allow what: settings, levers of the machine's owner, modes, trust, the audit log.

mod audit;
mod levers;
mod living;
mod mistakes;
mod modes;

use serde_json::{Value, json};

use crate::program::{Project, Ran};

/// A call that changes something, and that nobody is there to allow.
fn write(project: &Project, more: &[&str]) -> Ran {
    let input = "{\"file_path\": \"new.txt\", \"content\": \"x\"}";
    let mut args = vec!["call", "Write", input];
    args.extend(more);
    project.run(&args)
}

#[track_caller]
fn assert_written(project: &Project, ran: Ran, wanted: bool) {
    let ran = ran.exits(i32::from(!wanted));
    let file = project.root().join("new.txt");
    assert_eq!(file.exists(), wanted, "{ran:?}");
    let _ = std::fs::remove_file(file);
}

fn settings(project: &Project, text: &Value) {
    std::fs::write(project.user_settings(), text.to_string()).unwrap();
}

fn allow(rule: &str) -> Value {
    json!({"permissions": {"allow": [rule]}})
}

#[test]
fn explain_names_file_and_line_for_every_outcome() {
    let project = Project::new();
    let text = "{\"permissions\": {\n\"deny\": [\"Write(./no/**)\"],\n\"ask\": [\"Write(./ask/**)\"],\n\
                \"allow\": [\"Write(./yes/**)\"]}}";
    std::fs::write(project.user_settings(), text).unwrap();
    for (path, behavior, line) in [
        ("no/a", "deny", 2),
        ("ask/a", "ask", 3),
        ("yes/a", "allow", 4),
    ] {
        let input = json!({"file_path": path, "content": ""}).to_string();
        let args = ["policy", "explain", "--tool", "Write", "--input", &input];
        let ran = project.run(&args).exits(0).quietly();
        ran.prints(&[behavior, &format!("settings.json:{line}")]);
        let mut args = args.to_vec();
        args.push("--json");
        let told = project.run(&args).exits(0).json();
        assert_eq!(told["behavior"], behavior, "{told}");
        assert_eq!(told["winner"]["provenance"]["line"], line, "{told}");
        assert_eq!(told["winner"]["provenance"]["source"], "user", "{told}");
    }
}

#[test]
fn lines_are_checked_and_bad_ones_told_with_their_number() {
    let project = Project::new();
    let lines = [
        json!({"id": 1, "tool": "Shell", "input": {"command": "git push"}, "rules": {"deny": ["Shell(git push:*)"]}}),
        json!({"id": 2, "tool": "Shell", "input": {"command": "ls"}, "rules": {}}),
        json!({"id": 3, "tool": "Shell", "input": {"command": "make"}, "mode": "dontAsk"}),
        json!({"id": 4, "tool": "Shell", "input": {}, "rules": {"deny": ["Shell("]}}),
    ];
    let mut input = lines.map(|line| line.to_string()).join("\n");
    input.push_str("\nno json\n");
    let ran = project.run_with_input(&["policy", "check", "--jsonl"], input.as_bytes());
    let ran = ran.exits(2).quietly();
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let behaviors: Vec<&str> = answers
        .iter()
        .filter_map(|answer| answer["behavior"].as_str())
        .collect();
    assert_eq!(behaviors, ["deny", "allow", "deny"], "{answers:?}");
    assert_eq!(answers[0]["rule"], "Shell(git push:*)");
    assert_eq!(
        (&answers[3]["id"], &answers[3]["line"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(answers[4]["line"], 5);
}

#[test]
fn policies_have_tests_and_lint() {
    let project = Project::new();
    let tests = json!({
        "settings": {"permissions": {"deny": ["Shell(curl:*)"]}},
        "tests": [
            {"name": "no downloads", "tool": "Shell", "input": {"command": "ls; curl x"}, "expect": "deny", "rule": "Shell(curl:*)"},
            {"name": "looking", "tool": "Shell", "input": {"command": "ls"}, "expect": "allow"},
        ],
    });
    project.file("policy.json", tests.to_string());
    let ran = project.run(&["policy", "test", "policy.json"]);
    ran.exits(0).prints(&["2 passed, 0 failed"]);
    let wrong = tests.to_string().replace("\"allow\"", "\"deny\"");
    project.file("policy.json", wrong);
    let ran = project.run(&["policy", "test", "policy.json"]);
    ran.exits(1)
        .prints(&["looking: expected deny, found allow", "1 failed"]);
    project.file("policy.json", "{\"tests\": []}");
    project.run(&["policy", "test", "policy.json"]).exits(1);
    project.run(&["policy", "lint"]).exits(0);
    settings(
        &project,
        &json!({"permissions": {"deny": ["Write"], "allow": ["Write(./a)", "*"]}}),
    );
    let ran = project.run(&["policy", "lint"]).exits(1);
    ran.prints(&["Write(./a)", "settings.json:1"]);
}
