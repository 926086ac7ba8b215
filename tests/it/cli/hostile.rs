//! Names that a project chose, in everything that is printed for a user: no character of them
//! moves the cursor, and none of their lines passes for one of ours.

use serde_json::{Value, json};

use crate::program::{Project, Ran};

/// Moves, rings, turns the direction of the text, and begins a line of its own.
const HOSTILE: &str = "\u{1b}]0;x\u{7}RED\nFAKE LINE\u{202e}\r\u{9b}31m";

#[track_caller]
fn assert_harmless(ran: &Ran, what: &str) {
    assert!(ran.code.is_some(), "{what}: {ran:?}");
    for text in [&ran.out, &ran.err] {
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
        let is_bad = |c: char| acts(c) || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(is_bad), "{what}: {text:?}");
        let forged = text.lines().any(|line| line.starts_with("FAKE LINE"));
        assert!(!forged, "{what}: {text}");
    }
}

fn everything(project: &Project, what: &str) {
    for args in [
        &["doctor"][..],
        &["tools"],
        &["policy", "lint"],
        &[
            "policy",
            "explain",
            "--tool",
            "Read",
            "--input",
            r#"{"file_path":"a.txt"}"#,
        ],
        &["mcp", "list"],
        &["trust"],
        &["call", "Read", r#"{"file_path":"a.txt"}"#],
        &["call", "Bash", r#"{"command":"cat a.txt"}"#],
        &[
            "--trust-project",
            "call",
            "Bash",
            r#"{"command":"cat a.txt"}"#,
        ],
        &["audit", "show"],
        &["inspect", &format!("no{HOSTILE}")],
        &["trust", "--yes"],
        &["doctor"],
        &["policy", "lint"],
        &["call", "Read", r#"{"file_path":"a.txt"}"#],
        &["trust", "--revoke"],
    ] {
        let args: Vec<&str> = args.to_vec();
        let ran = project.run(&args);
        assert_harmless(&ran, &format!("{what}: {args:?}"));
    }
}

fn settings() -> Vec<(&'static str, Value)> {
    let e = HOSTILE;
    vec![
        (
            "rules and hooks",
            json!({
                "permissions": {
                    "deny": [format!("Read(./x{e})")],
                    "allow": [format!("Bash(ls{e}:*)"), format!("Read(/usr{e}/../usr)")],
                    "additionalDirectories": [format!("/nowhere{e}")],
                },
                "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": format!("exit 1 #{e}")}]}]},
                "plugins": [format!("x{e}")],
                "mcpServers": {"z": {"command": format!("c{e}")}},
            }),
        ),
        ("a key", json!({format!("perm{e}"): 1})),
        ("an event", json!({"hooks": {format!("Pre{e}"): []}})),
        (
            "a limit",
            json!({"limits": {format!("x{e}"): {"call-ms": format!("a{e}")}}}),
        ),
        (
            "a mode",
            json!({"permissions": {"defaultMode": format!("m{e}")}}),
        ),
        (
            "a grant",
            json!({"grants": {format!("sha256:{e}"): [format!("x{e}")]}}),
        ),
        (
            "a broken rule",
            json!({"permissions": {"deny": [format!("Read([x{e})")]}}),
        ),
        (
            "a matcher",
            json!({"hooks": {"PreToolUse": [{"matcher": format!("({e}"), "hooks": []}]}}),
        ),
        (
            "a host",
            json!({"sandbox": {"allowedHosts": [format!("h{e}")]}}),
        ),
        ("a list", json!({"mcpServerList": format!("u{e}")})),
    ]
}

#[test]
fn names_of_a_project_are_shown_and_do_nothing() {
    for (what, settings) in settings() {
        let project = Project::new();
        project.file("a.txt", "x\n");
        project.file(".toolbay/settings.json", settings.to_string());
        everything(&project, what);
    }
}

#[test]
fn a_folder_that_is_none_is_left_out_and_told() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let settings = json!({"permissions": {"additionalDirectories": ["/nowhere/at/all"]}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    let wanted = [
        "settings.json",
        "permissions.additionalDirectories",
        "/nowhere/at/all",
    ];
    let read = ["call", "Read", r#"{"file_path":"a.txt"}"#];
    project.run(&read).exits(0).complains(&wanted);
    let ran = project.run(&["doctor"]).exits(1).prints(&wanted);
    let is_bad = |line: &str| line.contains("✗") && line.contains("/nowhere/at/all");
    assert!(ran.out.lines().any(is_bad), "{ran:?}");
    // A folder that was given for this run is another matter.
    project
        .run(&[
            "call",
            "--add-dir",
            "/nowhere/at/all",
            "Read",
            r#"{"file_path":"a.txt"}"#,
        ])
        .exits(2);
}

#[test]
fn a_rule_that_was_meant_from_the_root_is_told() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let there = elsewhere.path().canonicalize().unwrap();
    let rule = format!("Read({}/**)", there.display());
    let settings = json!({"permissions": {"deny": [rule]}});
    project.file(".toolbay/settings.json", settings.to_string());
    let advice = format!("write `/{}/**`", there.display());
    project
        .run(&["call", "Read", r#"{"file_path":"a.txt"}"#])
        .exits(0)
        .complains(&[&advice, "settings.json"]);
    project
        .run(&["policy", "lint"])
        .exits(1)
        .prints(&["misplaced", &advice]);
}
