//! Hooks that break, hang, flood, or are ended. None may hold up or corrupt a call.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolbay_contract::KillReason;

use super::{HookOpinion, Hooks, Project, hooks, kinds};

/// One hook with its own settings.
fn hook(command: &str, extra: Value) -> Hooks {
    let mut entry = json!({"type": "command", "command": command});
    for (key, value) in extra.as_object().unwrap() {
        entry[key] = value.clone();
    }
    Hooks::parse(&json!({"PreToolUse": [{"hooks": [entry]}]}), "a.json").unwrap()
}

async fn wait_for(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..1000 {
        if is_so() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// Whether a process runs. A zombie does not.
fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with('Z'))
}

fn pids(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_hook_that_fails_denies_or_lets_the_call_go_on_as_configured() {
    let project = Project::new();
    let crash = project.script(
        "crash.py",
        "#!/usr/bin/env python3\nraise RuntimeError('my fault')\n",
    );
    let throws = project.script(
        "throw.js",
        "#!/usr/bin/env node\nthrow new Error('my fault')\n",
    );
    let call = project.call("Edit", json!({}));
    for (command, extra, part) in [
        (&*crash, json!({}), "my fault"),
        (&*throws, json!({}), "my fault"),
        ("kill -SEGV $$", json!({}), "signal 11"),
        ("no-such-program-here", json!({}), "127"),
        ("sleep 1000", json!({"timeout": 0.2}), "longer than 200ms"),
        ("echo '{not json'", json!({}), "begins like JSON"),
        (
            "head -c 9000 /dev/urandom | sed 's/^/{/'",
            json!({}),
            "begins like JSON",
        ),
        (
            r#"echo '{"decision": "nope"}'"#,
            json!({}),
            "unknown variant",
        ),
        ("head -c 100000000 /dev/zero", json!({}), "wrote more than"),
        ("yes >&2", json!({}), "wrote more than"),
    ] {
        // An exit code of its own choice is no answer; everything else could be the model's doing.
        let usual = hook(command, extra.clone()).before(&call).await;
        let goes_on = part == "my fault";
        assert_eq!(usual.opinion == HookOpinion::None, goes_on, "{command}");

        let mut lenient = extra.clone();
        lenient["onError"] = json!("open");
        let open = hook(command, lenient).before(&call).await;
        assert_eq!(open.opinion, HookOpinion::None, "{command}");
        assert_eq!(
            kinds(&open.messages),
            ["hook_error_during_execution"],
            "{command}"
        );
        let told = serde_json::to_value(&open.messages[0]).unwrap();
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(part), "{command}: {error}");
        assert!(error.ends_with("the call goes on without it"), "{error}");

        let mut extra = extra;
        extra["onError"] = json!("closed");
        let closed = hook(command, extra).before(&call).await;
        let HookOpinion::Deny(reason) = closed.opinion else {
            panic!("{command}: {:?}", closed.opinion);
        };
        assert!(reason.contains(part), "{command}: {reason}");
        assert_eq!(
            kinds(&closed.messages),
            ["hook_error_during_execution", "hook_permission_decision"],
            "{command}"
        );
    }
}

#[tokio::test]
async fn a_hook_that_cannot_start_counts_as_broken() {
    let project = Project::new();
    let mut call = project.call("Edit", json!({}));
    call.project = project.folder.path().join("gone");
    let before = hook("true", json!({})).before(&call).await;
    let HookOpinion::Deny(reason) = before.opinion else {
        panic!("{:?}", before.opinion);
    };
    assert!(reason.contains("gone"), "{reason}");
}

