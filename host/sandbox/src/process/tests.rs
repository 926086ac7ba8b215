//! Commands that behave, and commands that do not.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use super::*;

/// Far more than any of these commands needs; a test that runs into it fails.
const LONG: Duration = Duration::from_secs(60);

fn script(text: &str) -> Script {
    Script {
        text: text.into(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Arc::from([]),
        time: LONG,
        max_output: 64 * 1024,
    }
}

fn within(text: &str, time: Duration) -> Script {
    Script {
        time,
        ..script(text)
    }
}

fn ended(how: How, stdout: &str, stderr: &str) -> Ended {
    Ended {
        how,
        stdout: stdout.into(),
        stderr: stderr.into(),
        truncated: false,
        held_open: false,
    }
}

/// Waits for a file that the command writes in one piece, and reads it.
async fn appears(file: &Path) -> String {
    for _ in 0..1000 {
        match std::fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    panic!("{} never appeared", file.display());
}

/// Waits until the process ended. A zombie has: who must reap it is another question.
async fn is_gone(pid: &str) -> bool {
    wait_for(
        || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => stat.rsplit(") ").next().unwrap().starts_with('Z'),
            Err(_) => true,
        },
    )
    .await
}

/// Waits until not even a zombie is left.
async fn is_reaped(pid: &str) -> bool {
    wait_for(|| !Path::new(&format!("/proc/{pid}")).exists()).await
}

async fn wait_for(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..500 {
        if is_so() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn a_command_ends_as_it_likes() {
    for (text, expected) in [
        ("true", ended(How::Exit(0), "", "")),
        (
            "echo out; echo err >&2",
            ended(How::Exit(0), "out\n", "err\n"),
        ),
        ("echo no >&2; exit 2", ended(How::Exit(2), "", "no\n")),
        ("kill -TERM $$", ended(How::Signal(15), "", "")),
        // The limit is ours alone to claim, a kill is not.
        ("kill -KILL $$", ended(How::Signal(9), "", "")),
        ("exec >&- 2>&-; exit 3", ended(How::Exit(3), "", "")),
    ] {
        assert_eq!(run(script(text)).await.unwrap(), expected, "{text}");
    }
}

#[tokio::test]
async fn a_command_gets_what_it_is_given_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let ended = run(Script {
        cwd: real.clone(),
        env: vec![
            ("NAME".into(), "first".into()),
            ("NAME".into(), "last".into()),
        ],
        stdin: Arc::from(*b"read me"),
        ..script("/usr/bin/env; /bin/cat; echo; pwd -P")
    })
    .await
    .unwrap();
    let stdout = String::from_utf8(ended.stdout).unwrap();
    let mut lines: Vec<&str> = stdout.lines().collect();
    // Some shells tell their children these of their own.
    lines.retain(|line| {
        !["PWD=", "OLDPWD=", "SHLVL=", "_="]
            .iter()
            .any(|own| line.starts_with(own))
    });
    assert_eq!(lines, ["NAME=last", "read me", real.to_str().unwrap()]);
}

#[tokio::test]
async fn a_command_need_not_read_its_input() {
    for (text, expected) in [
        ("exit 0", 0),
        ("exec <&-; exit 7", 7),
        ("head -c 1 >/dev/null", 0),
    ] {
        let ended = run(Script {
            stdin: vec![b'x'; 1 << 20].into(),
            ..script(text)
        })
        .await
        .unwrap();
        assert_eq!(ended.how, How::Exit(expected), "{text}");
    }
}

#[tokio::test]
async fn input_and_output_larger_than_a_pipe_pass_at_once() {
    let ended = run(Script {
        stdin: vec![b'x'; 1 << 20].into(),
        max_output: 1 << 20,
        ..script("cat")
    })
    .await
    .unwrap();
    assert_eq!((ended.how, ended.stdout.len()), (How::Exit(0), 1 << 20));
    assert!(!ended.truncated);
}

#[tokio::test]
async fn what_passes_the_limit_a_little_is_cut_and_keeps_its_exit_code() {
    for (text, stdout, stderr, truncated) in [
        ("head -c 100 /dev/zero; exit 4", 100, 0, false),
        ("head -c 101 /dev/zero; exit 4", 100, 0, true),
        ("head -c 9000 /dev/zero >&2; exit 4", 0, 100, true),
    ] {
        let ended = run(Script {
            max_output: 100,
            ..script(text)
        })
        .await
        .unwrap();
        let sizes = (ended.stdout.len(), ended.stderr.len());
        assert_eq!(ended.how, How::Exit(4), "{text}");
        assert_eq!(
            (sizes, ended.truncated),
            ((stdout, stderr), truncated),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_flood_is_stopped_at_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("wrote-it-all");
    for text in [
        "head -c 100000000 /dev/zero",
        "head -c 100000000 /dev/zero >&2",
        "yes",
        "trap '' TERM PIPE; yes; yes",
    ] {
        let ended = run(Script {
            cwd: folder.path().into(),
            ..script(&format!("{text}; echo >wrote-it-all"))
        })
        .await
        .unwrap();
        assert_eq!((ended.how, ended.truncated), (How::Flooded, true), "{text}");
        assert!(
            ended.stdout.len() + ended.stderr.len() <= 64 * 1024,
            "{text}"
        );
        assert!(!marker.exists(), "{text}");
    }
}

#[tokio::test]
async fn a_command_past_its_time_dies_with_its_children() {
    tokio::join!(
        dies_in_time("sleep 1000 & echo $! >pid; wait"),
        dies_in_time("trap '' TERM INT HUP; sleep 1000 & echo $! >pid; while :; do sleep 1; done"),
        dies_in_time("exec >&- 2>&- <&-; sleep 1000 & echo $! >pid; wait"),
        dies_in_time("sleep 1000 & echo $! >pid; kill -STOP $$; wait"),
    );
}

async fn dies_in_time(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(Script {
        cwd: folder.path().into(),
        ..within(&format!("echo early; {text}"), Duration::from_secs(2))
    })
    .await
    .unwrap();
    assert_eq!(ended.how, How::TimedOut, "{text}");
    assert_eq!(
        ended.stdout, b"early\n",
        "{text}: what came in time is kept"
    );
    let child = appears(&folder.path().join("pid")).await;
    assert!(is_gone(&child).await, "{text}");
}

#[tokio::test]
async fn children_that_hold_the_output_end_with_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(Script {
        cwd: folder.path().into(),
        // Twice forked: no child of the shell any more, yet of its group.
        ..script("(sleep 1000 & echo $! >pid); echo done; exit 5")
    })
    .await
    .unwrap();
    assert_eq!((ended.how, &*ended.stdout), (How::Exit(5), &b"done\n"[..]));
    let child = appears(&folder.path().join("pid")).await;
    assert!(is_gone(&child).await);
}

#[tokio::test]
async fn a_daemon_that_left_the_group_cannot_hold_us_up() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(Script {
        cwd: folder.path().into(),
        ..script("(setsid sh -c 'echo $$ >pid; exec sleep 20' &); while ! [ -s pid ]; do :; done; echo done")
    })
    .await
    .unwrap();
    assert_eq!((ended.how, &*ended.stdout), (How::Exit(0), &b"done\n"[..]));
}

#[tokio::test]
async fn children_that_let_go_of_the_output_live_on() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(Script {
        cwd: folder.path().into(),
        ..script("(sleep 1; echo late >note) >/dev/null 2>&1 </dev/null &")
    })
    .await
    .unwrap();
    assert_eq!(ended.how, How::Exit(0));
    assert_eq!(appears(&folder.path().join("note")).await, "late");
}

#[tokio::test]
async fn a_dropped_run_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let running = run(Script {
        cwd: folder.path().into(),
        ..script("sleep 1000 & echo $! >child; echo $$ >shell; wait")
    });
    let shell = folder.path().join("shell");
    let shell = tokio::select! {
        _ = running => panic!("it should have slept"),
        shell = appears(&shell) => shell,
    };
    let child = appears(&folder.path().join("child")).await;
    assert!(is_gone(&child).await);
    assert!(is_reaped(&shell).await, "a zombie is left");
}

