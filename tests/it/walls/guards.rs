//! Guards under attack, as data: whatever a repository or a model does to them, they let nothing through
//! that they did not see, and nothing of the project's runs outside a cage.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Project, Ran};
use crate::run::Talk;

/// A guard of the user's that comes to no answer, or to one that is hard to read. None says yes. What
/// it has to go by lies in the project: `odd` has a first line that names nothing, `flat` may not be
/// executed, `pipe` is a named pipe, `folder` is one.
const GUARDS: &[(&str, &str)] = &[
    ("floods its output", "cat /dev/zero"),
    ("floods its errors", "yes >&2"),
    ("hangs", "sleep 60"),
    ("never reads and hangs", "exec <&-; sleep 60"),
    ("echoes the input for ever", "while :; do cat; echo x; done"),
    ("is killed", "kill -9 $$"),
    ("crashes", "kill -SEGV $$"),
    ("ends by a signal further down", "sh -c 'kill -9 $$'"),
    ("is not there", "./not-there"),
    ("has no script", "python3 tools/not-there.py"),
    (
        "has no script for node",
        "node \"$CLAUDE_PROJECT_DIR\"/not-there.js",
    ),
    ("may not be executed", "./flat"),
    ("has no interpreter", "./odd"),
    ("is a named pipe", "sh ./pipe"),
    ("is a folder", "./folder"),
    ("exits as a signal would", "exit 255"),
    ("cuts its answer", "echo '{\"decision\": \"blo'"),
    (
        "says it twice",
        "echo '{\"decision\": \"block\", \"decision\": \"approve\"}'",
    ),
    (
        "says two things",
        "echo '{\"decision\": \"approve\"}'; echo '{\"decision\": \"block\"}'",
    ),
    (
        "nests deeply",
        "printf '{\"hookSpecificOutput\":{\"updatedInput\":{\"a\":'; head -c 100000 /dev/zero | tr '\\0' '['",
    ),
    ("is no text", "printf '{\"reason\": \"\\377\\376\"}'"),
    (
        "says no behind a line of a debugger",
        "echo + cat; echo '{\"decision\": \"block\"}'",
    ),
    (
        "says no behind a mark of order",
        "printf '\\357\\273\\277{\"decision\": \"block\"}'",
    ),
    ("says no in a list", "echo '[{\"decision\": \"block\"}]'"),
    (
        "says no after two megabytes of nothing",
        "head -c 2200000 /dev/zero | tr '\\0' ' '; echo '{\"decision\": \"block\"}'",
    ),
    ("wants everything to stop", "echo '{\"continue\": false}'"),
    (
        "answers to another event",
        "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PostToolUse\"}}'",
    ),
    (
        "says no at the wrong level",
        "echo '{\"permissionDecision\": \"deny\"}'",
    ),
    (
        "has a word of its own",
        "echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"no\"}}'",
    ),
    ("leaves the pipe to a child", "sleep 60 & exit 0"),
    (
        "leaves the answer to a child",
        "(sleep 3; echo '{\"decision\": \"block\"}') & exit 0",
    ),
];

#[test]
fn no_guard_that_comes_to_no_answer_lets_a_call_through() {
    for (name, command) in GUARDS {
        let project = Project::new();
        user_hooks(&project, &[hook(command, json!({"timeout": 2}))]);
        prepare(&project);
        let ran = write(&project, "x", &[]);
        assert!(!project.root().join("new").exists(), "{name}: {command}");
        assert_ne!(ran.code, Some(0), "{name}: {command}");
        assert!(ran.err.contains("hook"), "{name}: {}", ran.err);
    }
}

/// Larger than what a program takes as an argument, and than what a pipe holds.
#[test]
fn an_input_of_four_megabytes_gets_past_no_guard() {
    for command in [
        "/usr/bin/test -n \"$(cat)\"",
        "head -c 10 >/dev/null; exec <&-; sleep 60",
        "cat; exit 0",
        "grep -q xxx && exit 2",
    ] {
        let project = Project::new();
        user_hooks(&project, &[hook(command, json!({"timeout": 5}))]);
        let mut talk = Talk::start(&project, &["--allow", "Write"]);
        let input = json!({"file_path": "new", "content": "x".repeat(4 << 20)});
        let result = talk.call("Write", input);
        assert_eq!(result["is_error"], true, "{command}");
        assert!(!project.root().join("new").exists(), "{command}");
        talk.close();
    }
}