/// A relative name means the project's file, wherever the model's last command went.
#[tokio::test]
async fn a_hook_starts_in_the_project_whatever_the_folder_of_the_call_is() {
    let project = Project::new();
    let elsewhere = project.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("guard.sh"), "exit 0").unwrap();
    std::fs::write(
        project.folder.path().join("guard.sh"),
        "echo no >&2; exit 2",
    )
    .unwrap();
    let mut call = project.call("Edit", json!({}));
    call.cwd = elsewhere;
    let before = hook("sh guard.sh", json!({})).before(&call).await;
    assert_eq!(before.opinion, HookOpinion::Deny("no".into()));
    // One that is not there denies.
    std::fs::remove_file(project.folder.path().join("guard.sh")).unwrap();
    let before = hook("sh guard.sh", json!({})).before(&call).await;
    assert!(matches!(before.opinion, HookOpinion::Deny(_)), "{before:?}");
}

/// The host was started by somebody who left a file open, without the mark that keeps it from children.
#[tokio::test]
async fn a_hook_inherits_no_open_file_of_the_host() {
    use std::os::fd::AsRawFd;

    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let file = std::fs::File::open("/etc/passwd").unwrap();
    let kept = rustix::io::fcntl_dupfd_cloexec(&file, 100).unwrap();
    rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    let number = kept.as_raw_fd();
    let command = format!("test ! -e /proc/self/fd/{number} || {{ echo open >&2; exit 2; }}");
    let before = hook(&command, json!({})).before(&call).await;
    assert_eq!(before.opinion, HookOpinion::None, "{before:?}");
}

#[tokio::test]
async fn a_broken_hook_does_not_hide_what_others_say() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let before = hooks("PreToolUse", &["exit 1", "echo no >&2; exit 2", "yes"])
        .before(&call)
        .await;
    let HookOpinion::Deny(reason) = before.opinion else {
        panic!("{:?}", before.opinion);
    };
    assert!(reason.starts_with("no\n"), "{reason}");
}

#[tokio::test]
async fn the_same_command_fails_closed_if_one_of_its_entries_does() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let both = hook("exit 1", json!({})).and(hook("exit 1", json!({"onError": "closed"})));
    let before = both.before(&call).await;
    assert!(matches!(before.opinion, HookOpinion::Deny(_)));
}

#[tokio::test]
async fn a_flood_takes_no_memory() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let before = peak_memory();
    let flood = hook("head -c 100000000 /dev/zero; echo >wrote-it-all", json!({}));
    flood.before(&call).await;
    let taken = peak_memory() - before;
    assert!(taken < 60 << 20, "{taken} bytes");
    assert!(!project.folder.path().join("wrote-it-all").exists());
}

#[tokio::test]
async fn an_input_that_nobody_reads_is_no_trouble() {
    let project = Project::new();
    let call = project.call("Edit", json!({"text": "x".repeat(1 << 20)}));
    for command in ["true", "exec <&-; sleep 0.1", "head -c 10 >/dev/null"] {
        let before = hooks("PreToolUse", &[command]).before(&call).await;
        assert_eq!(before.messages, [], "{command}");
    }
}

#[tokio::test]
async fn a_large_input_comes_back_whole() {
    let project = Project::new();
    let echo = project.script(
        "echo.py",
        "#!/usr/bin/env python3\nimport json, sys\ntold = json.load(sys.stdin)\n\
         print(json.dumps({'hookSpecificOutput': {'updatedInput': told['tool_input']}}))\n",
    );
    let input = json!({"text": "x".repeat(1 << 20)});
    let call = project.call("Edit", input.clone());
    let before = hooks("PreToolUse", &[&echo]).before(&call).await;
    assert!(before.updated_input == Some(input), "{:?}", before.messages);
}