#[tokio::test]
async fn nothing_is_left_after_many_runs() {
    let handles = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = handles();
    for _ in 0..40 {
        run(script("echo a; echo b >&2")).await.unwrap();
        run(within("sleep 1000", Duration::from_millis(5)))
            .await
            .unwrap();
        let _ = timeout(Duration::from_millis(5), run(script("sleep 1000"))).await;
    }
    // Other tests run beside this one and hold a few; a leak would be hundreds.
    assert!(
        handles() < before + 80,
        "{} handles, then {}",
        before,
        handles()
    );
    let own = std::process::id().to_string();
    let is_clean = wait_for(|| zombies_of(&own).is_empty()).await;
    assert!(is_clean, "zombies: {:?}", zombies_of(&own));
}

fn zombies_of(parent: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| {
            let mut fields = stat.rsplit(") ").next().unwrap().split(' ');
            fields.next() == Some("Z") && fields.next() == Some(parent)
        })
        .collect()
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let nowhere = Script {
        cwd: "/no/such/folder".into(),
        ..script("true")
    };
    let a_nul = script("echo a\0b");
    let too_long = script(&format!("true {}", "x".repeat(4 << 20)));
    for (script, part) in [
        (nowhere, "/no/such/folder"),
        (a_nul, "nul byte"),
        (too_long, "too long"),
    ] {
        let error = run(script).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
