//! Modes, the classifier, and projects that are trusted or not.

use serde_json::json;

use super::{allow, assert_written, settings, write};
use crate::program::Project;

#[test]
fn each_mode_makes_something_else_of_the_same_call() {
    let project = Project::new();
    for (mode, wanted) in [
        ("default", false),
        ("plan", false),
        ("acceptEdits", true),
        ("dontAsk", false),
    ] {
        let ran = write(&project, &["--permission-mode", mode]);
        assert_written(&project, ran, wanted);
        settings(&project, &json!({"permissions": {"defaultMode": mode}}));
        assert_written(&project, write(&project, &[]), wanted);
        settings(&project, &json!({}));
    }
    // In the mode plan not even a rule lets anything change; reading goes on.
    let ran = write(&project, &["--permission-mode", "plan", "--allow", "Write"]);
    assert_written(&project, ran, false);
    project.file("a.txt", "a\n");
    let read = "{\"file_path\": \"a.txt\"}";
    for mode in ["plan", "dontAsk"] {
        project
            .run(&["call", "Read", read, "--permission-mode", mode])
            .exits(0);
    }
    // Edits inside the roots only.
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("x");
    let input = json!({"file_path": file, "content": "x"}).to_string();
    project
        .run(&["call", "Write", &input, "--permission-mode", "acceptEdits"])
        .exits(1);
    assert!(!file.exists());
    let ran = write(&project, &["--permission-mode", "yolo"]).exits(2);
    ran.complains(&["acceptEdits"]);
}

#[test]
fn a_classifier_answers_what_would_be_asked_and_nothing_else() {
    let project = Project::new();
    let judge = |decision: &str| {
        let answer = json!({"decision": decision, "reason": "as described"});
        json!({"command": format!("cat > /dev/null; echo '{answer}'"), "allow": ["new files"]})
    };
    let with = |decision: &str, more: serde_json::Value| {
        let mut permissions = json!({"classifier": judge(decision)});
        for (key, value) in more.as_object().unwrap() {
            permissions[key] = value.clone();
        }
        settings(&project, &json!({"permissions": permissions}));
        write(&project, &[])
    };
    assert_written(&project, with("allow", json!({})), true);
    assert_written(&project, with("ask", json!({})), false);
    assert_written(&project, with("nonsense", json!({})), false);
    let ran = with("deny", json!({}));
    assert!(
        ran.err.contains("the classifier forbids it: as described"),
        "{ran:?}"
    );
    assert_written(&project, ran, false);
    // A rule that wants a person asked means a person; one that denies or allows has decided.
    assert_written(&project, with("allow", json!({"ask": ["Write"]})), false);
    assert_written(&project, with("allow", json!({"deny": ["Write"]})), false);
    assert_written(&project, with("deny", json!({"allow": ["Write"]})), true);
    assert_written(
        &project,
        with("allow", json!({"defaultMode": "dontAsk"})),
        false,
    );
    assert_written(
        &project,
        with("allow", json!({"defaultMode": "plan"})),
        false,
    );
}

#[test]
fn a_project_is_trusted_as_it_was_looked_at() {
    let project = Project::new();
    let file = project.file(".toolbay/settings.json", allow("Write").to_string());
    let ran = write(&project, &[]);
    assert!(ran.err.contains("toolbay trust"), "{ran:?}");
    assert_written(&project, ran, false);
    // Nobody is there to say that it is fine.
    project.run(&["trust"]).exits(2).complains(&["--yes"]);
    assert_written(&project, write(&project, &[]), false);
    let ran = project.run(&["trust", "--yes"]).exits(0);
    ran.prints(&["\"Write\"", "trusted: 1"]);
    assert_written(&project, write(&project, &[]), true);
    std::fs::write(&file, allow("*").to_string()).unwrap();
    assert_written(&project, write(&project, &[]), false);
    std::fs::write(&file, allow("Write").to_string()).unwrap();
    assert_written(&project, write(&project, &[]), true);
    project
        .run(&["trust", "--revoke"])
        .exits(0)
        .prints(&["forgotten: 1"]);
    assert_written(&project, write(&project, &[]), false);
    assert_written(&project, write(&project, &["--trust-project"]), true);
}
