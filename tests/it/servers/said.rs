//! What a server says of itself and answers, in everything that is printed for a user: it moves no
//! cursor, and none of its lines passes for one of ours.

use serde_json::{Value, json};

use crate::program::{Project, Ran};

/// Moves, rings, turns the direction of the text, and begins a line of its own.
const HOSTILE: &str = "a\u{1b}]0;x\u{7}\nFAKE LINE\u{202e}\r\u{9b}31m\u{2028}b";

/// Answers each method with what a file says; what it has no answer for is not answered.
const SERVER: &str = r#"
import json, sys
answers = json.load(open("answers.json"))
sys.stderr.write(answers["stderr"])
sys.stderr.flush()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = answers["methods"].get(asked["method"], {"error": {"code": -32601, "message": "no"}})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"#;

fn begun(version: &str) -> Value {
    json!({"result": {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": HOSTILE, "title": HOSTILE, "version": HOSTILE},
        "instructions": HOSTILE,
    }})
}

fn failed() -> Value {
    json!({"error": {"code": -32000, "message": HOSTILE, "data": HOSTILE}})
}

fn listed(name: &str) -> Value {
    let schema = json!({"type": "object", "description": HOSTILE, "properties": {HOSTILE: {}}});
    let tool = json!({"name": name, "title": HOSTILE, "description": HOSTILE, "inputSchema": schema,
        "annotations": {"title": HOSTILE}});
    json!({"result": {"tools": [tool]}})
}

#[track_caller]
fn assert_harmless(ran: &Ran, what: &str) {
    assert!(ran.code.is_some(), "{what}: {ran:?}");
    for text in [&ran.out, &ran.err] {
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
        let is_bad = |c: char| acts(c) || ('\u{2028}'..='\u{202e}').contains(&c);
        assert!(!text.contains(is_bad), "{what}: {text:?}");
    }
}

#[track_caller]
fn assert_no_line(ran: &Ran, what: &str) {
    for text in [&ran.out, &ran.err] {
        let forged = text.lines().any(|line| line.starts_with("FAKE LINE"));
        assert!(!forged, "{what}: {text}");
    }
}

#[test]
fn what_a_server_says_stays_on_its_line_and_steers_nothing() {
    let good = begun("2025-11-25");
    let text = json!({"result": {"content": [{"type": "text", "text": HOSTILE}]}});
    let odd = json!({"result": {"content": [
        {"type": HOSTILE},
        {"type": "resource_link", "uri": HOSTILE, "name": HOSTILE},
    ]}});
    let cases = [
        ("its name", good.clone(), listed("act"), text.clone()),
        ("a tool's name", good.clone(), listed(HOSTILE), text.clone()),
        ("a version", begun(HOSTILE), listed("act"), text.clone()),
        ("a refusal", failed(), failed(), failed()),
        ("a missing list", good.clone(), failed(), failed()),
        ("an error", good.clone(), listed("act"), failed()),
        ("content", good, listed("act"), odd),
    ];
    let given = json!({"mcpServers": {"said": {"command": "python3", "args": ["server.py"]}}});
    let given = given.to_string();
    for (what, begun, listed, called) in cases {
        let project = Project::new();
        project.file("server.py", SERVER);
        let methods = json!({"initialize": begun, "tools/list": listed, "tools/call": called});
        let answers = json!({"stderr": HOSTILE, "methods": methods});
        project.file("answers.json", answers.to_string());
        let run = |args: &[&str]| {
            let ran = project.run(&[&["--mcp-config", &given][..], args].concat());
            assert_harmless(&ran, &format!("{what}: {args:?}"));
            ran
        };
        for args in [
            &["mcp", "list"][..],
            &["mcp", "get", "said"],
            &["tools"],
            &["tools", "mcp__said__act"],
            &["policy", "lint"],
            &["doctor"],
            &["--allow", "mcp__said", "call", "mcp__said__none"],
        ] {
            assert_no_line(&run(args), &format!("{what}: {args:?}"));
        }
        // A result is the caller's to read, with its lines.
        run(&["--allow", "mcp__said", "call", "mcp__said__act"]);
        assert_no_line(&run(&["audit", "show"]), what);
        if what == "an error" || what == "its name" {
            run(&["mcp", "get", "said"]).exits(0).prints(&["act"]);
        }
    }
}
