//! Servers that lie, flood, die or never answer: each harms its own calls and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolbay_contract::Failure;

use super::fake::*;
use crate::client::bounds;
use crate::client::{InMemory, State};

/// Whatever a server does, a call of its tool ends with an error that says what it did, and the
/// next server is not disturbed.
async fn harms_only_itself(
    attack: impl Fn(&Value) -> Vec<Say> + Send + Sync + 'static,
    part: &str,
) {
    let mut bad = in_process(honest(json!([tool("x")]), attack));
    bad.timeout = Duration::from_secs(2);
    let mut good = in_process(honest(json!([tool("x")]), |message| {
        vec![text(message, "fine")]
    }));
    good.name = "good".into();
    let servers = servers(vec![bad, good]);
    servers.connect_all().await;
    let (bad, good) = (
        find(&servers, "mcp__fake__x"),
        find(&servers, "mcp__good__x"),
    );
    let (ended, fine) = tokio::join!(call(&*bad, json!({})), call(&*good, json!({})));
    assert_eq!(fine.unwrap().text(), "fine");
    let Err(Failure::Tool { message, .. }) = ended else {
        panic!("{part}: {ended:?}");
    };
    assert!(
        message.contains("`fake`") && message.contains(part),
        "{message}"
    );
    assert_eq!(call(&*good, json!({})).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn attacks_during_a_call_end_that_call_with_a_reason() {
    harms_only_itself(|_| vec![], "no sign of life").await;
    harms_only_itself(|_| vec![Say::End], "ended during the call").await;
    harms_only_itself(
        |_| {
            vec![
                Say::Bytes(b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec()),
                Say::End,
            ]
        },
        "in the middle of a message",
    )
    .await;
    harms_only_itself(
        |_| vec![Say::Bytes(b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec())],
        "no sign of life",
    )
    .await;
    harms_only_itself(
        |_| vec![Say::Bytes(b"{garbage}\n".to_vec())],
        "what is no message",
    )
    .await;
    harms_only_itself(
        |_| {
            vec![Say::Bytes(
                "log\n".repeat(bounds::STRAY_LINES + 1).into_bytes(),
            )]
        },
        "not MCP",
    )
    .await;
    let deep = |message: &Value| {
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let id = &message["id"];
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":{nested}}}}}\n");
        vec![Say::Bytes(line.into_bytes())]
    };
    harms_only_itself(deep, "recursion limit").await;
    let huge = |_: &Value| {
        let part = Say::Bytes(vec![b'x'; 1 << 20]);
        let begin = Say::Bytes(b"{\"jsonrpc\":\"".to_vec());
        let parts = std::iter::repeat_n(part, (bounds::MESSAGE >> 20) + 1);
        std::iter::once(begin).chain(parts).collect()
    };
    harms_only_itself(huge, "a message of more than").await;
    let error = |message: &Value| {
        vec![Say::Line(json!({"jsonrpc": "2.0", "id": message["id"],
            "error": {"code": -32000, "message": "no\u{1b}[31m such"}}))]
    };
    harms_only_itself(error, "says: no[31m such (error -32000)").await;
    harms_only_itself(
        |message| vec![result(message, json!(["not a result"]))],
        "something else than a result",
    )
    .await;
}

#[tokio::test]
async fn a_flood_of_notifications_ends_the_connection() {
    let flood = |message: &Value| {
        let token = &message["params"]["_meta"]["progressToken"];
        let one = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1}});
        let many = format!("{one}\n").repeat(1_000).into_bytes();
        let parts = (bounds::FLOOD + bounds::BURST) as usize / 1_000 + 2;
        vec![Say::Bytes(many); parts]
    };
    harms_only_itself(flood, "far more notifications and requests").await;
}

#[tokio::test]
async fn answers_that_nobody_asked_for_and_second_answers_do_nothing() {
    let answer = honest(json!([tool("x")]), |message| {
        let other = message["id"].as_u64().unwrap() + 1;
        vec![
            // For a request that is yet to come, for one that never was, and twice for this one.
            Say::Line(json!({"jsonrpc": "2.0", "id": other, "result": {
                "content": [{"type": "text", "text": "forged"}]}})),
            Say::Line(json!({"jsonrpc": "2.0", "id": "nobody", "result": {}})),
            text(message, "true"),
            text(message, "twice"),
            // A request with the id of ours is still a request.
            Say::Line(json!({"jsonrpc": "2.0", "id": message["id"], "method": "ping"})),
        ]
    });
    let servers = servers(vec![in_process(answer)]);
    servers.connect_all().await;
    let tool = find(&servers, "mcp__fake__x");
    for _ in 0..5 {
        assert_eq!(call(&*tool, json!({})).await.unwrap().text(), "true");
    }
}

