//! Ends and answers that break the contract.

use serde_json::json;

use super::{Disk, act, assert_broke, assert_still_serves, rogue_bay};

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_breaks_the_call_and_says_how() {
    let running = rogue_bay().await.file("a.txt", "a").ready().await;
    let before = Disk::of(&[running.root()]);
    for (name, more, reason) in [
        (
            "panic",
            json!({}),
            "it panicked or aborted; its last words: ",
        ),
        ("abort", json!({}), "it panicked or aborted"),
        ("trap", json!({}), "it panicked or aborted"),
        ("exit", json!({"code": 0}), "it called exit(0)"),
        ("exit", json!({"code": 3}), "it called exit("),
        ("bad-utf8", json!({}), "utf-8"),
        ("bad-json", json!({}), "its structured result is not JSON"),
        ("deep-json", json!({}), "its structured result is not JSON"),
        (
            "deep-json",
            json!({"depth": 1_000_000}),
            "its structured result is not JSON",
        ),
    ] {
        let result = act(&running, name, more).await;
        println!("{name}: {}", result.text());
        assert_broke(&running, &result, reason);
        let text = result.text();
        assert!(
            !text.contains('\u{1b}'),
            "{name} drives the terminal: {text:?}"
        );
        assert_still_serves(&running).await;
    }
    before.assert_unchanged();
}

#[tokio::test(flavor = "multi_thread")]
async fn last_words_name_the_panic() {
    let running = rogue_bay().await.ready().await;
    let result = act(&running, "panic", json!({})).await;
    assert_broke(&running, &result, "the rogue panics: 100%");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_a_parser_can_read_is_passed_on() {
    let running = rogue_bay().await.ready().await;
    let result = act(&running, "deep-json", json!({"depth": 100})).await;
    assert!(!result.is_error, "{}", result.text());
    assert_eq!(result.structured.unwrap().len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_the_tool_cannot_read_is_an_error_of_the_input() {
    let running = rogue_bay().await.ready().await;
    for input in [json!({"act": "no-such-act"}), json!({"act": {}})] {
        let result = running.call("Rogue", input).await;
        assert!(result.is_error);
        let class = result.failure.as_ref().unwrap().class();
        assert_eq!(class, "invalid-input", "{}", result.text());
        assert_still_serves(&running).await;
    }
}
