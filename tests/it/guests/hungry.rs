//! Guests that take what a host has to bound: memory, stack, output, progress, log.

use serde_json::{Value, json};
use toolbay_contract::{Failure, Progress};
use toolbay_runtime::Limits;
use toolbay_tests::bay::Running;
use toolbay_tests::guests;

use super::{Disk, Report, act, assert_broke, assert_no_slot_lost, assert_still_serves, own_bay};

async fn limited(limits: Limits) -> Running {
    own_bay()
        .limits(limits)
        .guest(guests::ROGUE)
        .await
        .ready()
        .await
}

fn memory(mib: u64) -> Limits {
    Limits {
        memory_bytes: mib << 20,
        ..Limits::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hog_gets_no_more_memory_than_its_limit() {
    let running = limited(memory(32)).await;
    let before = Disk::of(&[running.root()]);
    let result = act(&running, "hog", json!({"mib": 512})).await;
    let Report(said) = Report::of(&result);
    let got = said["got_mib"].as_u64().unwrap();
    assert!((20..32).contains(&got), "{said}");
    before.assert_unchanged();
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_of_hunger_is_told_the_limit() {
    let running = limited(memory(32)).await;
    let result = act(&running, "output-flood", json!({"mib": 64})).await;
    let text = result.text();
    assert!(text.contains("MiB of memory and may have 32 MiB"), "{text}");
    assert_broke(&running, &result, "it wanted ");
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_limit_too_low_to_start_is_told_too() {
    let bay = own_bay().limits(memory(0)).guest(guests::ROGUE).await;
    let running = bay.ready().await;
    let result = act(&running, "ok", json!({})).await;
    let text = result.text();
    assert!(result.is_error, "{text}");
    assert!(text.contains("may have 0 MiB"), "{text}");
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_memories_are_bounded_in_number_and_in_sum() {
    const HOARD: &str = "(core instance (instantiate $hoard))";
    let path = toolbay_tests::workspace().join("tests/guests/many-memories.wat");
    let text = std::fs::read_to_string(path).unwrap();
    let all = text.matches(HOARD).count();
    for (memories, part) in [
        // The number of instances, the number of memories, and what they add up to.
        (
            all,
            "cannot be loaded: its code does not fit the engine: The component transitively contains 65 core module instances",
        ),
        (
            20,
            "cannot be loaded: its code does not fit the engine: The component transitively contains 21 Wasm linear memories",
        ),
        (
            7,
            "broke in info: it wanted 112 MiB of memory and may have 100 MiB",
        ),
    ] {
        let fewer = text.replacen(HOARD, "", all - memories);
        let bay = own_bay().limits(memory(100));
        let bay = bay.bytes(wat::parse_str(fewer).unwrap().into()).await;
        let [problem] = bay.problems() else {
            panic!("{memories}: {:?}", bay.problems());
        };
        let told = problem.to_string();
        println!("many memories: {told}");
        assert!(told.starts_with("plugin guest.wasm "), "{told}");
        assert!(told.contains(part), "{told}");
    }
    let few = text.replacen(HOARD, "", all - 5);
    let bay = own_bay().limits(memory(100));
    let running = bay.bytes(wat::parse_str(few).unwrap().into()).await.start();
    assert_eq!(running.dispatch.pool().names(), ["ManyMemories"]);
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_files_are_bounded() {
    let running = own_bay()
        .file("a.txt", "a")
        .guest(guests::ROGUE)
        .await
        .ready()
        .await;
    let path = running.root().join("a.txt");
    for _ in 0..3 {
        let input = json!({"path": path, "count": 100_000});
        let Report(said) = Report::of(&act(&running, "open-many", input).await);
        let got = said["got"].as_u64().unwrap();
        assert!((100..1_000).contains(&got), "{said}");
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_recursion_breaks_the_call_alone() {
    let running = limited(Limits::default()).await;
    let before = Disk::of(&[running.root()]);
    for _ in 0..3 {
        for (lean, reason) in [
            (true, "its call stack overflowed (endless recursion?)"),
            (false, "it reached outside its memory (endless recursion?)"),
        ] {
            let result = act(&running, "recursion", json!({"lean": lean})).await;
            assert_broke(&running, &result, reason);
            assert_still_serves(&running).await;
        }
    }
    before.assert_unchanged();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_is_refused_with_the_limit() {
    let running = limited(Limits {
        output_bytes: 1 << 20,
        ..Limits::default()
    })
    .await;
    // Just over the limit, and far over it.
    for mib in [2, 64] {
        let result = act(&running, "output-flood", json!({"mib": mib})).await;
        assert_broke(&running, &result, "at most 1048576 are accepted");
        assert_still_serves(&running).await;
    }
    let result = act(&running, "output-flood", json!({"mib": 1})).await;
    let outcome = result.outcome.as_ref().map(|outcome| outcome.text().len());
    assert_eq!(outcome, Some(1 << 20));
    // The model gets what a model can take.
    assert!(result.text().chars().count() <= 50_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_progress_is_cut_and_the_cut_is_told_once() {
    // By number, and by bytes: each text has at least ten.
    let by_number = Limits {
        progress_events: 100,
        ..Limits::default()
    };
    let by_bytes = Limits {
        progress_bytes: 1_000,
        ..Limits::default()
    };
    for (limits, most) in [(by_number, 100), (by_bytes, 100)] {
        let running = limited(limits).await;
        let result = act(&running, "progress-flood", json!({"count": 20_000})).await;
        assert_eq!(result.text(), "sent 20000");
        let progress = std::mem::take(&mut *running.progress.lock().unwrap());
        let dropped = progress
            .iter()
            .filter(|progress| **progress == Progress::Dropped)
            .count();
        assert_eq!(dropped, 1);
        assert_eq!(progress.last(), Some(&Progress::Dropped));
        assert!(progress.len() <= most + 1, "{}", progress.len());
        assert_eq!(progress[0], Progress::Text("progress 0".into()));
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_is_dropped() {
    let running = limited(Limits {
        log_bytes: 1_000,
        ..Limits::default()
    })
    .await;
    let result = act(&running, "log-flood", json!({"count": 20_000})).await;
    assert_eq!(result.text(), "sent 20000");
    // What fits is passed on to whoever keeps a log; nothing of it is progress.
    let told = running.progress.lock().unwrap().clone();
    let lines = told.iter().map(|progress| match progress {
        Progress::Log { text, .. } => text.len(),
        other => panic!("{other:?}"),
    });
    let bytes: usize = lines.sum();
    assert!(0 < bytes && bytes <= 1_000, "{bytes}");
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_of_many_megabytes_are_served_or_refused() {
    let running = limited(memory(64)).await;
    for (mib, served) in [(4_usize, true), (256, false)] {
        let text = "x".repeat(mib << 20);
        let result = act(&running, "echo", json!({"text": text})).await;
        assert_eq!(!result.is_error, served, "{mib} MiB");
        if let Some(failure) = &result.failure {
            let told = failure.to_string();
            assert!(told.len() < 1_000, "{} bytes", told.len());
            assert!(
                matches!(failure, Failure::Broke { .. } | Failure::InvalidInput(_)),
                "{told}"
            );
        }
        assert_still_serves(&running).await;
    }
    let deep: Value = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let result = act(&running, "ok", json!({"deep": deep})).await;
    assert_eq!(result.text(), "ok");
}