#[tokio::test]
async fn strange_lists_are_bounded_and_bad_tools_left_out() {
    let list = |tools: Value| in_process(honest(tools, |message| vec![text(message, "ok")]));
    let many: Vec<Value> = (0..10_000).map(|n| tool(&format!("t{n}"))).collect();
    let mut bomb = tool("bomb");
    bomb["inputSchema"]["$defs"] = (0..5_000).map(|n| (n.to_string(), json!({}))).collect();
    let mut outside = tool("outside");
    outside["inputSchema"]["$ref"] = "https://evil.example/schema".into();
    let mut long = tool("long");
    long["description"] = "y".repeat(1 << 20).into();
    let odd = json!([
        tool("good"), bomb, outside, long, tool("good"), {"name": "no schema"}, {"name": 5}, 7,
        tool(""), tool(&"z".repeat(10_000)), tool("../../etc\0\u{202e}"),
    ]);
    for (tools, count, parts) in [
        (json!(many), bounds::TOOLS, vec!["more than 512 tools"]),
        (
            odd,
            4,
            vec!["`bomb`", "`outside`", "two tools called `good`", "no name"],
        ),
    ] {
        let servers = servers(vec![list(tools)]);
        servers.connect_all().await;
        let status = &servers.statuses()[0];
        assert_eq!(servers.tools().len(), count, "{status:?}");
        for part in parts {
            let told = status.problems.iter().any(|problem| problem.contains(part));
            assert!(told, "{part}: {:?}", status.problems);
        }
        for tool in servers.tools() {
            assert!(tool.info().check().is_ok());
            assert!(tool.info().size() < 100_000);
            // So many are found by search.
            assert_eq!(tool.info().deferred, count > bounds::LISTED_TOOLS);
        }
    }
}

#[tokio::test]
async fn a_list_without_an_end_ends() {
    let pages = Arc::new(AtomicUsize::new(0));
    let counted = pages.clone();
    let honest = honest(json!([]), |_| vec![]);
    let answer: Answer = Arc::new(move |message| {
        if message["method"] != "tools/list" {
            return honest(message);
        }
        let page = counted.fetch_add(1, Ordering::Relaxed);
        let tools = json!([tool(&format!("t{page}"))]);
        vec![result(
            message,
            json!({"tools": tools, "nextCursor": page.to_string()}),
        )]
    });
    let servers = servers(vec![in_process(answer)]);
    servers.connect_all().await;
    assert_eq!(pages.load(Ordering::Relaxed), bounds::PAGES);
    assert_eq!(servers.tools().len(), bounds::PAGES);
    assert!(servers.statuses()[0].problems[0].contains("no end"));
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why_and_is_not_tried_all_the_time() {
    let deaths: [(&str, Answer); 3] = [
        (
            "ended with the code 3; its last words: no module",
            Arc::new(|_| vec![Say::End]),
        ),
        (
            "what is no message",
            Arc::new(|_| vec![Say::Bytes(b"{oops\n".to_vec())]),
        ),
        (
            "its tools cannot be listed",
            Arc::new(|message| match message["method"].as_str() {
                Some("tools/list") => {
                    vec![Say::Line(json!({"jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": -32603, "message": "broken"}}))]
                }
                _ => honest(json!([]), |_| vec![])(message),
            }),
        ),
    ];
    for (part, answer) in deaths {
        let launcher = Arc::new(FakeLauncher {
            answer,
            started: Default::default(),
            last_words: "no module\nnamed x",
        });
        let memory = Arc::new(InMemory::default());
        let servers = servers_with(vec![process()], launcher.clone(), memory);
        servers.connect_all().await;
        let State::Failed { reason } = &servers.statuses()[0].state else {
            panic!("{:?}", servers.statuses());
        };
        assert!(reason.contains(part), "{reason}");
        let started = launcher.started.lock().unwrap().len();
        let again = servers.connect("fake").await.unwrap_err();
        assert!(again.contains("the next attempt is"), "{again}");
        assert_eq!(launcher.started.lock().unwrap().len(), started);
    }
}

#[tokio::test]
async fn a_server_that_died_is_started_again_for_the_next_call() {
    let answer =
        honest(
            json!([tool("die"), tool("live")]),
            |message| match message["params"]["name"].as_str() {
                Some("die") => vec![Say::End],
                _ => vec![text(message, "alive")],
            },
        );
    let launcher = FakeLauncher::new(answer);
    let memory = Arc::new(InMemory::default());
    let servers = servers_with(vec![process()], launcher.clone(), memory);
    servers.connect_all().await;
    let (die, live) = (
        find(&servers, "mcp__fake__die"),
        find(&servers, "mcp__fake__live"),
    );
    assert!(call(&*die, json!({})).await.is_err());
    assert_eq!(servers.statuses()[0].state.word(), "failed");
    assert_eq!(call(&*live, json!({})).await.unwrap().text(), "alive");
    assert_eq!(launcher.started.lock().unwrap().len(), 2);
    assert_eq!(servers.statuses()[0].state.word(), "connected");
}

#[tokio::test]
async fn a_disabled_server_is_never_connected() {
    let launcher = FakeLauncher::new(honest(json!([tool("x")]), |_| vec![]));
    let mut config = process();
    config.disabled = true;
    let memory = Arc::new(InMemory::default());
    let servers = servers_with(vec![config], launcher.clone(), memory);
    servers.connect_all().await;
    assert!(
        servers
            .connect("fake")
            .await
            .unwrap_err()
            .contains("disabled")
    );
    assert_eq!(servers.statuses()[0].state.word(), "disabled");
    assert!(launcher.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_server_that_answers_what_it_does_not_understand_is_asked_in_the_old_way() {
    let honest = honest(json!([tool("x")]), |message| vec![text(message, "fine")]);
    let servers = servers(vec![in_process(Arc::new(move |message: &Value| {
        let method = message["method"].as_str().unwrap_or_default();
        let is_known = ["initialize", "tools/list", "tools/call"].contains(&method);
        match is_known || message["id"].is_null() {
            true => honest(message),
            false => vec![result(message, json!({}))],
        }
    }))]);
    servers.connect_all().await;
    let state = servers.statuses().remove(0).state;
    assert!(
        matches!(state, State::Connected { tools: 1, .. }),
        "{state:?}"
    );
    let tool = find(&servers, "mcp__fake__x");
    assert_eq!(call(&*tool, json!({})).await.unwrap().text(), "fine");
}
