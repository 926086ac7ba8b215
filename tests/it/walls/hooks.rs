//! What a hook runs is the user's: no tool and no command can write it.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::Project;
use crate::run::{Talk, text};

const GUARD: &str = "#!/bin/sh\nexit 0\n";

/// A project with a script that a hook of the user's runs before every call.
fn guarded(command: &str) -> Project {
    let project = Project::new();
    project.file("scripts/guard.sh", GUARD);
    let settings = json!({
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]},
    });
    std::fs::create_dir_all(project.user_settings().parent().unwrap()).unwrap();
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    project
}

#[test]
fn no_tool_and_no_command_rewrites_what_a_hook_runs() {
    for command in [
        "sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh",
        "sh scripts/guard.sh",
        "test -f README || sh ${TOOLBAY_PROJECT_DIR}/scripts/guard.sh",
    ] {
        let project = guarded(command);
        let script = project.root().join("scripts/guard.sh");
        let evil = "touch pwned";
        let write = json!({"file_path": script, "content": evil}).to_string();
        let edit = json!({"file_path": script, "old_string": "exit 0", "new_string": evil});
        let edit = edit.to_string();
        let shell = |text: &str| json!({"command": text}).to_string();
        let read = json!({"file_path": script}).to_string();
        project
            .run(&["call", "--session", "s", "Read", &read])
            .exits(0);
        for (tool, input) in [
            ("Write", write.as_str()),
            ("Edit", &edit),
            ("Bash", &shell("echo 'touch pwned' > scripts/guard.sh")),
            ("Bash", &shell("rm scripts/guard.sh")),
            (
                "Bash",
                &shell("mv scripts old && mkdir scripts && echo x > scripts/guard.sh"),
            ),
            ("Bash", &shell("echo x > new && mv new scripts/guard.sh")),
            ("Bash", &shell("chmod 777 scripts/guard.sh")),
        ] {
            let args = ["call", "--session", "s", "--allow", tool, tool, input];
            let ran = project.run(&args);
            assert_ne!(ran.code, Some(0), "{command}: {tool} {input}");
            let left = std::fs::read_to_string(&script);
            assert_eq!(left.ok().as_deref(), Some(GUARD), "{tool} {input}");
        }
        assert!(!project.root().join("pwned").exists());
    }
}

/// What is explained is what would happen, but for what the hooks themselves say.
#[test]
fn an_explanation_knows_what_hooks_close() {
    let project = guarded("sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh");
    let explain = |input: &str, more: &[&str]| {
        let args = ["policy", "explain", "--tool", "Write", "--input", input];
        project.run(&[&args[..], more].concat()).exits(0)
    };
    let write = |name: &str| json!({"file_path": name, "content": "x"}).to_string();
    let allow = ["--allow", "Write(./scripts/**)"];
    explain(&write("scripts/guard.sh"), &allow).prints(&[
        "deny Write",
        "hooks",
        "1 hook is configured",
    ]);
    explain(&write("scripts/other.sh"), &allow).prints(&["allow Write", "1 hook is configured"]);
}

/// The mode in which edits of the project are not asked about leaves this one out.
#[test]
fn accepted_edits_do_not_rewrite_what_a_hook_runs() {
    let project = guarded("sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh");
    let script = project.file("scripts/guard.sh", GUARD);
    let other = project.file("scripts/other.sh", GUARD);
    let write = |file: &Path| json!({"file_path": file, "content": "touch pwned"});
    let edit = |file: &Path| json!({"file_path": file, "old_string": "exit 0", "new_string": "touch pwned"});
    let accepted = |tool: &str, input: Value| {
        let mode = ["call", "--session", "s", "--permission-mode", "acceptEdits"];
        let input = input.to_string();
        project.run(&[&mode[..], &[tool, &input]].concat())
    };
    for file in [&script, &other] {
        accepted("Read", json!({"file_path": file})).exits(0);
    }
    for (tool, input) in [("Edit", edit(&script)), ("Write", write(&script))] {
        let ran = accepted(tool, input);
        assert_ne!(ran.code, Some(0), "{tool}: {ran:?}");
        let left = std::fs::read_to_string(&script).unwrap();
        assert_eq!(left, GUARD, "{tool}: {ran:?}");
    }
    // What no hook runs is edited in this mode.
    accepted("Edit", edit(&other)).exits(0);
    accepted("Write", write(&other)).exits(0);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "touch pwned");
}

