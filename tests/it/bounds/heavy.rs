//! Texts of few bytes and many values. What is refused is refused before it is read.

use serde_json::{Value, json};

use crate::program::Project;

/// More values than any text from elsewhere may hold, in little more than a megabyte.
fn heavy() -> String {
    let objects = vec![r#"{"":0}"#; 200_000].join(",");
    format!("[{objects}]")
}

/// A server whose one tool answers with a million objects.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    version=$(printf %s "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
    test -n "$id" || continue
    printf '{"jsonrpc":"2.0","id":%s,"result":' "$id"
    case $line in
    *'"method":"initialize"'*)
        printf '{"protocolVersion":"%s","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}' "$version"
        ;;
    *'"method":"tools/list"'*)
        printf '{"tools":[{"name":"hi","description":"d","inputSchema":{"type":"object"}}]}'
        ;;
    *)
        printf '{"content":[],"PART":{"a":['
        yes '{"":0}' | head -n 1000000 | tr '\n' ,
        printf '0]}}'
        ;;
    esac
    printf '}\n'
done
"#;

#[test]
fn a_line_with_too_many_values_is_none() {
    let project = Project::new();
    let line = format!(
        r#"{{"type":"tool_use","id":"t","name":"Glob","input":{}}}"#,
        heavy()
    );
    let input = format!("{line}\n{{\"type\":\"turn_end\"}}\n");
    let ran = project.run_with_input(&["run"], input.as_bytes()).exits(0);
    let events = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let error = events
        .into_iter()
        .find(|event: &Value| event["type"] == "error")
        .expect("an error");
    assert_eq!(error["line"], 1, "{error}");
    assert!(
        error.to_string().contains("values in one JSON text"),
        "{error}"
    );
}

#[test]
fn a_server_that_answers_with_too_many_values_fails_its_call() {
    let project = Project::new();
    for part in ["structuredContent", "_meta"] {
        let server = project.file("server.sh", SERVER.replace("PART", part));
        let config = json!({"mcpServers": {"h": {"command": "sh", "args": [server]}}});
        let ran = project.run(&[
            "call",
            "--mcp-config",
            &config.to_string(),
            "--allow",
            "mcp__h",
            "mcp__h__hi",
            "{}",
        ]);
        assert_eq!(ran.code, Some(1), "{part}: {ran:?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("values in one JSON text"), "{part}: {said}");
    }
}
