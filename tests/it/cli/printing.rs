//! How output behaves: no colours and no escapes where nobody looks, and no panic
//! when the reader goes away.

use std::io::Read;

use serde_json::json;
use toolbay_tests::guests;

use crate::program::{Project, wait};

#[test]
fn output_that_is_no_terminal_is_plain() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let guest = project.file("trivial.wasm", guests::TRIVIAL);
    let guest = guest.to_str().unwrap();
    let write = "{\"file_path\": \"b.txt\", \"content\": \"x\"}";
    for args in [
        &["tools"][..],
        &["tools", "Read"],
        &["tools", "--plugin", guest],
        &["inspect", guest],
        &["doctor"],
        &["call", "Read", "{\"file_path\": \"a.txt\"}"],
        &["call", "Read", "{\"file_path\": \"none\"}"],
        &["call", "Write", write, "--allow", "Write"],
        &["tools", "--cwd", "none"],
        &["no-such-command"],
    ] {
        let ran = project.run(args);
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains('\u{1b}'), "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn what_a_tool_says_cannot_steer_a_terminal() {
    let project = Project::new();
    let guest = project.file("trivial.wasm", guests::TRIVIAL);
    let plugin = ["--plugin", guest.to_str().unwrap()];
    let call = ["call", "Trivial", "{\"text\": \"a\\u001b[2Jb\\rc\"}"];
    let ran = project.run(&[&call, &plugin[..]].concat()).exits(0);
    assert_eq!(ran.out, "a␛[2Jb␍c\n");
    // A file's name comes from others as well, and an error repeats it.
    let call = ["call", "Read", "{\"file_path\": \"\\u001b[2J\"}"];
    let ran = project.run(&call).exits(1);
    assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
}

/// What a project or a server calls something stays inside its line, whatever is in it.
#[test]
fn no_name_or_command_makes_a_line_of_its_own() {
    let forged = "x\nforged\r\u{1b}[2Kforged\u{2028}forged";
    let entries = [
        (forged, json!({"command": "true"})),
        ("command", json!({"command": forged, "args": [forged]})),
        (
            "address",
            json!({"type": "http", "url": format!("http://127.0.0.1:1/{forged}")}),
        ),
        (
            "header",
            json!({"type": "http", "url": "http://127.0.0.1:1/", "headers": {forged: forged}}),
        ),
        ("unknown", json!({"command": "true", forged: forged})),
        ("kind", json!({"type": forged, "command": "true"})),
    ];
    let listings = [
        &["mcp", "list"][..],
        &["mcp", "get", forged],
        &["mcp", "get", "command"],
        &["mcp", "get", "address"],
        &["mcp", "approve", forged, "--yes"],
        &["mcp", "approve", "command", "--yes"],
        &["mcp", "approve", "address", "--yes"],
        &["mcp", "remove", forged],
        &["mcp", "logout", forged],
        &["mcp", "list"],
        &["tools"],
        &["tools", forged],
        &["trust", "--yes"],
        &["audit", "show"],
        &["policy", "lint"],
    ];
    // Each alone: one that cannot be read at all would hide the others.
    for (name, entry) in entries {
        let project = Project::new();
        let servers = json!({"mcpServers": {name: entry}});
        project.file(".mcp.json", servers.to_string());
        let settings = "{\"permissions\": {\"allow\": [\"Read\"]}} /*\nforged\r\u{1b}[2K */\n";
        project.file(".toolbay/settings.json", settings);
        // What it was about is in the log.
        project.run(&["call", "Read", "{\"file_path\": \"x\\nforged\"}"]);
        for args in listings {
            let ran = project.run(args);
            for text in [&ran.out, &ran.err] {
                let line = text.lines().find(|line| line.starts_with("forged"));
                assert_eq!(line, None, "{name:?} {args:?}: {ran:?}");
                let acts = text.chars().find(|c| c.is_control() && *c != '\n');
                assert_eq!(acts, None, "{name:?} {args:?}: {ran:?}");
                assert!(!text.contains('\u{2028}'), "{name:?} {args:?}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let project = Project::new();
    project.file("a.txt", "a line that fills a pipe\n".repeat(20_000));
    let grep = "{\"pattern\": \"line\", \"output_mode\": \"content\", \"head_limit\": 10000}";
    for args in [
        &["call", "Grep", grep][..],
        &["call", "Grep", grep, "--json"],
        &["tools", "Read"],
        &["completions", "bash"],
    ] {
        let mut child = project.spawn(args);
        drop(child.stdin.take());
        let mut out = child.stdout.take().unwrap();
        let mut first = [0];
        out.read_exact(&mut first).unwrap();
        drop(out);
        wait(&mut child, args);
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(said, "", "{args:?}");
    }
}