#[tokio::test]
async fn a_child_that_holds_the_output_does_not_hold_the_call() {
    let project = Project::new();
    let daemon = project.script(
        "daemon.py",
        "#!/usr/bin/env python3\nimport os, sys, time\n\
         print('{\"decision\": \"block\", \"reason\": \"no\"}', flush=True)\n\
         if os.fork() == 0:\n    if os.fork() == 0:\n        \
         open('pids', 'w').write(f'{os.getpid()}\\n')\n        time.sleep(1000)\n    os._exit(0)\n\
         os.wait()\nwhile not os.path.exists('pids'): pass\n",
    );
    let call = project.call("Edit", json!({}));
    let before = hooks("PreToolUse", &[&daemon]).before(&call).await;
    assert_eq!(
        before.opinion,
        HookOpinion::Deny("no".into()),
        "{:?}",
        before.messages
    );
    let file = project.folder.path().join("pids");
    assert!(wait_for(|| !pids(&file).is_empty()).await);
    assert!(wait_for(|| pids(&file).iter().all(|pid| !is_alive(pid))).await);
}

/// Each waits until all have begun: one after the other they would never end.
#[tokio::test]
async fn hooks_of_an_event_run_at_the_same_time() {
    let project = Project::new();
    let commands: Vec<String> = (0..12)
        .map(|number| {
            format!(
                "echo {number} >>begun; while [ $(wc -l <begun) -lt 12 ]; do sleep 0.02; done; \
                 echo '{{\"hookSpecificOutput\": {{\"additionalContext\": \"{number}\"}}}}'"
            )
        })
        .collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let call = project.call("Edit", json!({}));
    let before = hooks("PreToolUse", &commands).before(&call).await;
    let expected: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    assert_eq!(before.context, expected);
}

#[tokio::test]
async fn more_hooks_than_may_run_at_once_all_run() {
    let project = Project::new();
    let commands: Vec<String> = (0..120)
        .map(|number| format!("echo {number} >&2; exit 2"))
        .collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let call = project.call("Edit", json!({}));
    // In a task of its own, as the executor does it.
    let running = hooks("PreToolUse", &commands);
    let before = tokio::spawn(async move { running.before(&call).await });
    let HookOpinion::Deny(reasons) = before.await.unwrap().opinion else {
        panic!("all of them deny");
    };
    assert_eq!(reasons.lines().count(), 120);
}

#[tokio::test]
async fn a_cancelled_call_ends_all_its_hooks_and_does_not_run() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let sleeps =
        |name: &str| format!("sleep 1000 & echo $$ >>pids; echo $! >>pids; : {name}; wait");
    let commands = [sleeps("a"), sleeps("b"), sleeps("c")];
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let allow = r#"echo '{"decision": "approve"}'"#;
    let hooks = hooks("PreToolUse", &commands).and(hooks("PreToolUse", &[allow]));
    let file = project.folder.path().join("pids");
    let cancel = async {
        assert!(wait_for(|| pids(&file).len() == 6).await);
        call.kill.throw(KillReason::Cancelled);
    };
    let (before, ()) = tokio::join!(hooks.before(&call), cancel);
    let HookOpinion::Deny(reason) = before.opinion else {
        panic!("{:?}", before.opinion);
    };
    assert!(reason.contains("cancelled"), "{reason}");
    // The fourth may or may not have had its say by then.
    let cancelled = kinds(&before.messages);
    let cancelled = cancelled.iter().filter(|kind| *kind == "hook_cancelled");
    assert!(cancelled.count() >= 3);
    assert!(wait_for(|| pids(&file).iter().all(|pid| !is_alive(pid))).await);

    let late = hooks.before(&call).await;
    assert_eq!(kinds(&late.messages), ["hook_cancelled"; 4]);
    assert_eq!(
        pids(&file).len(),
        6,
        "nothing starts for a call that is over"
    );
}

#[tokio::test]
async fn hooks_whose_caller_is_gone_end() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let file = project.folder.path().join("pids");
    let hooks = hooks("PreToolUse", &["echo $$ >pids; sleep 1000"]);
    tokio::select! {
        _ = hooks.before(&call) => panic!("it should have slept"),
        is_so = wait_for(|| pids(&file).len() == 1) => assert!(is_so),
    }
    assert!(wait_for(|| pids(&file).iter().all(|pid| !is_alive(pid))).await);
}
