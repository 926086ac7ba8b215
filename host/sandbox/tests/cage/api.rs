//! The library as a host uses it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolbay_sandbox::cage::{
    CageError, Closed, ClosedPattern, ClosedTo, Command, Demands, Enclosure, Ended, GitAccess,
    Helper, Hosts, How, Kind, Limits, Paths, Profile, Programs, Stream, Streams, Strength, choose,
    offers,
};

use crate::world::ALONE;

pub(crate) fn demands() -> Demands {
    Demands {
        helper: Helper::At(env!("CARGO_BIN_EXE_toolbay-cage-helper").into()),
        ..Demands::default()
    }
}

pub(crate) fn enclosure(root: &Path) -> Enclosure {
    choose(&demands()).unwrap().around(&paths(root)).unwrap()
}

pub(crate) fn paths(root: &Path) -> Paths {
    Paths {
        roots: vec![root.to_owned()],
        names: crate::world::names(),
        ..Paths::default()
    }
}

/// Every cage that this machine can build.
pub(crate) fn cages(root: &Path) -> Vec<(Kind, Enclosure)> {
    let mut demands = demands();
    if let Some(folder) = std::env::var_os("TOOLBAY_CAGE_BWRAP") {
        demands.search_path = folder;
    }
    let cages = offers(&demands).into_iter().filter_map(|offer| {
        let cage = offer.cage.ok()?;
        Some((offer.kind, cage.around(&paths(root)).unwrap()))
    });
    cages.collect()
}

pub(crate) fn command(root: &Path, script: &str) -> Command {
    Command {
        arguments: ["/bin/bash", "-c", script].map(Into::into).to_vec(),
        folder: root.to_owned(),
        environment: vec![("PATH".into(), crate::world::search_path().into())],
        profile: Profile::Workspace {
            git: GitAccess::ReadOnly,
        },
        hosts: Hosts::default(),
        limits: Limits::default(),
        programs: Programs::Any,
        streams: Streams::Apart,
    }
}

async fn run(
    enclosure: &Enclosure,
    command: &Command,
) -> (Result<Ended, CageError>, String, String) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut sink = |stream, bytes: &[u8]| match stream {
        Stream::Output => output.extend_from_slice(bytes),
        Stream::Errors => errors.extend_from_slice(bytes),
    };
    let ended = enclosure.run(command, &mut sink).await;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended, text(output), text(errors))
}

#[tokio::test]
async fn a_command_tells_how_it_ended_and_what_it_said() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    for (script, how, out, err) in [
        ("echo a; echo b >&2; exit 3", How::Exit(3), "a\n", "b\n"),
        ("kill -TERM $$", How::Signal(15), "", ""),
        (
            "cat; test -z \"$(ls -A /tmp)\" || true",
            How::Exit(0),
            "",
            "",
        ),
    ] {
        let (ended, said, complained) = run(&enclosure, &command(root.path(), script)).await;
        let ended = ended.unwrap();
        assert_eq!(
            (ended.how, &*said, &*complained),
            (how, out, err),
            "{script}"
        );
        assert_eq!(
            (ended.kind, ended.strength),
            (Kind::Namespaces, Strength::Full)
        );
        assert!(!ended.truncated && ended.refused.is_empty());
    }
}

#[tokio::test]
async fn both_outputs_together_keep_their_order() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let mut command = command(
        root.path(),
        "for i in 1 2 3; do echo $i; echo e$i >&2; done",
    );
    command.streams = Streams::Together;
    let (ended, said, _) = run(&enclosure, &command).await;
    assert_eq!(ended.unwrap().how, How::Exit(0));
    assert_eq!(said, "1\ne1\n2\ne2\n3\ne3\n");
}

#[tokio::test]
async fn what_was_refused_is_told() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let (ended, ..) = run(
        &enclosure,
        &command(root.path(), "mkdir .vscode; mkdir .vscode"),
    )
    .await;
    let refused = ended.unwrap().refused;
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains(".vscode"), "{refused:?}");
}

#[tokio::test]
async fn what_is_closed_to_one_command_is_open_to_the_next() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for folder in ["keys", "gen", "out"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
        std::fs::write(root.join(folder).join("a"), "one\n").unwrap();
    }
    let closed = Closed {
        unreadable: vec![root.join("keys/a"), root.join("not-yet")],
        unwritable: vec![root.join("gen"), root.join("later/x")],
        patterns: vec![
            ClosedPattern::new(&root, "**/*.pem", ClosedTo::Reading).unwrap(),
            ClosedPattern::new(&root, "out/*.lock", ClosedTo::Writing).unwrap(),
        ],
    };
    for (kind, open) in cages(&root) {
        let closing = open.closing(&closed).unwrap();
        for (script, works) in [
            ("cat keys/a", false),
            ("ls keys", true),
            ("mv keys other", false),
            ("rm -r keys", false),
            ("echo x > keys/a", false),
            ("echo x > not-yet", false),
            ("cat gen/a", true),
            ("echo x > new.pem", false),
            ("echo x > out/new.pem", false),
            ("echo x > out/new.lock", false),
            ("echo x > out/a && mv out/a out/a.lock", false),
            ("echo x > new.lock && rm new.lock", true),
            ("echo x > gen/a", false),
            ("echo x > gen/b", false),
            ("mv gen other", false),
            ("mkdir -p later && echo x > later/x", false),
            ("echo x > later/y && rm later/y", true),
            ("echo x > keys/b && rm keys/b", true),
        ] {
            let (ended, said, _) = run(&closing, &command(&root, script)).await;
            let how = ended.unwrap().how;
            assert_eq!(how == How::Exit(0), works, "{kind:?} {script}: {said}");
        }
        let mut reading = command(&root, "cat keys/a");
        reading.profile = Profile::ReadOnly;
        let (ended, said, _) = run(&closing, &reading).await;
        assert_ne!(ended.unwrap().how, How::Exit(0), "{kind:?}");
        assert_eq!(said, "", "{kind:?}");
        // What was closed that way before is forgotten.
        let opened = closing.closing(&Closed::default()).unwrap();
        let (ended, said, _) = run(&opened, &command(&root, "cat keys/a; touch gen/a")).await;
        assert_eq!((ended.unwrap().how, &*said), (How::Exit(0), "one\n"));
    }
}