/// A project's files that would be run, if what the user's guard starts were looked for among them.
#[test]
fn no_guard_starts_a_program_of_the_project() {
    let evil = "#!/bin/sh\ntouch \"$HOME/pwned\" pwned\nexit 0\n";
    for (name, path) in [
        ("a folder of the project", "PROJECT/bin:USUAL"),
        ("a relative folder", "bin:USUAL"),
        ("the current folder", "USUAL:.:PROJECT/bin"),
        ("an empty name", ":USUAL"),
        ("a link into the project", "PROJECT/../LINK:USUAL"),
    ] {
        let project = Project::new();
        let root = project.root();
        for program in ["bin/guard-tool", "bin/cat", "cat", "guard-tool"] {
            executable(&project, program, evil);
        }
        let link = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.join("bin"), link.path().join("bin")).unwrap();
        let usual = "/usr/local/bin:/usr/bin:/bin";
        let path = path
            .replace("PROJECT/../LINK", link.path().join("bin").to_str().unwrap())
            .replace("PROJECT", root.to_str().unwrap())
            .replace("USUAL", usual);
        user_hooks(
            &project,
            &[hook("cat >/dev/null; guard-tool || exit 2", json!({}))],
        );
        let args = write_args(&project, "x", &[]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = project.run_with_variables(&args, &[("PATH", Path::new(&path))]);
        assert_ne!(ran.code, Some(0), "{name}: {path}");
        assert!(!root.join("pwned").exists(), "{name}: {path}");
    }
}

/// What a tool or a command of the model would have to write to have it run by a guard.
#[test]
fn nothing_that_a_guard_runs_can_be_written() {
    for (name, command, target) in [
        (
            "a program that is not there yet",
            "bin/later || true",
            "bin/later",
        ),
        ("the interpreter of a script", "./run", "tools/interpreter"),
        (
            "one that is not there yet",
            "./later-run || true",
            "tools/none",
        ),
        ("one behind env", "./env-run", "tools/interpreter"),
        ("a module", "python3 -m pkg", "pkg/__main__.py"),
        (
            "a module in a package",
            "python3 -m hooks.guard",
            "hooks/guard.py",
        ),
        (
            "a name with a blank",
            "python3 \"$CLAUDE_PROJECT_DIR/my hooks/guard.py\"",
            "my hooks/guard.py",
        ),
        (
            "a name with a comma",
            "python3 hooks/gua,rd.py",
            "hooks/gua,rd.py",
        ),
        (
            "a name in escapes",
            "python3 $'hooks/gu\\x61rd.py'",
            "hooks/guard.py",
        ),
        (
            "a rare interpreter",
            "tclsh hooks/guard.tcl",
            "hooks/guard.tcl",
        ),
        ("many flags", "sh -e -u -f -C hooks/plain", "hooks/plain"),
        ("a pipe into a shell", "cat hooks/plain | sh", "hooks/plain"),
        (
            "a text that is evaluated",
            "eval \"$(cat hooks/plain)\"",
            "hooks/plain",
        ),
        ("a pattern", "python3 hooks/g*.py", "hooks/guard.py"),
        (
            "what a pattern would match",
            "for g in hooks/*.py; do python3 \"$g\"; done",
            "hooks/added.py",
        ),
        (
            "a variable",
            "G=guard; python3 hooks/${G}.py",
            "hooks/guard.py",
        ),
        (
            "a variable from elsewhere",
            "python3 \"hooks/$G.py\"",
            "hooks/guard.py",
        ),
        ("a link and the way back", "sh ln/../plain", "sub/plain"),
        (
            "a folder that is a link and the way back",
            "cd ln && sh ../plain",
            "sub/plain",
        ),
        (
            "one folder after the other",
            "cd \"$CLAUDE_PROJECT_DIR\" && cd sub && cd deep && sh plain",
            "sub/deep/plain",
        ),
        (
            "a name without its end",
            "F=plain.in; sh \"$CLAUDE_PROJECT_DIR/hooks/${F%.in}\"",
            "hooks/plain",
        ),
        (
            "a class of characters",
            "sh hooks/pla[[:alpha:]]n",
            "hooks/plain",
        ),
        (
            "a variable that is run",
            "BASH_ENV=hooks/plain bash -c true",
            "hooks/plain",
        ),
        (
            "a dot behind a redirection",
            "</dev/null . './my hooks/plain'",
            "my hooks/plain",
        ),
        (
            "an interpreter in a variable",
            "S=sh; $S 'my hooks/plain'",
            "my hooks/plain",
        ),
        (
            "a program that would be found first",
            "PATH=bin:$PATH later-tool || true",
            "bin/later-tool",
        ),
    ] {
        let project = Project::new();
        executable(&project, "tools/interpreter", "#!/bin/sh\nexit 0\n");
        executable(&project, "run", "#!./tools/interpreter\n");
        executable(&project, "later-run", "#!tools/none\n");
        executable(
            &project,
            "env-run",
            "#!/usr/bin/env -S ./tools/interpreter\n",
        );
        for name in [
            "pkg/__main__.py",
            "my hooks/guard.py",
            "hooks/gua,rd.py",
            "hooks/guard.py",
            "hooks/guard.tcl",
            "hooks/plain",
            "my hooks/plain",
            "sub/plain",
            "sub/deep/plain",
        ] {
            project.file(name, "");
        }
        std::os::unix::fs::symlink("sub/deep", project.root().join("ln")).unwrap();
        std::fs::create_dir_all(project.root().join("bin")).unwrap();
        user_hooks(&project, &[hook(command, json!({"matcher": "Read"}))]);
        let before = std::fs::read(project.root().join(target)).ok();
        for (tool, input) in [
            (
                "Write",
                json!({"file_path": target, "content": "touch pwned"}),
            ),
            (
                "Bash",
                json!({"command": format!("echo 'touch pwned' > '{target}'")}),
            ),
        ] {
            let input = input.to_string();
            let ran = project.run(&["call", "--allow", tool, tool, &input]);
            assert_ne!(ran.code, Some(0), "{name}: {tool}");
            let after = std::fs::read(project.root().join(target)).ok();
            assert_eq!(after, before, "{name}: {tool}");
        }
    }
}