#[test]
fn no_command_puts_another_file_behind_the_links_of_a_hook() {
    for (command, script) in [
        ("sh ./one", "rm two; ln -s evil two"),
        ("sh ./one", "ln -sfn evil one"),
        (
            "sh ./folder/guard.sh",
            "mkdir q; cp evil q/guard.sh; ln -sfn q folder",
        ),
        (
            "sh ./folder/guard.sh",
            "mv folder away; mkdir folder; cp evil folder/guard.sh",
        ),
    ] {
        let project = guarded(command);
        let root = project.root();
        std::os::unix::fs::symlink("two", root.join("one")).unwrap();
        std::os::unix::fs::symlink("scripts/guard.sh", root.join("two")).unwrap();
        std::os::unix::fs::symlink("scripts", root.join("folder")).unwrap();
        project.file("evil", "touch pwned; exit 0");
        let input = json!({"command": script}).to_string();
        project.run(&["call", "--allow", "Bash", "Bash", &input]);
        for name in ["one", "folder/guard.sh"] {
            let text = std::fs::read_to_string(root.join(name)).unwrap();
            assert_eq!(text, GUARD, "{command}: {script}");
        }
    }
}

#[test]
fn a_script_that_a_hook_runs_and_that_is_not_there_cannot_be_made() {
    let project = guarded("sh ./later.sh; exit 0");
    let input = json!({"command": "echo touch pwned > later.sh"}).to_string();
    let ran = project.run(&["call", "--allow", "Bash", "Bash", &input]);
    assert_ne!(ran.code, Some(0));
    assert!(!project.root().join("later.sh").exists());
}

/// A program in quotes, with slashes in it, could be the name of a file that is not there yet.
#[test]
fn a_hook_that_is_a_long_text_stands_in_the_way_of_nothing() {
    let text = "x = \"/a/b\"; ".repeat(100);
    let project = guarded(&format!("python3 -c '{text}'"));
    let made = json!({"command": "echo hi > made"}).to_string();
    project
        .run(&["call", "--allow", "Bash", "Bash", &made])
        .exits(0);
    assert!(project.root().join("made").exists());
    let solid = "a/".to_owned() + &"b".repeat(5000);
    let project = guarded(&format!(": '{solid}'"));
    project
        .run(&["call", "--allow", "Bash", "Bash", &made])
        .exits(0);
    assert!(project.root().join("made").exists());
}

/// The guard floods, hangs or is not there: none of that lets a call through.
#[test]
fn a_guard_that_comes_to_no_answer_denies() {
    for command in [
        "cat; cat /dev/zero",
        "kill -9 $$",
        "exec ./not-there",
        "echo '{\"decision\": \"blo'",
    ] {
        let project = guarded(command);
        let input = json!({"file_path": project.root().join("new"), "content": "x"}).to_string();
        let ran = project.run(&["call", "--allow", "Write", "Write", &input]);
        assert_ne!(ran.code, Some(0), "{command}");
        assert!(!project.root().join("new").exists(), "{command}");
    }
}

/// Another program of the user's, such as a checkout, brings another script while the session runs.
#[test]
fn a_script_that_changes_in_a_session_is_asked_about() {
    let project = guarded("sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh");
    let mut talk = Talk::start(&project, &["--allow", "Write"]);
    let write = |talk: &mut Talk, number: usize, answers: &[&str]| {
        let name = format!("new-{number}");
        talk.use_tool("t", "Write", json!({"file_path": name, "content": "x"}));
        for answer in answers {
            let asked = talk.until("permission_request");
            let reason = asked["reason"].as_str().unwrap();
            assert!(reason.contains("scripts/guard.sh changed"), "{asked}");
            talk.say(json!({
                "type": "permission_response", "request_id": asked["request_id"],
                "behavior": answer,
            }));
        }
        let result = talk.end_turn().remove(0);
        (project.root().join(name).exists(), text(&result))
    };
    let (was_written, said) = write(&mut talk, 1, &[]);
    assert!(was_written, "{said}");
    project.file("scripts/guard.sh", "touch \"$CLAUDE_PROJECT_DIR\"/ran\n");
    let (was_written, said) = write(&mut talk, 2, &["deny"]);
    assert!(!was_written && !project.root().join("ran").exists());
    assert!(said.contains("scripts/guard.sh changed"), "{said}");
    let (was_written, said) = write(&mut talk, 3, &["allow"]);
    assert!(was_written && project.root().join("ran").exists(), "{said}");
    // Asked once for each change.
    let (was_written, said) = write(&mut talk, 4, &[]);
    assert!(was_written, "{said}");
    project.file("scripts/guard.sh", GUARD);
    let (was_written, _) = write(&mut talk, 5, &["deny"]);
    assert!(!was_written);
    talk.close();
}
