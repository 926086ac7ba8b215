//! A worker computes and does nothing else, and is gone when nobody waits for it.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

use toolbay_sandbox::cage::Helper;
use toolbay_sandbox::worker::{WorkerEnd, WorkerJob, WorkerLimits, run_worker};

const LIMITS: WorkerLimits = WorkerLimits {
    memory: 64 << 20,
    output: 1 << 20,
    processor: Duration::from_secs(20),
    time: Duration::from_secs(20),
    threads: 2,
};

fn job(work: &str, limits: WorkerLimits) -> (WorkerJob, File) {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(work.as_bytes()).unwrap();
    input.rewind().unwrap();
    let output = tempfile::tempfile().unwrap();
    let job = WorkerJob {
        program: Helper::At(PathBuf::from(env!("CARGO_BIN_EXE_toolbay-cage-helper"))),
        task: "try",
        input,
        output: output.try_clone().unwrap(),
        limits,
    };
    (job, output)
}

async fn tried(work: &str, limits: WorkerLimits) -> (WorkerEnd, String) {
    let (job, mut output) = job(work, limits);
    let end = run_worker(job).await.unwrap();
    let mut said = String::new();
    output.rewind().unwrap();
    if end == WorkerEnd::Done {
        output.read_to_string(&mut said).unwrap();
    }
    (end, said)
}

#[tokio::test]
async fn a_worker_gets_its_input_and_gives_its_output() {
    for (work, expected) in [
        ("echo", "echo"),
        ("two threads", "3"),
        // Its input and its output once more; the standard ones are not counted.
        ("descriptors", "2"),
    ] {
        let (end, said) = tried(work, LIMITS).await;
        assert_eq!((end, said.as_str()), (WorkerEnd::Done, expected), "{work}");
    }
}

#[tokio::test]
async fn a_worker_can_do_nothing_but_compute() {
    let (_, all) = tried("list", LIMITS).await;
    assert!(all.lines().count() > 10, "{all}");
    for attempt in all.lines() {
        let (end, said) = tried(attempt, LIMITS).await;
        println!("{attempt}: {said}");
        assert_eq!(end, WorkerEnd::Done, "{attempt}");
        assert!(said.starts_with("refused: "), "{attempt}: {said}");
    }
}

#[tokio::test]
async fn how_a_worker_ends_is_told_apart() {
    let hasty = WorkerLimits {
        time: Duration::from_millis(300),
        ..LIMITS
    };
    let busy = WorkerLimits {
        processor: Duration::from_secs(1),
        ..LIMITS
    };
    let broken = |text: &str| WorkerEnd::Broke(text.into());
    for (work, limits, expected) in [
        (
            "refuse",
            LIMITS,
            WorkerEnd::Refused("this cannot be done".into()),
        ),
        ("eat", LIMITS, WorkerEnd::OutOfMemory),
        ("spin", busy, WorkerEnd::OutOfTime),
        ("sleep", hasty, WorkerEnd::OutOfTime),
        ("flood", LIMITS, WorkerEnd::TooMuchOutput),
        ("overflow", LIMITS, broken("its call stack overflowed")),
    ] {
        assert_eq!(tried(work, limits).await.0, expected, "{work}");
    }
    let (end, _) = tried("panic", LIMITS).await;
    assert!(
        matches!(&end, WorkerEnd::Broke(why) if why.contains("a bad day")),
        "{end:?}"
    );
}

/// Workers of this very program that are alive, by their task.
fn alive(task: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| {
            let mut words = line.split(|byte| *byte == 0).skip(1);
            words.next() == Some(b"--toolbay-worker") && words.next() == Some(task.as_bytes())
        })
        .count()
}

#[tokio::test]
async fn a_worker_that_nobody_waits_for_is_killed() {
    let (mut job, _output) = job("sleep", LIMITS);
    // Known by its name, since other tests have workers too.
    job.task = "try-dropped";
    let work = run_worker(job);
    let early = tokio::time::timeout(Duration::from_millis(500), work).await;
    assert!(early.is_err(), "{early:?}");
    for _ in 0..500 {
        if alive("try-dropped") == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the worker lives on");
}
