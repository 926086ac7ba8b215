//! Servers over HTTP that answer a call with a stream of something else, without an end: the call ends
//! at its limit of silence all the same, and so does the connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbay_contract::Failure;

use super::fake::*;
use super::network::{Reply, Serve, first, http, json_reply, listen, status};

const SILENCE: Duration = Duration::from_secs(2);
/// What a call may take beyond it, on a busy machine.
const GRACE: Duration = Duration::from_secs(4);

/// A server that answers calls with this event, over and over, and what is sent to it after that only
/// if it answers at all.
fn flooding(event: impl Fn(&Value) -> Value + Send + Sync + 'static, answers: bool) -> Serve {
    let honest = honest(json!([tool("x")]), |_| vec![]);
    Arc::new(move |request| {
        let message = &request.body;
        if request.method != "POST" {
            return status(405);
        }
        if message["method"] == "tools/call" {
            return Reply::Endless(format!("data: {}\n\n", event(message)).repeat(100));
        }
        let is_answer = message["method"].is_null();
        let is_cancelled = message["method"] == "notifications/cancelled";
        match first(&honest, message) {
            Some(value) => json_reply(&value),
            None if answers || !(is_answer || is_cancelled) => status(202),
            // The headers come and nothing after them.
            None => Reply::Endless(String::new()),
        }
    })
}

#[tokio::test]
async fn a_call_ends_at_its_limit_whatever_else_the_server_sends() {
    let ping = |_: &Value| json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let roots = |_: &Value| json!({"jsonrpc": "2.0", "id": "a", "method": "roots/list"});
    let message = |_: &Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "info", "data": "x"}})
    };
    let strange = |_: &Value| json!({"jsonrpc": "2.0", "id": 99_999, "result": {}});
    for answers in [true, false] {
        for (what, serve) in [
            ("pings", flooding(ping, answers)),
            ("questions about roots", flooding(roots, answers)),
            ("notifications", flooding(message, answers)),
            ("answers to others", flooding(strange, answers)),
        ] {
            let mut config = http(listen(serve).await);
            config.timeout = SILENCE;
            let servers = servers(vec![config]);
            servers.connect_all().await;
            let tool = find(&servers, "mcp__fake__x");
            let begun = Instant::now();
            let ended =
                tokio::time::timeout(Duration::from_secs(60), call(&*tool, json!({}))).await;
            let took = begun.elapsed();
            let Ok(Err(Failure::Tool { message, .. })) = ended else {
                panic!("{what}, {answers}: {ended:?} after {took:?}");
            };
            let ends = ["no sign of life", "far more", "ended during the call"];
            assert!(
                ends.iter().any(|end| message.contains(end)),
                "{what}, {answers}: {message}"
            );
            assert!(took < SILENCE + GRACE, "{what}, {answers}: {took:?}");
        }
    }
}

#[tokio::test]
async fn a_flood_of_requests_ends_the_connection_and_the_program_can_leave() {
    let ping = |_: &Value| json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let mut config = http(listen(flooding(ping, true)).await);
    config.timeout = Duration::from_secs(60);
    let servers = servers(vec![config]);
    servers.connect_all().await;
    let tool = find(&servers, "mcp__fake__x");
    let ended = tokio::time::timeout(Duration::from_secs(50), call(&*tool, json!({}))).await;
    let Ok(Err(Failure::Tool { message, .. })) = ended else {
        panic!("{ended:?}");
    };
    assert!(
        message.contains("far more notifications and requests"),
        "{message}"
    );
}
