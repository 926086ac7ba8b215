//! Commands without a cage, by the real program: who lets them out, and every way around that.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bash::assert_no_process;
use crate::program::{Project, not_run};
use crate::run::{Talk, text};

fn settings(project: &Project, sandbox: Value) {
    let text = json!({"sandbox": sandbox}).to_string();
    std::fs::write(project.user_settings(), text).unwrap();
}

/// A file outside the project that only a command without a cage can write.
fn outside() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let file = folder.path().join("was-here");
    (folder, file)
}

fn asking(command: &str) -> Value {
    json!({"command": command, "dangerously_disable_sandbox": true})
}

/// Makes a call and answers the question about it; the question and the result.
fn answered(talk: &mut Talk, input: Value, answer: Value) -> (Value, Value) {
    talk.use_tool("q", "Bash", input);
    let asked = talk.until("permission_request");
    let mut line = json!({"type": "permission_response", "request_id": asked["request_id"]});
    let fields = answer.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(fields);
    talk.say(line);
    let results = talk.end_turn();
    (asked, results.into_iter().next().unwrap())
}

fn yes() -> Value {
    json!({"behavior": "allow"})
}

#[test]
fn without_the_setting_to_ask_is_refused_and_says_what_it_takes() {
    let project = Project::new();
    let (_folder, file) = outside();
    let command = format!("echo x > {}", file.display());
    for sandbox in [
        json!({}),
        json!({"allowUnsandboxed": false}),
        json!({"excludedCommands": ["echo:*"]}),
    ] {
        settings(&project, sandbox);
        let input = asking(&command).to_string();
        let ran = project.run(&["call", "Bash", &input, "--allow", "Bash"]);
        ran.exits(1)
            .complains(&["outside the cage", "allowUnsandboxed"]);
        assert!(!file.exists());
    }
    // A project cannot allow it, trusted or not.
    settings(&project, json!({}));
    let text = json!({"sandbox": {"allowUnsandboxed": true, "excludedCommands": ["touch:*"]}});
    for name in ["settings.json", "settings.local.json"] {
        project.file(&format!(".toolbay/{name}"), text.to_string());
    }
    for more in [&[][..], &["--trust-project"]] {
        for input in [
            asking(&command),
            json!({"command": format!("touch {}", file.display())}),
        ] {
            let input = input.to_string();
            let mut args = vec!["call", "Bash", &input, "--allow", "Bash"];
            args.extend(["--allow", "Bash(touch:*)"]);
            args.extend(more);
            let ran = project.run(&args).exits(1);
            ran.complains(&["do not count"]);
            assert!(!file.exists());
        }
    }
}

#[test]
fn with_the_setting_it_runs_only_after_a_yes_to_a_question_in_plain_words() {
    let project = Project::new();
    let (_folder, file) = outside();
    settings(&project, json!({"allowUnsandboxed": true}));
    let command = format!("touch {}; pwd; env; sleep 7161 & cd src", file.display());
    std::fs::create_dir(project.root().join("src")).unwrap();
    // Nobody is there.
    let input = asking(&command).to_string();
    let ran = project.run(&["call", "Bash", &input, "--allow", "Bash"]);
    ran.exits(1).complains(&["WITHOUT A CAGE", "nobody to ask"]);
    assert!(!file.exists());
    let mut talk = Talk::start(&project, &["--allow", "Bash", "--allow", "*"]);
    let no = json!({"behavior": "deny"});
    let (asked, result) = answered(&mut talk, asking(&command), no);
    assert!(
        asked["reason"].to_string().contains("WITHOUT A CAGE"),
        "{asked}"
    );
    assert!(
        asked["warnings"].to_string().contains("WITHOUT A CAGE"),
        "{asked}"
    );
    assert_eq!(asked["suggested_rules"], json!([]), "{asked}");
    assert_eq!(result["is_error"], true, "{result}");
    assert!(!file.exists());
    let (_, result) = answered(&mut talk, asking(&command), yes());
    assert_eq!(result["is_error"], false, "{result}");
    assert!(file.exists());
    let said = text(&result);
    assert!(said.contains("outside the cage"), "{said}");
    // Little of the host is told, and all of it ends with the call.
    assert!(!said.contains("TOOLBAY_MANAGED_SETTINGS"), "{said}");
    assert_no_process("sleep 7161");
    // The folder lasts; the yes does not, and an answer with a rule is none.
    let always = json!({"behavior": "allow", "scope": "session", "rules": ["Bash", "Bash(pwd)"]});
    let (_, result) = answered(&mut talk, asking("pwd"), always);
    assert_eq!(result["error_class"], "denied", "{result}");
    let (_, result) = answered(&mut talk, asking("pwd"), yes());
    assert!(text(&result).contains("/src"), "{result}");
    let (asked, _) = answered(&mut talk, asking("pwd"), json!({"behavior": "deny"}));
    assert!(
        asked["reason"].to_string().contains("WITHOUT A CAGE"),
        "{asked}"
    );
    // Without the wish the same command stays inside.
    std::fs::remove_file(&file).unwrap();
    let result = talk.call(
        "Bash",
        json!({"command": format!("touch {}", file.display())}),
    );
    assert_eq!(result["is_error"], true, "{result}");
    assert!(!file.exists());
    talk.close();
}

