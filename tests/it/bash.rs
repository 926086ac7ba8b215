//! Commands in cages, by the real program: what they may do, what they may not, what is left.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Project, Ran};
use crate::run::{Talk, text};

/// Runs a command with leave to run anything.
fn bash(project: &Project, command: &str) -> Ran {
    let input = json!({"command": command}).to_string();
    project.run(&["call", "Bash", &input, "--allow", "Bash"])
}

fn start(project: &Project) -> Talk {
    Talk::start(project, &["--allow", "Bash", "--allow", "KillShell"])
}

fn run(talk: &mut Talk, command: &str) -> Value {
    talk.call("Bash", json!({"command": command}))
}

#[test]
fn a_command_that_only_reads_needs_nobody_and_cannot_write() {
    let project = Project::new();
    project.file("a.txt", "one\ntwo\n");
    let input = json!({"command": "grep -c . a.txt && ls"}).to_string();
    let ran = project.run(&["call", "Bash", &input]).exits(0).quietly();
    ran.prints(&["2", "a.txt"]);
    let input = json!({"command": "touch b.txt"}).to_string();
    project.run(&["call", "Bash", &input]).exits(1);
    assert!(!project.root().join("b.txt").exists());
}

#[test]
fn a_permitted_command_writes_in_the_project_and_nowhere_else() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    bash(&project, "echo hi > new.txt && cat new.txt")
        .exits(0)
        .prints(&["hi"]);
    assert!(project.root().join("new.txt").exists());
    let file = outside.path().join("x");
    for command in [
        format!("echo x > {}", file.display()),
        "echo x > /etc/toolbay-was-here".into(),
        "echo x > ~/.bashrc".into(),
        "mkdir -p .toolbay && echo '{}' > .toolbay/settings.json".into(),
    ] {
        bash(&project, &command).exits(1);
    }
    assert!(!file.exists());
    assert!(!Path::new("/etc/toolbay-was-here").exists());
    assert!(!project.root().join(".toolbay").exists());
}

#[test]
fn exit_codes_have_their_meaning_and_both_outputs_their_order() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    bash(&project, "grep nothing a.txt")
        .exits(0)
        .prints(&["no match"]);
    let ran = bash(&project, "echo 1; echo 2 >&2; echo 3; exit 3").exits(1);
    let text = ran.err.clone();
    assert!(text.contains("Exit code 3"), "{ran:?}");
    assert!(text.contains("1\n2\n3"), "{ran:?}");
}

#[test]
fn the_folder_lasts_inside_the_project_and_nothing_else_does() {
    let project = Project::new();
    project.file("src/a.txt", "one\n");
    let mut talk = start(&project);
    run(&mut talk, "cd src; X=1");
    let result = run(&mut talk, "pwd; echo \"[$X]\"; ls");
    let said = text(&result);
    assert!(said.contains("/src\n[]\na.txt"), "{said}");
    // Outside it does not.
    run(&mut talk, "cd /usr");
    assert!(text(&run(&mut talk, "pwd")).contains("/src"));
    talk.close();
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let project = Project::new();
    let mut talk = start(&project);
    let command = "(sleep 300 & echo $! > pid; disown); setsid sleep 301 & sleep 302";
    let result = talk.call("Bash", json!({"command": command, "timeout": 500}));
    assert_eq!(result["is_error"], true, "{result}");
    assert!(text(&result).contains("time limit"), "{result}");
    talk.close();
    assert_no_process("sleep 30");
}

#[test]
fn nothing_of_the_host_is_known_inside() {
    let project = Project::new();
    let ran = bash(&project, "env; cat; tty; true").exits(0);
    for word in ["TOOLBAY_MANAGED_SETTINGS", "XDG_STATE_HOME"] {
        assert!(!ran.out.contains(word), "{ran:?}");
    }
    assert!(ran.out.contains("not a tty"), "{ran:?}");
    // Our own state is not even seen.
    let state = project.audit_log();
    let state = state.parent().unwrap().display().to_string();
    let ran = bash(&project, &format!("cat {state}/audit.key")).exits(1);
    ran.complains(&["toolbay's own files"]);
    // Nor by a script in which nobody could see it coming.
    let (front, back) = state.split_at(state.len() / 2);
    let script = format!("a={front}; b={back}; cat \"$a$b/audit.key\"");
    let ran = bash(&project, &script).exits(1);
    // Where the state lies in the folder for temporary files, it is not even there.
    let is_closed = ran.err.contains("Permission denied") || ran.err.contains("No such file");
    assert!(is_closed, "{ran:?}");
}

#[test]
fn to_leave_the_cage_is_asked_about_and_refused() {
    let project = Project::new();
    let input = json!({"command": "ls", "dangerously_disable_sandbox": true}).to_string();
    let ran = project
        .run(&["call", "Bash", &input, "--allow", "Bash"])
        .exits(1);
    ran.complains(&["outside the cage"]);
}

