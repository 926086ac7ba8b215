//! Scripts of a component that has `shell`: what its call was permitted says nothing about what
//! they do.

use serde_json::{Value, json};
use toolbay_tests::guests;

use super::guest;
use crate::program::Project;
use crate::run::Talk;

/// What came of each script; none if the call itself was refused.
fn door(project: &Project, flags: &[&str], input: &Value) -> Option<Vec<Value>> {
    let (_folder, file) = guest("door", guests::DOOR);
    let input = input.to_string();
    let mut args = vec!["call", "--json", "--plugin", &file, "--grant", "Door"];
    args.extend(flags);
    args.extend(["Door", &input]);
    let ran = project.run(&args);
    if ran.code != Some(0) {
        return None;
    }
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    Some(result["structured"]["ends"].as_array().unwrap().clone())
}

fn error(end: &Value) -> &str {
    end["error"]
        .as_str()
        .unwrap_or_else(|| panic!("it ran: {end}"))
}

#[test]
fn deny_rules_about_commands_hold_for_a_components_scripts() {
    let project = Project::new();
    let kept = project.file("kept.txt", "kept");
    let flags = [
        "--allow",
        "Door",
        "--deny",
        "Bash(curl:*)",
        "--deny",
        "Bash(rm:*)",
    ];
    let scripts =
        json!({"scripts": ["curl x", "ls; timeout 5 curl x", "rm kept.txt", "cat kept.txt"]});
    let ends = door(&project, &flags, &scripts).unwrap();
    for (end, rule) in ends
        .iter()
        .zip(["Bash(curl:*)", "Bash(curl:*)", "Bash(rm:*)"])
    {
        let error = error(end);
        assert!(
            error.contains(rule) && error.contains("Door → `"),
            "{error}"
        );
    }
    assert_eq!(ends[3]["output"], "kept");
    assert!(kept.exists());
}

#[test]
fn without_an_approver_a_script_that_may_change_things_does_not_run() {
    let project = Project::new();
    let ends = door(
        &project,
        &["--allow", "Door"],
        &json!({"scripts": ["touch new"]}),
    )
    .unwrap();
    let error = error(&ends[0]);
    assert!(error.contains("--allow 'Bash(touch:*)'"), "{error}");
    assert!(!project.root().join("new").exists());
    let flags = ["--allow", "Door", "--allow", "Bash(touch:*)"];
    let ends = door(&project, &flags, &json!({"scripts": ["touch new"]})).unwrap();
    assert_eq!(ends[0]["code"], 0, "{ends:?}");
    assert!(project.root().join("new").exists());
}

#[test]
fn in_the_background_and_outside_the_cage_the_same_holds() {
    let project = Project::new();
    for more in [json!({"background": true}), json!({"unsandboxed": true})] {
        let mut input = json!({"scripts": ["touch new"]});
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        let ends = door(&project, &["--allow", "Door"], &input).unwrap();
        error(&ends[0]);
    }
    assert!(!project.root().join("new").exists());
}