#[test]
fn no_rule_mode_hook_or_classifier_spares_the_question() {
    let project = Project::new();
    let (_folder, file) = outside();
    let input = asking(&format!("touch {}", file.display())).to_string();
    let hook = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "permissionDecisionReason": "sure",
    }});
    // One that turns a harmless call into one that leaves.
    let turning = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": serde_json::from_str::<Value>(&input).unwrap(),
    }});
    let hooks = |answer: &Value| {
        json!({"PreToolUse": [{"hooks": [
            {"type": "command", "command": format!("echo '{answer}'")}
        ]}]})
    };
    let sandbox = json!({"allowUnsandboxed": true});
    let judge = json!({
        "command": "cat > /dev/null; echo '{\"decision\": \"allow\", \"reason\": \"fine\"}'",
        "allow": ["everything"],
    });
    for (settings, args, input) in [
        (json!({"sandbox": sandbox}), vec!["--allow", "*"], &*input),
        (
            json!({"sandbox": sandbox, "permissions": {"allow": ["Bash", "Bash(touch:*)"]}}),
            vec![],
            &input,
        ),
        (
            json!({"sandbox": sandbox, "hooks": hooks(&hook)}),
            vec![],
            &input,
        ),
        (
            json!({"sandbox": sandbox, "hooks": hooks(&turning)}),
            vec!["--allow", "Bash"],
            "{\"command\": \"ls\"}",
        ),
        (
            json!({"sandbox": sandbox, "permissions": {"classifier": judge}}),
            vec![],
            &input,
        ),
        (
            json!({"sandbox": sandbox}),
            vec!["--permission-mode", "acceptEdits", "--allow", "Bash"],
            &input,
        ),
        (
            json!({"sandbox": sandbox}),
            vec!["--permission-mode", "dontAsk", "--allow", "Bash"],
            &input,
        ),
    ] {
        std::fs::write(project.user_settings(), settings.to_string()).unwrap();
        let mut all = vec!["call", "Bash", input];
        all.extend(args);
        let ran = project.run(&all).exits(1);
        assert!(ran.err.contains("CAGE"), "{settings}: {ran:?}");
        assert!(!file.exists(), "{settings}");
    }
}

#[test]
fn the_owner_of_the_machine_can_forbid_it_whatever_others_say() {
    let project = Project::new();
    let (_folder, file) = outside();
    settings(
        &project,
        json!({"allowUnsandboxed": true, "excludedCommands": ["touch:*"]}),
    );
    let touch = format!("touch {}", file.display());
    for managed in [
        json!({"managed": {"forcedSandbox": true}}),
        json!({"sandbox": {"allowUnsandboxed": false}, "managed": {"forcedSandbox": true}}),
    ] {
        std::fs::write(project.managed_settings(), managed.to_string()).unwrap();
        let mut talk = Talk::start(&project, &["--allow", "Bash", "--allow", "Bash(touch:*)"]);
        let result = talk.call("Bash", asking(&touch));
        assert!(text(&result).contains("managed policy"), "{result}");
        let result = talk.call("Bash", json!({"command": touch}));
        assert_eq!(result["is_error"], true, "{result}");
        talk.close();
        assert!(!file.exists());
    }
    // A plain no of the owner is one, too; what is excluded is another matter.
    let managed = json!({"sandbox": {"allowUnsandboxed": false}});
    std::fs::write(project.managed_settings(), managed.to_string()).unwrap();
    let input = asking(&touch).to_string();
    project.run(&["call", "Bash", &input]).exits(1);
    assert!(!file.exists());
}