#[test]
fn a_task_in_the_background_goes_on_is_read_and_ended() {
    let project = Project::new();
    let mut talk = start(&project);
    let command = "echo begun; sleep 303; echo never";
    let input = json!({"command": command, "run_in_background": true});
    let result = talk.call("Bash", input);
    assert!(text(&result).contains("task_1"), "{result}");
    let mut seen = String::new();
    while !seen.contains("begun") {
        let input = json!({"task_id": "task_1", "block": false});
        seen.push_str(&text(&talk.call("TaskOutput", input)));
    }
    assert!(seen.contains("running"), "{seen}");
    talk.call("KillShell", json!({"task_id": "task_1"}));
    let result = talk.call("TaskOutput", json!({"task_id": "task_1", "timeout": 20000}));
    assert!(text(&result).contains("stopped"), "{result}");
    let short = json!({"command": "echo done; exit 4", "run_in_background": true});
    talk.call("Bash", short);
    let result = talk.call("TaskOutput", json!({"task_id": "task_2", "timeout": 60000}));
    let said = text(&result);
    assert!(
        said.contains("failed") && said.contains("exit code 4"),
        "{said}"
    );
    let result = talk.call("TaskOutput", json!({"task_id": "task_9"}));
    assert_eq!(result["is_error"], true, "{result}");
    // What still runs ends with the session.
    let input = json!({"command": "sleep 304", "run_in_background": true});
    talk.call("Bash", input);
    talk.close();
    assert_no_process("sleep 303");
    assert_no_process("sleep 304");
}

#[test]
fn output_comes_as_progress_and_a_flood_is_bounded() {
    let project = Project::new();
    let mut talk = start(&project);
    let result = run(&mut talk, "echo early; sleep 0.3; echo late");
    assert!(text(&result).contains("early\nlate"), "{result}");
    let progress = talk.heard.iter().any(|line| line["type"] == "progress");
    assert!(progress, "{:?}", talk.heard);
    let result = run(&mut talk, "yes | head -c 100000000");
    assert_eq!(result["is_error"], true, "{}", text(&result));
    let said = text(&result);
    assert!(said.contains("There was more output"), "{said:.500}");
    assert!(!said.contains("broke"), "{said:.500}");
    assert_eq!(run(&mut talk, "echo still here")["is_error"], false);
    talk.close();
}

/// No process has this in its command line; those of other tests have other numbers.
#[track_caller]
pub fn assert_no_process(wanted: &str) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let left: Vec<String> = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
            .filter(|line| line.starts_with(wanted))
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{left:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The validator fooled: a script that writes, run as one that was judged to only read.
#[tokio::test]
async fn a_read_only_run_changes_nothing_whatever_the_script_does() {
    use std::sync::Arc;

    use toolbay::caged::{CageSetting, Caged, Helper, Sandbox, TaskTable};
    use toolbay_contract::{CommandRun, OnOutput, Shell};
    use toolbay_policy::{Access, Zone, Zones};

    let project = Project::new();
    project.file("a.txt", "one\n");
    let root = project.root();
    let caged = Caged::new(
        CageSetting {
            roots: vec![root.clone()],
            home: None,
            own: Vec::new(),
            helper: Helper::At(toolbay_tests::program()),
            sandbox: Sandbox {
                git_writes: true,
                allow_write: vec![root.clone()],
                ..Sandbox::default()
            },
            move_after: None,
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        },
        Arc::new(TaskTable::default()),
    );
    let run = |script: &str, access: Access| CommandRun {
        script: script.into(),
        cwd: Some(root.clone()),
        timeout: None,
        sandboxed: true,
        access,
        path_rules: Arc::default(),
        on_output: OnOutput(Arc::new(|_| {})),
    };
    for script in [
        "echo two > a.txt",
        "rm a.txt",
        "touch new",
        "chmod 777 a.txt",
        "mv a.txt b.txt",
        "ln a.txt c.txt",
        "git init -q .",
        "python3 -c \"open('new', 'w')\"",
        "truncate -s 0 a.txt",
        "touch -d 2001-01-01 a.txt",
    ] {
        let before = std::fs::metadata(root.join("a.txt")).unwrap();
        let exit = caged.run(run(script, Access::ReadOnly)).await.unwrap();
        assert_ne!(exit.code, 0, "{script}");
        let after = std::fs::metadata(root.join("a.txt")).unwrap();
        assert_eq!(
            before.modified().unwrap(),
            after.modified().unwrap(),
            "{script}"
        );
        assert_eq!(before.permissions(), after.permissions(), "{script}");
        let text = std::fs::read_to_string(root.join("a.txt")).unwrap();
        assert_eq!(text, "one\n", "{script}");
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1, "{script}");
    }
    // The same with leave to write does what it says: the test can fail.
    let zones = Zones::new(vec![Zone::Folder(root.clone())]);
    let exit = caged
        .run(run("touch new", Access::ReadWrite { zones }))
        .await
        .unwrap();
    assert_eq!(exit.code, 0, "{exit:?}");
    assert!(root.join("new").exists());
}