/// A tool that has another name than when the guard was written.
#[test]
fn a_guard_for_one_name_of_a_tool_guards_them_all() {
    let input = json!({"task_id": "task_1"}).to_string();
    for matcher in ["TaskOutput", "BashOutput", "^Bash", "Read|BashOutput"] {
        let project = Project::new();
        let guard = hook("echo 'not that' >&2; exit 2", json!({"matcher": matcher}));
        user_hooks(&project, &[guard]);
        for name in ["TaskOutput", "BashOutput"] {
            let ran = project.run(&["call", "--allow", "TaskOutput", name, &input]);
            assert_ne!(ran.code, Some(0), "{matcher}: {name}");
            assert!(
                ran.err.contains("not that"),
                "{matcher}: {name}: {}",
                ran.err
            );
        }
    }
}

/// One whose files cannot be known, and so not be closed.
#[test]
fn a_guard_that_names_too_much_does_not_run() {
    let project = Project::new();
    let words: String = (0..6000).map(|number| format!("a{number} ")).collect();
    user_hooks(&project, &[hook(&format!("true {words}"), json!({}))]);
    let ran = write(&project, "x", &[]);
    assert_ne!(ran.code, Some(0));
    ran.complains(&["names too much to be checked"]);
    assert!(!project.root().join("new").exists());
}

#[test]
fn a_guard_sees_what_another_hook_made_of_the_call() {
    let guard = "if grep -q evil; then echo 'not that' >&2; exit 2; fi";
    let project = Project::new();
    let evil = json!({"file_path": project.root().join("new"), "content": "evil"});
    let answer = json!({"hookSpecificOutput": {"updatedInput": evil}});
    let changes = format!("echo '{answer}'");
    for order in [[guard, &changes], [&changes, guard]] {
        user_hooks(&project, &order.map(|command| hook(command, json!({}))));
        let ran = write(&project, "good", &[]);
        assert_ne!(ran.code, Some(0), "{order:?}");
        assert!(ran.err.contains("not that"), "{}", ran.err);
        assert!(!project.root().join("new").exists(), "{order:?}");
    }
}