#[test]
fn excluded_commands_leave_the_cage_and_nothing_leaves_with_them() {
    let project = Project::new();
    let (_folder, file) = outside();
    settings(&project, json!({"excludedCommands": ["touch:*"]}));
    let touch = format!("touch {}", file.display());
    let named = ["--allow", "Bash", "--allow", "Bash(touch:*)"];
    // A rule for everything is nobody's word on this.
    let input = json!({"command": touch}).to_string();
    let ran = project.run(&["call", "Bash", &input, "--allow", "Bash"]);
    ran.exits(1)
        .complains(&["WITHOUT A CAGE", "excludedCommands"]);
    assert!(!file.exists());
    let mut talk = Talk::start(&project, &named);
    for command in [
        format!("{touch}; echo x > {}.2", file.display()),
        format!("{touch} && true"),
        format!("env {touch}"),
        format!("timeout 5 {touch}"),
        format!("bash -c '{touch}'"),
        format!("eval {touch}"),
        format!("X=1 {touch}"),
        format!("PATH=. {touch}"),
        format!("{touch} $(echo x)"),
        format!("touch \"$(echo {})\"", file.display()),
        format!("true\n{touch}"),
        format!("touch() {{ /usr/bin/touch {}; }}; touch x", file.display()),
        format!("{touch} > out"),
        format!("for i in 1; do {touch}; done"),
        format!("/usr/bin/{touch}"),
        format!("to\"\"uch $A{}", file.display()),
    ] {
        let result = talk.call("Bash", json!({"command": command}));
        assert_eq!(result["is_error"], true, "{command}: {result}");
        assert!(
            !text(&result).contains("ran outside"),
            "{command}: {result}"
        );
        assert!(!file.exists(), "{command}");
    }
    // In the background, too.
    let result = talk.call("Bash", json!({"command": touch}));
    assert_eq!(result["is_error"], false, "{result}");
    assert!(text(&result).contains("ran outside the cage"), "{result}");
    assert!(file.exists());
    std::fs::remove_file(&file).unwrap();
    let input = json!({"command": touch, "run_in_background": true});
    let result = talk.call("Bash", input);
    assert_eq!(result["is_error"], false, "{result}");
    let result = talk.call("TaskOutput", json!({"task_id": "task_1", "timeout": 60000}));
    assert!(text(&result).contains("done"), "{result}");
    assert!(file.exists());
    talk.close();
}

#[test]
fn an_excluded_command_that_only_reads_is_not_waved_through() {
    let project = Project::new();
    settings(&project, json!({"excludedCommands": ["ls:*"]}));
    let ran = project.run(&["call", "Bash", "{\"command\": \"ls\"}"]);
    ran.exits(1).complains(&["WITHOUT A CAGE"]);
    let ran = project.run(&["call", "Bash", "{\"command\": \"pwd\"}"]);
    ran.exits(0);
}

#[test]
fn patterns_that_let_anything_out_are_refused_by_name() {
    let project = Project::new();
    for pattern in ["*", "bash:*", "python3:*", ""] {
        settings(&project, json!({"excludedCommands": [pattern]}));
        let ran = project.run(&["call", "Bash", "{\"command\": \"pwd\"}"]);
        ran.exits(2)
            .complains(&["settings.json", "excludedCommands", "out of the cage"]);
    }
}

#[test]
fn commands_by_zsh_where_it_is_and_a_clear_word_where_it_is_not() {
    let project = Project::new();
    settings(&project, json!({"shell": "zsh"}));
    let input = json!({"command": "echo $ZSH_NAME; cd /; false"}).to_string();
    let ran = project
        .run(&["call", "Bash", &input, "--allow", "Bash"])
        .exits(1);
    let is_there = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| std::path::Path::new(folder).join("zsh").is_file());
    if is_there {
        ran.complains(&["zsh", "Exit code 1"]);
        // No start-up file of the person has a say, in the cage or in the background.
        let home = project.user_settings();
        let home = home.ancestors().nth(2).unwrap();
        for name in [".zshenv", ".zshrc", ".zprofile", ".zlogin"] {
            std::fs::write(home.join(name), "echo started up").unwrap();
        }
        let mut talk = Talk::start(&project, &["--allow", "Bash"]);
        let input = json!({"command": "echo $ZSH_NAME; mkdir -p a; cd a"});
        assert_eq!(text(&talk.call("Bash", input)), "zsh");
        let input = json!({"command": "echo $ZSH_NAME ${PWD:t}", "run_in_background": true});
        talk.call("Bash", input);
        let input = json!({"task_id": "task_1", "timeout": 60000});
        let said = text(&talk.call("TaskOutput", input));
        assert_eq!(said, "task_1 is done.\nzsh a");
        // What only zsh understands is not taken for reading.
        let ran = project.run(&["call", "Bash", "{\"command\": \"ls *(e:touch x:)\"}"]);
        ran.exits(1);
        talk.close();
    } else {
        not_run("commands by zsh (there is none; only that this is said was tested)");
        ran.complains(&["sandbox.shell", "no `zsh` is installed"]);
    }
    settings(&project, json!({"shell": "fish"}));
    let ran = project.run(&["call", "Bash", &input]).exits(2);
    ran.complains(&["fish"]);
}
