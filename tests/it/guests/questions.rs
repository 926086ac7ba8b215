//! Acting where a tool is only asked: inside `is-read-only` there are no powers at
//! all, inside `validate-input` there is reading.

use serde_json::{Value, json};
use toolbay_contract::Failure;
use toolbay_tests::bay::Running;

use super::{Disk, act, assert_still_serves, names, rogue_bay, stock};

/// The report that an act left in the message of a rejection.
async fn rejected_with(running: &Running, act_inside: Value) -> Value {
    let result = act(running, "ok", json!({"in_validation": act_inside})).await;
    let Some(Failure::InvalidInput(message)) = &result.failure else {
        panic!("{:?}", result.failure);
    };
    serde_json::from_str(message).unwrap_or_else(|_| json!(message))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_without_powers() {
    let bay = rogue_bay().await.allow("Rogue").says_yes();
    stock(&bay.root());
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    let before = Disk::of(&[&root]);
    for inside in [
        json!({"act": "write-every-way", "dir": root}),
        json!({"act": "read-every-way", "path": root.join("victim.txt")}),
        json!({"act": "dial", "host": "127.0.0.1", "port": 9}),
        json!({"act": "stuck-host-call", "root": root}),
        json!({"act": "progress-flood", "count": 10}),
        json!({"act": "modifiers"}),
    ] {
        // Whatever happens inside, the answer is the one that it gives.
        let result = act(&running, "ok", json!({"in_question": inside})).await;
        assert_eq!(result.text(), "ok", "{inside}");
        before.assert_unchanged();
        assert!(running.progress.lock().unwrap().is_empty());
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_crashes_counts_as_not_read_only() {
    let running = rogue_bay().await.ready().await;
    for inside in [
        json!({"act": "panic"}),
        json!({"act": "exit", "code": 0}),
        json!({"act": "recursion"}),
        json!({"act": "trap"}),
    ] {
        let result = act(&running, "ok", json!({"in_question": inside})).await;
        // Not read-only, so somebody is asked, and says no.
        assert_eq!(
            result.failure,
            Some(Failure::Denied("the test says no".into())),
            "{inside}"
        );
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_takes_too_long_counts_as_not_read_only() {
    let limits = toolbay_runtime::Limits {
        inspect_ms: 100,
        ..Default::default()
    };
    let bay = super::own_bay()
        .limits(limits)
        .guest(toolbay_tests::guests::ROGUE)
        .await;
    let running = bay.ready().await;
    for inside in [
        json!({"act": "loop"}),
        json!({"act": "sleep", "ms": 3_600_000}),
        json!({"act": "stuck-host-call"}),
    ] {
        let result = act(&running, "ok", json!({"in_question": inside})).await;
        assert_eq!(
            result.failure,
            Some(Failure::Denied("the test says no".into())),
            "{inside}"
        );
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_validation_may_read_and_nothing_more() {
    let bay = rogue_bay().await.allow("Rogue").says_yes();
    stock(&bay.root());
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    let before = Disk::of(&[&root]);

    // Even for a call that may write.
    let writes = rejected_with(
        &running,
        json!({"act": "write-every-way", "dir": root, "claims_read_only": false}),
    )
    .await;
    assert_eq!(writes["succeeded"], json!([]));
    before.assert_unchanged();
    let powers: Vec<String> = running
        .refusals()
        .into_iter()
        .map(|(power, _)| power)
        .collect();
    for power in [
        "files: open for writing",
        "files: rename",
        "files.replace",
        "session.put",
    ] {
        assert!(
            powers.iter().any(|refused| refused == power),
            "{power}: {powers:?}"
        );
    }

    let dialled = rejected_with(
        &running,
        json!({"act": "dial", "host": "localhost", "port": 9}),
    )
    .await;
    assert_eq!(dialled["succeeded"], json!([]));
    assert!(
        running
            .refusals()
            .iter()
            .any(|(power, _)| power.starts_with("wasi:sockets/")),
    );

    let read = rejected_with(
        &running,
        json!({"act": "read-every-way", "path": root.join("victim.txt")}),
    )
    .await;
    assert_eq!(read["tries"]["read"]["value"], "the victim");
    for refused in ["search-matches", "copy-then-read", "hard-link-then-read"] {
        assert!(
            names(&read["refused"]).contains(&refused),
            "{refused}: {read}"
        );
    }
    assert_eq!(read["tries"]["search-files-in-parent"]["ok"], false);
    assert!(
        running
            .refusals()
            .iter()
            .any(|(power, _)| power == "search")
    );
    before.assert_unchanged();
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_validation_rejects() {
    let running = rogue_bay().await.ready().await;
    for (inside, part) in [
        (json!({"act": "panic"}), "the rogue panics"),
        (json!({"act": "exit", "code": 0}), "exit(0)"),
        (json!({"act": "recursion"}), "endless recursion?"),
    ] {
        let message = rejected_with(&running, inside).await;
        let message = message.as_str().unwrap();
        assert!(
            message.starts_with("plugin Rogue broke in validate-input: ") && message.contains(part),
            "{message}"
        );
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_and_randomness_stand_still_while_a_tool_is_asked() {
    let running = rogue_bay().await.ready().await;
    let first = rejected_with(&running, json!({"act": "now"})).await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let second = rejected_with(&running, json!({"act": "now"})).await;
    assert_eq!(first, second);
    for clock in ["now_ms", "system_time_ns", "monotonic_ns"] {
        assert_eq!(first[clock][0], first[clock][1], "{clock}");
    }

    // In a call they are true.
    let true_time = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let one = true_time(act(&running, "now", json!({})).await.text());
    let two = true_time(act(&running, "now", json!({})).await.text());
    for source in ["host_random", "random", "insecure_random", "insecure_seed"] {
        assert_ne!(one[source], two[source], "{source}");
    }
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis() as u64;
    let said = two["now_ms"][0].as_u64().unwrap();
    assert!(now.abs_diff(said) < 60_000, "{said} is not {now}");
    assert_still_serves(&running).await;
}
