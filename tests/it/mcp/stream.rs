//! What a stream must bear: halves, floods, depths, and guests that would write to it.

use std::io::Write;

use serde_json::json;

use super::Client;
use crate::program::Project;

#[test]
fn a_guest_never_writes_to_the_stream() {
    let project = Project::new();
    let rogue = project.file("rogue.wasm", toolbay_tests::guests::ROGUE);
    let args = ["--plugin", rogue.to_str().unwrap()];
    let mut client = Client::start(&project, &args, json!({}));
    // The client fails on a line that is no message; a forged one would answer twice.
    let result = client.call("Rogue", json!({"act": "stdout-forger"}));
    assert!(result["content"].is_array(), "{result}");
    let result = client.call("Rogue", json!({"act": "ok", "text": "after"}));
    assert_eq!(result["isError"], false, "{result}");
    client.close();
}

#[test]
fn deep_and_long_and_half_lines_end_nothing_but_themselves() {
    let project = Project::new();
    let mut client = Client::start(&project, &[], json!({}));
    let deep = "[".repeat(1 << 20);
    let long = "x".repeat(20 << 20);
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":90,"method":"ping","params":{deep}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":91,"method":"ping","params":{{"a":{}1{}}}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        ),
        format!(r#"{{"jsonrpc":"2.0","id":92,"method":"{long}"}}"#),
        r#"{"jsonrpc":"2.0","id":93,"#.to_owned(),
        "\u{0}\u{1}".to_owned(),
    ];
    for line in &lines {
        let input = client.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }
    let id = client.begin("ping", json!({}));
    while client.hear()["id"] != id {}
    // The last words are half a line.
    let input = client.input.as_mut().unwrap();
    input
        .write_all(br#"{"jsonrpc":"2.0","id":94,"method":"tools/li"#)
        .unwrap();
    client.close();
}

#[test]
fn a_flood_of_notifications_drowns_no_request() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let mut client = Client::start(&project, &[], json!({}));
    for number in 0..20_000 {
        let method = [
            "notifications/cancelled",
            "notifications/progress",
            "notifications/x",
        ];
        let params = json!({"requestId": number, "progressToken": number, "progress": 1});
        client.say(json!({"jsonrpc": "2.0", "method": method[number % 3], "params": params}));
    }
    let result = client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(result["isError"], false, "{result}");
    client.close();
}

#[test]
fn a_client_without_sessions_is_served_on_a_stream() {
    let project = Project::new();
    let mut client = Client::raw(&project, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let input = json!({"file_path": "a.txt", "content": "x"});
    let first = client.ask(
        "tools/call",
        json!({"name": "Write", "arguments": input, "_meta": meta}),
    );
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let yes = json!({"permission": {"action": "accept", "content": {"answer": "allow once"}}});
    let second = client.ask(
        "tools/call",
        json!({
            "name": "Write", "arguments": input, "_meta": meta, "inputResponses": yes,
            "requestState": first["result"]["requestState"],
        }),
    );
    assert_eq!(second["result"]["isError"], false, "{second}");
    assert!(project.root().join("a.txt").exists());
    client.close();
}

#[test]
fn an_id_that_is_used_twice_confuses_nobody() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    project.file("b.txt", "two\n");
    let mut client = Client::start(&project, &[], json!({}));
    for name in ["a.txt", "b.txt"] {
        let params = json!({"name": "Read", "arguments": {"file_path": name}});
        let message =
            json!({"jsonrpc": "2.0", "id": 7000, "method": "tools/call", "params": params});
        let input = client.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }
    // One of the two may go without an answer, which is the client's own doing. What comes is an
    // answer to one of them.
    let mut answers = 0;
    while answers == 0 {
        let answer = client.hear();
        if answer["id"] == 7000 {
            answers += 1;
            let text = answer["result"]["content"][0]["text"].to_string();
            assert!(text.contains("one") || text.contains("two"), "{answer}");
        }
    }
    let result = client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(result["isError"], false, "{result}");
    client.close();
}
