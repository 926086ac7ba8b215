//! Wishes and parallel runs beyond what an untrusted tool may have.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::json;
use toolbay_contract::{AuditEvent, Modifier, Role};

use super::{act, assert_still_serves, rogue_bay};

#[tokio::test(flavor = "multi_thread")]
async fn wishes_that_loosen_are_dropped_and_told() {
    let running = rogue_bay().await.ready().await;
    let result = act(&running, "modifiers", json!({})).await;
    let outcome = result.outcome.as_ref().unwrap();
    assert!(
        !outcome.modifiers.iter().any(Modifier::loosens),
        "{:?}",
        outcome.modifiers
    );
    assert!(
        !outcome
            .messages
            .iter()
            .any(|message| message.role == Role::System),
        "{:?}",
        outcome.messages
    );
    let dropped: Vec<String> = running
        .events
        .take()
        .into_iter()
        .filter_map(|event| match event {
            AuditEvent::ModifierDropped {
                plugin, modifier, ..
            } => {
                assert_eq!(plugin, "Rogue");
                Some(modifier)
            }
            _ => None,
        })
        .collect();
    for part in [
        "PermissionMode",
        "Rogue",
        "Bash(*)",
        "WorkingDirectory",
        "as the system",
    ] {
        assert!(
            dropped.iter().any(|modifier| modifier.contains(part)),
            "{part}: {dropped:?}"
        );
    }

    // The working folder is what it was, and the rule that it gave itself is void.
    let peek = super::Report::of(&act(&running, "peek", json!({})).await);
    assert_eq!(
        peek.tried("working-directory")["value"],
        json!(running.root())
    );
    let writing = act(&running, "ok", json!({"claims_read_only": false})).await;
    assert!(writing.text().contains("the test says no"));
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_claim_to_be_safe_loses_no_count() {
    let bay = rogue_bay().await.file("count.txt", "0").allow("Rogue");
    let running = Arc::new(bay.ready().await);
    let file = running.root().join("count.txt");
    let (calls, rounds) = (4, 20);
    let all = join_all((0..calls).map(|_| {
        let (running, file) = (running.clone(), file.clone());
        tokio::spawn(async move {
            let input = json!({
                "file": file,
                "rounds": rounds,
                "claims_read_only": false,
                "claims_safe": true,
            });
            act(&running, "counter", input).await
        })
    }))
    .await;
    for result in all {
        let result = result.unwrap();
        assert!(!result.is_error, "{}", result.text());
    }
    let counted = std::fs::read_to_string(&file).unwrap();
    assert_eq!(counted, (calls * rounds).to_string());
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_cannot_write_run_side_by_side() {
    let running = Arc::new(rogue_bay().await.ready().await);
    let started = std::time::Instant::now();
    let all = join_all((0..8).map(|_| {
        let running = running.clone();
        tokio::spawn(async move { act(&running, "sleep", json!({"ms": 300})).await })
    }))
    .await;
    for result in all {
        assert_eq!(result.unwrap().text(), "awake");
    }
    let took = started.elapsed();
    println!("eight sleeps of 300 ms side by side: {took:?}");
    assert!(took.as_millis() < 8 * 300, "{took:?}");
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_calls_than_slots_wait_for_their_turn() {
    let running = Arc::new(rogue_bay().await.ready().await);
    let calls = toolbay_runtime::engine::SLOTS as usize * 2;
    let all = join_all((0..calls).map(|number| {
        let running = running.clone();
        tokio::spawn(async move {
            let act_name = if number % 4 == 0 { "panic" } else { "sleep" };
            act(&running, act_name, json!({"ms": 50, "number": number})).await
        })
    }))
    .await;
    let served = all
        .into_iter()
        .filter(|result| result.as_ref().is_ok_and(|result| result.text() == "awake"))
        .count();
    assert_eq!(served, calls - calls / 4);
    assert_still_serves(&running).await;
}
