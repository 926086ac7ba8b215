//! Clients of our own server whose messages are made to end the host that reads them.

use super::Place;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
/// A message of four MiB on its way through the readers, and what the program has without one.
const MOST_MEMORY: u64 = 256 << 20;

#[test]
fn a_message_that_is_too_large_is_passed_over_and_the_client_told() {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"Glob","arguments":{arguments}}}}}"#
        )
    };
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n";
    for (what, line, says) in [
        (
            "a line without an end",
            "x".repeat(256 << 20),
            "4194304 bytes",
        ),
        (
            "a large input",
            call(&format!(r#"{{"pattern":"{}"}}"#, "x".repeat(64 << 20))),
            "4194304 bytes",
        ),
        (
            "many values",
            call(&format!("[{}0]", "0,".repeat(2_000_000))),
            "values in one JSON text",
        ),
        (
            "many objects",
            call(&format!("[{}{{}}]", "{},".repeat(1_000_000))),
            "values in one JSON text",
        ),
        (
            "deep",
            call(&format!(
                "{}{}",
                "[".repeat(1_000_000),
                "]".repeat(1_000_000)
            )),
            "inside each other",
        ),
    ] {
        let place = Place::new();
        let ran = place.run(&["mcp", "serve"], &format!("{HELLO}{line}\n{ping}"));
        println!(
            "{:>6.2} s {:>4} MiB  {what}",
            ran.took.as_secs_f32(),
            ran.peak >> 20
        );
        assert_eq!(ran.status.code(), Some(0), "{what}: {}", ran.err);
        assert!(ran.peak < MOST_MEMORY, "{what}: {} bytes", ran.peak);
        let told = ran.out.lines().find(|line| line.contains("-32600"));
        assert!(
            told.is_some_and(|told| told.contains(says)),
            "{what}: {}",
            ran.out
        );
        // What comes after it is heard.
        assert!(ran.out.contains(r#""id":3"#), "{what}: {}", ran.out);
        assert!(!ran.out.contains(r#""id":2"#), "{what}: {}", ran.out);
    }
}

#[test]
fn a_message_within_the_bounds_is_answered() {
    let place = Place::new();
    let content = "x".repeat(3 << 20);
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "Glob", "arguments": {"pattern": "*", "path": content}},
    });
    let ran = place.run(&["mcp", "serve"], &format!("{HELLO}{call}\n"));
    assert_eq!(ran.status.code(), Some(0), "{}", ran.err);
    assert!(ran.out.contains(r#""id":2"#), "{:.500}", ran.out);
}