/// A project's hooks: none runs unasked, and those that do reach nothing but the project.
#[test]
fn hooks_of_a_project_run_in_a_cage() {
    let home = "touch \"$HOME/pwned\" 2>/dev/null; touch in-project";
    for (name, entry, flags, runs) in [
        ("nobody asked", json!({"command": home}), &[][..], false),
        (
            "it says that it needs no cage",
            json!({"command": home, "sandboxed": false}),
            &[],
            false,
        ),
        (
            "trusted",
            json!({"command": home}),
            &["--trust-project"],
            true,
        ),
        (
            "trusted, and it would rather run outside",
            json!({"command": home, "sandboxed": false}),
            &["--trust-project"],
            true,
        ),
        (
            "its hooks alone are wanted",
            json!({"command": home, "sandboxed": false}),
            &["--project-hooks"],
            true,
        ),
        (
            "it would leave something behind",
            json!({"command": "echo '[core]' > .git/config; echo x > .envrc; touch in-project"}),
            &["--trust-project"],
            true,
        ),
    ] {
        let project = Project::new();
        std::fs::create_dir_all(project.root().join(".git")).unwrap();
        let mut entry = entry;
        entry["type"] = json!("command");
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [entry]}]}});
        project.file(".toolbay/settings.json", settings.to_string());
        write(&project, "x", flags);
        let root = project.root();
        let user = project.user_settings();
        let home = user.ancestors().nth(2).unwrap();
        assert!(!home.join("pwned").exists(), "{name}");
        assert!(!root.join(".git/config").exists(), "{name}");
        assert!(!root.join(".envrc").exists(), "{name}");
        assert_eq!(root.join("in-project").exists(), runs, "{name}");
    }
}

/// One of the user's own that is to run in a cage.
#[test]
fn a_hook_of_the_user_runs_in_a_cage_if_it_is_to() {
    for (sandboxed, is_there) in [(json!(true), false), (json!(false), true)] {
        let project = Project::new();
        let command = "touch \"$HOME/mark\" 2>/dev/null; exit 0";
        user_hooks(&project, &[hook(command, json!({"sandboxed": sandboxed}))]);
        write(&project, "x", &[]).exits(0);
        let user = project.user_settings();
        let mark = user.ancestors().nth(2).unwrap().join("mark");
        assert_eq!(mark.exists(), is_there, "{sandboxed}");
    }
}

/// A project's copy of the user's guard does not soften it.
#[test]
fn a_project_does_not_soften_the_users_guard() {
    let project = Project::new();
    let guard = "exit 1";
    user_hooks(&project, &[hook(guard, json!({"onError": "closed"}))]);
    let open = hook(guard, json!({"onError": "open"}));
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [open]}]}});
    project.file(".toolbay/settings.json", settings.to_string());
    for flags in [&["--trust-project"][..], &["--project-hooks"], &[]] {
        let ran = write(&project, "x", flags);
        assert_ne!(ran.code, Some(0), "{flags:?}");
        assert!(!project.root().join("new").exists(), "{flags:?}");
    }
}

fn hook(command: &str, more: Value) -> Value {
    let mut entry = json!({"type": "command", "command": command});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

/// A `matcher` among the keys is that of the group.
fn user_hooks(project: &Project, entries: &[Value]) {
    let groups: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut entry = entry.clone();
            let matcher = entry.as_object_mut().unwrap().remove("matcher");
            json!({"matcher": matcher.unwrap_or(json!("")), "hooks": [entry]})
        })
        .collect();
    let settings = json!({"hooks": {"PreToolUse": groups}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
}

fn prepare(project: &Project) {
    project.file("flat", "#!/bin/sh\nexit 0\n");
    executable(project, "odd", "#!/no/such/interpreter\n");
    let root = project.root();
    std::fs::create_dir(root.join("folder")).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), kind, mode, 0).unwrap();
}

fn executable(project: &Project, name: &str, text: &str) {
    let path = project.file(name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn write(project: &Project, content: &str, flags: &[&str]) -> Ran {
    let args = write_args(project, content, flags);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    project.run(&args)
}

fn write_args(project: &Project, content: &str, flags: &[&str]) -> Vec<String> {
    let input = json!({"file_path": project.root().join("new"), "content": content}).to_string();
    let args = ["call", "--allow", "Write"].iter().chain(flags);
    let args = args.chain(&["Write"]).map(|arg| (*arg).to_owned());
    args.chain([input]).collect()
}
