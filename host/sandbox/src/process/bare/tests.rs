#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;
use crate::cage::Bounds;

fn leash(time: u64, output: u64) -> Leash {
    Leash::with(Bounds {
        time: Duration::from_millis(time),
        output,
        pace: None,
    })
}

async fn run(script: &str, leash: &Leash) -> (BareEnd, String) {
    let command = Bare {
        arguments: ["bash", "-c", script].map(OsString::from).into(),
        folder: "/".into(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    let mut output = Vec::new();
    let mut sink = |bytes: &[u8]| output.extend_from_slice(bytes);
    let end = run_bare(&command, leash, &mut sink).await.unwrap();
    (end, String::from_utf8_lossy(&output).into_owned())
}

/// Processes whose command line starts so.
fn alive(wanted: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| {
            let line = String::from_utf8_lossy(line).replace('\0', " ");
            line.starts_with(wanted)
        })
        .count()
}

async fn is_gone(wanted: &str) -> bool {
    for _ in 0..500 {
        if alive(wanted) == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn both_outputs_are_one_and_nothing_is_inherited() {
    let long = leash(60_000, 1 << 20);
    let (end, said) = run(
        "echo a; echo b >&2; pwd; cat; env | grep -c =; exit 7",
        &long,
    )
    .await;
    assert_eq!(end.how, How::Exit(7));
    // PATH, and what bash sets by itself: PWD, SHLVL, _.
    assert_eq!(said, "a\nb\n/\n4\n");
    let (end, _) = run("kill -9 $$", &long).await;
    assert_eq!(end.how, How::Signal(9));
}

#[tokio::test]
async fn the_whole_group_ends_with_the_command_whatever_its_end() {
    // A run of this test that was itself killed may have left others.
    let sleep = |number: u32| format!("sleep {number}.{}", std::process::id());
    let one = sleep(7151);
    let script = format!("{one} & disown; ({one} > /dev/null &); echo");
    let (end, _) = run(&script, &leash(60_000, 99)).await;
    assert_eq!(end.how, How::Exit(0));
    assert!(is_gone(&one).await);
    let one = sleep(7152);
    let (end, _) = run(&format!("{one} & {one}"), &leash(200, 99)).await;
    assert_eq!(end.how, How::TimedOut);
    assert!(is_gone(&one).await);
    let one = sleep(7153);
    let (end, said) = run(&format!("{one} & yes"), &leash(60_000, 99)).await;
    assert_eq!(end.how, How::Flooded);
    assert!(end.truncated);
    assert_eq!(said.len(), 99);
    assert!(is_gone(&one).await);
    let one = sleep(7154);
    let (held, script) = (leash(60_000, 99), format!("{one} & {one}"));
    let dropped = tokio::time::timeout(Duration::from_millis(300), run(&script, &held));
    assert!(dropped.await.is_err());
    assert!(is_gone(&one).await);
}

#[tokio::test]
async fn bounds_may_be_changed_while_it_runs() {
    let held = leash(60_000, 1 << 20);
    let shorter = Bounds {
        time: Duration::from_millis(100),
        output: 1 << 20,
        pace: None,
    };
    let (ended, ()) = tokio::join!(run("sleep 7155", &held), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        held.change(shorter);
    });
    assert_eq!(ended.0.how, How::TimedOut);
}

#[tokio::test]
async fn a_program_or_a_folder_that_is_not_there_is_an_error() {
    for (program, folder) in [("no-such-program-7", "/"), ("true", "/no/such/folder")] {
        let command = Bare {
            arguments: vec![program.into()],
            folder: folder.into(),
            environment: Vec::new(),
        };
        let ran = run_bare(&command, &leash(1000, 99), &mut |_| {}).await;
        assert!(ran.is_err(), "{program} {folder}");
    }
}
