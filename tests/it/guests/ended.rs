//! Guests that do not end by themselves, and each way to end them.
//!
//! No test asserts how fast: a loaded machine may be slow. They assert the order
//! (the call runs, the signal is given, the call ends for that reason), a bound
//! against hanging, and print what was measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbay_contract::{Failure, KillReason, KillSwitch, Progress};
use toolbay_dispatch::ToolResult;
use toolbay_runtime::Limits;
use toolbay_runtime::engine::SLOTS;
use toolbay_tests::bay::{Running, TestBay};
use toolbay_tests::guests;

use super::{Disk, act, assert_ended, assert_still_serves, own_bay};

/// Nobody waits this long for a cancelled call.
const HANGS: Duration = Duration::from_secs(2);

const LIMIT: Duration = Duration::from_millis(200);

/// Ways not to end: computing, sleeping, waiting for the host, and keeping the host
/// itself busy.
fn endless() -> [(&'static str, Value); 4] {
    [
        ("looper", json!({"act": "loop"})),
        ("sleeper", json!({"act": "sleep", "ms": 3_600_000})),
        ("stuck in a poll", json!({"act": "stuck-host-call"})),
        (
            "stuck in a search",
            json!({"act": "stuck-host-call", "root": "long"}),
        ),
    ]
}

/// A bay with the rogue and a file that takes a search hours.
async fn bay(limits: Limits) -> TestBay {
    own_bay()
        .file("long/line.txt", "A".repeat(4 << 20))
        .limits(limits)
        .guest(guests::ROGUE)
        .await
}

/// Lets the call run, gives the signal, and waits for the end.
async fn end(
    running: &Arc<Running>,
    input: Value,
    signal: impl FnOnce(&KillSwitch),
) -> (ToolResult, Duration) {
    let kill = running.kill.below();
    let call = tokio::spawn({
        let (running, kill) = (running.clone(), kill.clone());
        async move { running.call_with("Rogue", input, kill).await }
    });
    while running.events.take().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Permitted; the instance is about to run. Let it get going.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(running.runtime.free_slots(), SLOTS as usize - 1);
    assert!(!call.is_finished());
    let signalled = Instant::now();
    signal(&kill);
    let result = tokio::time::timeout(HANGS, call)
        .await
        .expect("it hangs")
        .unwrap();
    (result, signalled.elapsed())
}

fn assert_killed(running: &Running, who: &str, result: &ToolResult, reason: KillReason) {
    assert_eq!(
        result.failure,
        Some(Failure::Killed(reason.clone())),
        "{who}"
    );
    assert_eq!(result.sentence(), reason.sentence());
    assert_ended(running, reason.word(), &reason.sentence());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_every_endless_guest() {
    let limits = Limits {
        call_ms: LIMIT.as_millis() as u64,
        ..Limits::default()
    };
    let running = bay(limits).await.ready().await;
    for (who, input) in endless() {
        let before = Disk::of(&[running.root()]);
        let started = Instant::now();
        let result = tokio::time::timeout(LIMIT + HANGS, running.call("Rogue", input))
            .await
            .expect("it hangs");
        let took = started.elapsed();
        println!(
            "deadline: {who} ended {:?} after it",
            took.saturating_sub(LIMIT)
        );
        assert!(took >= LIMIT, "{who} ended before its time");
        assert_killed(&running, who, &result, KillReason::Deadline(LIMIT));
        before.assert_unchanged();
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_ends_every_endless_guest() {
    let running = Arc::new(bay(Limits::default()).await.ready().await);
    for (who, input) in endless() {
        let before = Disk::of(&[running.root()]);
        let (result, took) = end(&running, input, |kill| kill.throw(KillReason::Cancelled)).await;
        println!("cancel: {who} ended after {took:?}");
        assert_killed(&running, who, &result, KillReason::Cancelled);
        before.assert_unchanged();
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_ends_every_endless_guest_and_lets_none_begin() {
    for (who, input) in endless() {
        let running = Arc::new(bay(Limits::default()).await.ready().await);
        let plugin = running.tools[0].clone();
        let (result, took) = end(&running, input, |_| plugin.revoke("its grant")).await;
        println!("revoke: {who} ended after {took:?}");
        let reason = KillReason::Revoked("its grant".into());
        assert_killed(&running, who, &result, reason.clone());

        for input in [json!({"text": "again"}), json!({"text": "anew"})] {
            let again = act(&running, "echo", input).await;
            assert_eq!(
                again.failure,
                Some(Failure::Killed(reason.clone())),
                "{who}"
            );
        }
        // Opened anew it serves: what was taken back was the plugin's grant, not
        // the component.
        let fresh = TestBay::with_runtime(running.runtime.clone());
        let fresh = fresh.guest(guests::ROGUE).await.ready().await;
        assert_still_serves(&fresh).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_ends_every_endless_guest_and_lets_none_begin() {
    for (who, input) in endless() {
        let running = Arc::new(bay(Limits::default()).await.ready().await);
        let runtime = running.runtime.clone();
        let (result, took) = end(&running, input, |_| runtime.shut_down()).await;
        println!("shutdown: {who} ended after {took:?}");
        assert_killed(&running, who, &result, KillReason::Shutdown);
        let again = act(&running, "echo", json!({"text": "again"})).await;
        assert_eq!(
            again.failure,
            Some(Failure::Killed(KillReason::Shutdown)),
            "{who}"
        );
        assert_eq!(runtime.free_slots(), SLOTS as usize);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_listens_ends_by_itself() {
    let running = Arc::new(bay(Limits::default()).await.ready().await);
    let input = json!({"act": "cancel-aware"});
    let (result, took) = end(&running, input, |kill| kill.throw(KillReason::Cancelled)).await;
    println!("cancel: one that listens ended after {took:?}");
    assert_killed(&running, "cancel-aware", &result, KillReason::Cancelled);
    let progress = running.progress.lock().unwrap().clone();
    assert_eq!(progress, [Progress::Text("noticed".into())]);
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_still_waits_is_cancelled_at_once() {
    // Before its turn comes, behind another call; and while somebody is asked.
    let running = Arc::new(bay(Limits::default()).await.allow("Rogue").ready().await);
    let long = running.kill.below();
    let first = tokio::spawn({
        let (running, kill) = (running.clone(), long.clone());
        let input = json!({"act": "sleep", "ms": 3_600_000, "claims_read_only": false});
        async move { running.call_with("Rogue", input, kill).await }
    });
    while running.runtime.free_slots() == SLOTS as usize {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;

    let kill = running.kill.below();
    let waiting = tokio::spawn({
        let (running, kill) = (running.clone(), kill.clone());
        let input = json!({"act": "ok", "claims_read_only": false});
        async move { running.call_with("Rogue", input, kill).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    kill.throw(KillReason::Cancelled);
    let result = tokio::time::timeout(HANGS, waiting)
        .await
        .expect("it hangs behind the other call")
        .unwrap();
    assert_eq!(result.failure, Some(Failure::Killed(KillReason::Cancelled)));
    assert!(!first.is_finished());
    long.throw(KillReason::Cancelled);
    tokio::time::timeout(HANGS, first).await.unwrap().unwrap();
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_is_stuck_in_a_question_can_be_cancelled() {
    let limits = Limits {
        inspect_ms: 3_600_000,
        ..Limits::default()
    };
    let running = Arc::new(bay(limits).await.ready().await);
    for field in ["in_question", "in_validation"] {
        for (who, stuck) in endless().into_iter().take(3) {
            let mut input = json!({"act": "ok"});
            input[field] = stuck;
            let kill = running.kill.below();
            let call = tokio::spawn({
                let (running, kill) = (running.clone(), kill.clone());
                async move { running.call_with("Rogue", input, kill).await }
            });
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(!call.is_finished());
            let signalled = Instant::now();
            kill.throw(KillReason::Cancelled);
            let result = tokio::time::timeout(HANGS, call)
                .await
                .expect("it hangs")
                .unwrap();
            println!(
                "cancel: {who} {field} ended after {:?}",
                signalled.elapsed()
            );
            assert_eq!(
                result.failure,
                Some(Failure::Killed(KillReason::Cancelled)),
                "{who} {field}"
            );
            assert_still_serves(&running).await;
        }
    }
}