#[test]
fn hooks_see_a_components_scripts_as_commands() {
    let project = Project::new();
    let settings = json!({"hooks": {"PreToolUse": [{
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": "grep -q forbidden && { echo no such thing >&2; exit 2; }; exit 0"}],
    }]}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    let flags = ["--allow", "Door", "--allow", "Bash(touch:*)"];
    let scripts = json!({"scripts": ["touch forbidden", "touch fine"]});
    let ends = door(&project, &flags, &scripts).unwrap();
    assert!(error(&ends[0]).contains("no such thing"), "{ends:?}");
    assert_eq!(ends[1]["code"], 0, "{ends:?}");
    assert!(!project.root().join("forbidden").exists());
}

#[test]
fn a_read_only_call_runs_only_what_reads() {
    let project = Project::new();
    project.file("a.txt", "text");
    let input = json!({"claims_read_only": true, "scripts": ["cat a.txt", "touch b"]});
    let flags = ["--allow", "Door", "--allow", "Bash"];
    let ends = door(&project, &flags, &input).unwrap();
    assert_eq!(ends[0]["output"], "text");
    error(&ends[1]);
    assert!(!project.root().join("b").exists());
}

#[test]
fn the_log_names_the_tool_that_ran_a_script() {
    let project = Project::alone();
    let flags = ["--allow", "Door", "--deny", "Bash(rm:*)"];
    door(&project, &flags, &json!({"scripts": ["rm x"]})).unwrap();
    let shown = project.run(&["audit", "show", "--json"]).exits(0).out;
    let line = shown
        .lines()
        .find(|line| line.contains("\"rm x\"") && line.contains("deny"));
    let line = line.unwrap_or_else(|| panic!("no line about the script: {shown}"));
    assert!(line.contains("Door"), "{line}");
}

#[test]
fn a_script_writes_where_its_caller_may_and_nowhere_else() {
    let project = Project::new();
    for name in ["src/a.txt", "src/.git/config", "other.txt"] {
        project.file(name, "before");
    }
    let flags = ["--allow", "Door", "--allow", "Bash"];
    let tries = |subject: &str| {
        let scripts = [
            "src/a.txt",
            "src/new",
            "src/.git/config",
            "other.txt",
            "new",
        ]
        .map(|name| format!("echo x >> {name}"));
        let input = json!({"subject": subject, "scripts": scripts});
        let ends = door(&project, &flags, &input).unwrap();
        let _ = std::fs::remove_file(project.root().join("src/new"));
        let codes = ends.iter().map(|end| end["code"] == 0);
        codes.collect::<Vec<bool>>()
    };
    assert_eq!(tries("src"), [true, true, false, false, false]);
    assert_eq!(tries("src/a.txt"), [true, false, false, false, false]);
    assert_eq!(tries("src/new"), [false, true, false, false, false]);
}

#[test]
fn the_question_about_a_script_says_who_runs_it_where_and_how() {
    let project = Project::new();
    project.file("other/a.txt", "text");
    let (_folder, file) = guest("door", guests::DOOR);
    let flags = ["--plugin", &file, "--grant", "Door", "--allow", "Door"];
    let mut talk = Talk::start(&project, &flags);
    let other = project.root().join("other");
    talk.use_tool(
        "t1",
        "Door",
        json!({"scripts": ["touch made"], "cwd": other, "background": true}),
    );
    let asked = talk.until("permission_request");
    assert_eq!(asked["caller"], "Door", "{asked}");
    assert_eq!(asked["tool_name"], "Bash");
    let wanted = json!({"command": "touch made", "cwd": other, "run_in_background": true});
    assert_eq!(asked["input"], wanted);
    // What is refused is refused for good, and the tool learns why.
    talk.say(json!({
        "type": "permission_response", "request_id": asked["request_id"], "behavior": "deny",
        "message": "not there",
    }));
    let results = talk.end_turn();
    assert!(
        results[0].to_string().contains("not there"),
        "{}",
        results[0]
    );
    assert!(!other.join("made").exists());
}

#[test]
fn links_that_lead_out_are_not_read_unasked() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    let private = outside.path().join("private.txt");
    std::fs::write(&private, "PRIVATE").unwrap();
    std::os::unix::fs::symlink(&private, project.root().join("notes.txt")).unwrap();
    std::os::unix::fs::symlink(outside.path(), project.root().join("dir")).unwrap();
    for script in [
        "cat notes.txt",
        "cat dir/private.txt",
        "cat < notes.txt",
        "cat *.txt",
        "rg -L . dir",
        "find . -name notes.txt -exec cat {} \\;",
        "for f in *.txt; do cat $f; done",
    ] {
        let input = json!({"command": script}).to_string();
        let ran = project.run(&["call", "Bash", &input]);
        assert_eq!(ran.code, Some(1), "{script}: {}", ran.out);
        assert!(!ran.out.contains("PRIVATE"), "{script}");
    }
}

#[test]
fn a_closed_file_is_not_shown_out_of_the_repository() {
    let project = Project::new();
    project.file(".env", "SECRET");
    // The repository is made by commands outside of any session.
    for args in [
        &["init", "-q", "."][..],
        &["add", "-f", ".env"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "x",
        ],
    ] {
        let mut git = crate::program::start("git".as_ref());
        assert!(
            git.current_dir(project.root())
                .args(args)
                .status()
                .unwrap()
                .success()
        );
    }
    for script in [
        "git show HEAD:.env",
        "git log -p",
        "git log --dd",
        "git diff HEAD~0 -- .env",
    ] {
        let input = json!({"command": script}).to_string();
        let ran = project.run(&["call", "--deny", "Read(.env)", "Bash", &input]);
        assert!(!ran.out.contains("SECRET"), "{script}: {}", ran.out);
        assert_eq!(ran.code, Some(1), "{script}");
    }
}