#[tokio::test]
async fn what_cannot_run_says_why() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let mut missing = command(root.path(), "");
    missing.arguments = vec!["no-such-program".into()];
    let (ended, ..) = run(&enclosure, &missing).await;
    assert!(matches!(ended, Err(CageError::NotStarted(what)) if what.contains("no-such-program")));
    let mut nowhere = command(root.path(), "true");
    nowhere.folder = root.path().join("nowhere");
    let (ended, ..) = run(&enclosure, &nowhere).await;
    assert!(matches!(ended, Err(CageError::NoDirectory(_))));
    let mut empty = command(root.path(), "");
    empty.arguments.clear();
    let (ended, ..) = run(&enclosure, &empty).await;
    assert!(matches!(ended, Err(CageError::NotStarted(_))));
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_dies() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let script = "while true; do echo x >> ticks; sleep 0.02; done";
    let command = command(root.path(), script);
    let mut sink = |_, _: &[u8]| {};
    let running = enclosure.run(&command, &mut sink);
    let _ = tokio::time::timeout(Duration::from_millis(400), running).await;
    let ticks = || std::fs::read(root.path().join("ticks")).map_or(0, |text| text.len());
    // It may finish its last tick while it is being killed.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = ticks();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(before > 0);
    assert_eq!(ticks(), before);
}

#[tokio::test]
async fn output_comes_while_the_command_runs() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    // The command goes on only after the host has seen its first line.
    let script = "echo first; for i in $(seq 1000); do test -e seen && exit 7; sleep 0.02; done";
    let seen = root.path().join("seen");
    let pieces = Arc::new(AtomicUsize::new(0));
    let mut sink = |_, _: &[u8]| {
        pieces.fetch_add(1, Ordering::Relaxed);
        std::fs::write(&seen, "").unwrap();
    };
    let ended = enclosure
        .run(&command(root.path(), script), &mut sink)
        .await;
    assert_eq!(ended.unwrap().how, How::Exit(7));
    assert_eq!(pieces.load(Ordering::Relaxed), 1);
}

#[test]
fn a_weaker_cage_is_never_taken_silently() {
    let weak = Demands {
        only: Some(Kind::Degraded),
        ..demands()
    };
    assert!(choose(&weak).is_err());
    let cage = choose(&Demands {
        least: Strength::Degraded,
        ..weak
    });
    let cage = cage.unwrap();
    assert_eq!(cage.strength(), Strength::Degraded);
    assert!(!cage.lacks().is_empty());
    // A program that is no helper is no cage.
    let wrong = Demands {
        helper: Helper::At("/bin/true".into()),
        ..demands()
    };
    let why = choose(&wrong).unwrap_err();
    assert!(why.to_string().contains("namespaces"), "{why}");
    assert_eq!(offers(&demands()).len(), 3);
}

/// The keeper that this process started last, if it still runs.
fn keeper() -> Option<u32> {
    let own = std::process::id();
    let children = std::fs::read_dir(format!("/proc/{own}/task")).unwrap();
    let children = children.filter_map(Result::ok).filter_map(|task| {
        let list = std::fs::read_to_string(task.path().join("children")).ok()?;
        Some(
            list.split(' ')
                .filter_map(|it| it.parse().ok())
                .collect::<Vec<u32>>(),
        )
    });
    let is_keeper = |child: &u32| {
        let line = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.ends_with(b"--toolbay-cage-helper\0keep\0")
    };
    children.flatten().filter(is_keeper).max()
}

#[tokio::test]
async fn one_keeper_serves_many_commands_and_keeps_nothing_of_them() {
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let command = command(root.path(), "sleep 1000 & true");
    let count = |what: &str, keeper: u32| match what {
        "files" => std::fs::read_dir(format!("/proc/{keeper}/fd"))
            .unwrap()
            .count(),
        _ => {
            let list = format!("/proc/{keeper}/task/{keeper}/children");
            std::fs::read_to_string(list)
                .unwrap()
                .split_whitespace()
                .count()
        }
    };
    let many = crate::endings::times(40);
    let mut before = None;
    for _ in 0..many {
        let (ended, ..) = run(&enclosure, &command).await;
        assert_eq!(ended.unwrap().how, How::Exit(0));
        let keeper = keeper().expect("a keeper");
        let now = (count("files", keeper), count("children", keeper));
        // One spare at most; what ended is reaped before the host hears of it.
        assert!(now.1 <= 1, "{now:?}");
        before.get_or_insert((keeper, now.0));
    }
    let (first, files) = before.unwrap();
    let last = keeper().expect("a keeper");
    println!(
        "{many} commands by one keeper: {files} files open at first, {} at last",
        count("files", last)
    );
    assert_eq!((first, files), (last, count("files", last)));
    // Who kills it gets another one.
    std::process::Command::new("kill")
        .args(["-9", &last.to_string()])
        .status()
        .unwrap();
    let mut ended = run(&enclosure, &command).await.0;
    if ended.is_err() {
        // It may have been asked before it was gone.
        ended = run(&enclosure, &command).await.0;
    }
    assert_eq!(ended.unwrap().how, How::Exit(0));
    drop(enclosure);
    assert_eq!(keeper(), None);
}
