//! Clients that mean no good, and web pages that are no clients.

use std::io::{Read, Write};

use serde_json::json;

use super::wire::{Reply, Server, Session, initialize};
use crate::program::Project;

fn begin() -> String {
    let params = initialize(json!({}));
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[test]
fn a_web_page_cannot_reach_it_by_another_name() {
    let project = Project::new();
    let server = Server::start(&project, &["--no-token"]);
    let port = server.port().to_owned();
    let bad_hosts = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("user@evil.example:{port}"),
        format!("evil@localhost:{port}"),
        format!("localhost:{port}, evil.example"),
        "0.0.0.0".into(),
    ];
    for host in &bad_hosts {
        let reply = server.post(&[("Host", Some(host))], &begin());
        assert!(
            (400..404).contains(&reply.status),
            "{host}: {}",
            reply.status
        );
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    assert_eq!(server.post(&[("Host", None)], &begin()).status, 400);
    let body = begin();
    let head = server.head("POST", &[], body.len());
    let own = format!("http://localhost:{port}");
    for (good, bad) in [
        // Two of them, in both orders.
        ("\r\nContent-Type", "\r\nHost: evil.example\r\nContent-Type"),
        ("\r\nHost", "\r\nHost: evil.example\r\nHost"),
        // Of pages, too, whichever comes first.
        (
            "\r\nHost",
            &format!("\r\nOrigin: {own}\r\nOrigin: http://evil.example\r\nHost"),
        ),
        (
            "\r\nHost",
            &format!("\r\nOrigin: http://evil.example\r\nOrigin: {own}\r\nHost"),
        ),
        // Another one in the address.
        ("POST /mcp", "POST http://evil.example/mcp"),
        (
            "POST /mcp",
            &format!("POST http://evil@{}/mcp", server.address),
        ),
    ] {
        let text = head.replacen(good, bad, 1) + &body;
        let reply = server.send(text.as_bytes());
        assert!(
            [400, 403].contains(&reply.status),
            "{bad}: {}",
            reply.status
        );
        assert_eq!(reply.header("mcp-session-id"), None, "{bad}");
    }
    let same = format!("POST http://{}/mcp", server.address);
    let text = head.replacen("POST /mcp", &same, 1) + &body;
    assert_eq!(server.send(text.as_bytes()).status, 200);
    let bad_origins = [
        "http://evil.example".to_owned(),
        format!("http://evil.example:{port}"),
        format!("http://localhost.evil.example:{port}"),
        "http://localhost:1".into(),
        format!("https://localhost:{port}"),
        "null".into(),
        "file://".into(),
        "".into(),
        "nonsense".into(),
    ];
    for origin in &bad_origins {
        let reply = server.post(&[("Origin", Some(origin))], &begin());
        assert_eq!(reply.status, 403, "{origin}");
    }
    let local = format!("localhost:{port}");
    let reply = server.post(&[("Host", Some(&local)), ("Origin", Some(&own))], &begin());
    assert_eq!(reply.status, 200);
    drop(server);
    let args = [
        "--no-token",
        "--allow-host",
        "tools.example",
        "--allow-origin",
        "https://x.example:443",
    ];
    let server = Server::start(&project, &args);
    let allowed = [
        ("Host", Some("tools.example")),
        ("Origin", Some("https://x.example")),
    ];
    assert_eq!(server.post(&allowed, &begin()).status, 200);
    let reply = server.post(&[("Host", Some("evil.example"))], &begin());
    assert_eq!(reply.status, 403);
}

#[test]
fn a_session_is_nobody_elses() {
    let project = Project::new();
    let (one, two) = ("a-token-of-many-characters", "b-token-of-many-characters");
    let file = project.file("tokens", format!("{one}\n{two}\n"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let server = Server::start(&project, &["--token-file", file.to_str().unwrap()]);
    let mut first = Session::begin_as(&server, Some(one), json!({}));
    let second = Session::begin_as(&server, Some(two), json!({}));
    let bearer = format!("Bearer {two}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let guesses = [
        first.id.as_str(),
        "00000000-0000-0000-0000-000000000000",
        "x",
        "../x",
    ];
    for id in guesses {
        let headers = [
            ("Mcp-Session-Id", Some(id)),
            ("Authorization", Some(bearer.as_str())),
            ("MCP-Protocol-Version", Some("2025-11-25")),
        ];
        assert_eq!(server.post(&headers, &ping).status, 404, "{id}");
        for method in ["GET", "DELETE"] {
            let text = server
                .head(method, &headers, 0)
                .replace("application/json, ", "");
            let status = server.send(text.as_bytes()).status;
            // To end what is not there is no error.
            let same = status == 404 || (method == "DELETE" && id != first.id && status == 204);
            assert!(same, "{method} {id}: {status}");
        }
    }
    assert_eq!(first.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(second.delete(), 204);
}

#[test]
fn nobody_cancels_the_calls_of_another() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let mut first = Session::begin(&server, json!({}));
    let second = Session::begin(&server, json!({}));
    let command = "echo begun; until test -e go; do sleep 0.05; done; echo done";
    let mut reply = first.begun(
        "tools/call",
        json!({"name": "Bash", "arguments": {"command": command}, "_meta": {"progressToken": "p"}}),
    );
    assert_eq!(reply.next().unwrap()["method"], "notifications/progress");
    // The first one's request has the number two; here it is nobody's.
    for id in [json!(1), json!(2), json!("2"), json!(null)] {
        second.notify("notifications/cancelled", json!({"requestId": id}));
    }
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2},
    });
    let headers = [("MCP-Protocol-Version", Some("2026-07-28"))];
    server.post(&headers, &cancelled.to_string());
    project.file("go", "");
    let answer = reply.answer();
    assert!(answer.to_string().contains("done"), "{answer}");
    // Its own client can.
    let params = json!({
        "name": "Bash", "arguments": {"command": "echo begun; sleep 307"},
        "_meta": {"progressToken": "q"},
    });
    let mut reply = first.begun("tools/call", params);
    assert_eq!(reply.next().unwrap()["method"], "notifications/progress");
    first.notify("notifications/cancelled", json!({"requestId": 3}));
    while reply.next().is_some() {}
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let session = Session::begin(&server, json!({}));
    let call = |id: serde_json::Value, command: &str| {
        session.say(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {
                "name": "Bash", "arguments": {"command": command}, "_meta": {"progressToken": "p"},
            },
        }))
    };
    let wait = "echo begun; until test -e go; do sleep 0.05; done; echo done";
    let mut first = call(json!("same"), wait);
    assert_eq!(first.next().unwrap()["method"], "notifications/progress");
    let second = call(json!("same"), "echo other");
    assert_eq!(second.status, 400);
    assert_eq!(second.answer()["error"]["code"], -32600);
    project.file("go", "");
    let answer = first.answer();
    assert!(answer.to_string().contains("done"), "{answer}");
    // Then it is free again.
    let third = call(json!("same"), "echo third").answer();
    assert!(third.to_string().contains("third"), "{third}");
}

#[test]
fn too_much_is_refused_before_it_is_understood() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
        "x".repeat(5 << 20)
    );
    assert_eq!(server.post(&[], &long).status, 413);
    // A length that nobody means.
    for length in [usize::MAX, usize::MAX - 10, 1 << 40] {
        let status = server
            .send(server.head("POST", &[], length).as_bytes())
            .status;
        assert!([400, 413, 431].contains(&status), "{length}: {status}");
    }
    // Piece by piece, without a length.
    let head = server.head(
        "POST",
        &[
            ("Content-Length", None),
            ("Transfer-Encoding", Some("chunked")),
        ],
        0,
    );
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    let piece = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..100 {
        // It has had enough at some point.
        if stream.write_all(piece.as_bytes()).is_err() {
            break;
        }
    }
    let status = Reply::read(stream).status;
    assert!([413, 0].contains(&status), "{status}");
    for depth in [65, 1000, 1 << 20] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = open.repeat(depth) + "1" + &close.repeat(depth);
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#);
            let reply = server.post(&[], &body);
            let status = reply.status;
            assert!([400, 413].contains(&status), "{depth}: {status}");
        }
    }
    for body in [
        "",
        "{",
        "[]",
        "null",
        "5",
        "[{}]",
        "\u{0}",
        "{\"jsonrpc\":\"1.0\"}",
        "{\"id\":{}}",
    ] {
        let status = server.post(&[], body).status;
        assert!((400..500).contains(&status), "{body:?}: {status}");
    }
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("x-{n}"), "y".into())).collect();
    let many: Vec<(&str, Option<&str>)> = many
        .iter()
        .map(|(n, v)| (n.as_str(), Some(v.as_str())))
        .collect();
    assert_eq!(server.post(&many, &begin()).status, 431);
    let wide = "z".repeat(1 << 20);
    let status = server.post(&[("x-wide", Some(&wide))], &begin()).status;
    assert!([431, 0].contains(&status), "{status}");
    Session::begin(&server, json!({}));
}

#[test]
fn half_requests_keep_nobody_waiting() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let mut halves = Vec::new();
    for cut in [0, 1, 20, 100] {
        let text = server.head("POST", &[], 1000);
        let mut stream = server.connect();
        stream.write_all(&text.as_bytes()[..cut]).unwrap();
        halves.push(stream);
    }
    for _ in 0..20 {
        let text = server.head("POST", &[], 1000) + "{\"jsonrpc\":";
        let mut stream = server.connect();
        stream.write_all(text.as_bytes()).unwrap();
        halves.push(stream);
    }
    // A body that breaks off.
    let text = server.head("POST", &[], 1000) + "{\"jsonrpc\":";
    let mut stream = server.connect();
    stream.write_all(text.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 4"), "{rest}");
    let mut session = Session::begin(&server, json!({}));
    assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    drop(halves);
}

#[test]
fn a_client_that_does_not_read_keeps_nobody_waiting() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let lazy = Session::begin(&server, json!({}));
    let params = json!({
        "name": "Bash", "arguments": {"command": "yes | head -c 100000000"},
        "_meta": {"progressToken": "p"},
    });
    let body =
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}).to_string();
    let mut streams = Vec::new();
    for _ in 0..3 {
        let text = server.head("POST", &lazy.headers(), body.len()) + &body;
        let mut stream = server.connect();
        stream.write_all(text.as_bytes()).unwrap();
        streams.push(stream);
    }
    let mut other = Session::begin(&server, json!({}));
    for _ in 0..3 {
        let result = other.call("Bash", json!({"command": "echo served"}));
        assert!(result.to_string().contains("served"), "{result}");
    }
    drop(streams);
    assert_eq!(server.end(), 0);
}

#[test]
fn floods_are_dammed_for_the_client_that_floods() {
    let project = Project::new();
    let (one, two) = ("a-token-of-many-characters", "b-token-of-many-characters");
    let file = project.file("tokens", format!("{one}\n{two}\n"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut args = vec!["--token-file", file.to_str().unwrap()];
    args.extend(["--requests-per-second", "100", "--request-burst", "100"]);
    let server = Server::start(&project, &args);
    let session = Session::begin_as(&server, Some(one), json!({}));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}).to_string();
    let headers: Vec<(&str, Option<&str>)> = [("Connection", Some("keep-alive"))]
        .into_iter()
        .chain(session.headers())
        .collect();
    let text = server.head("POST", &headers, note.len()) + &note;
    // Without waiting for answers, as fast as it goes.
    let mut stream = server.connect();
    let reader = stream.try_clone().unwrap();
    let reading = std::thread::spawn(move || {
        let mut all = String::new();
        let _ = std::io::BufReader::new(reader).read_to_string(&mut all);
        all
    });
    for _ in 0..5000 {
        if stream.write_all(text.as_bytes()).is_err() {
            break;
        }
    }
    // Somebody else is served meanwhile.
    let mut other = Session::begin_as(&server, Some(two), json!({}));
    assert_eq!(other.ask("ping", json!({}))["result"], json!({}));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let answers = reading.join().unwrap();
    assert!(answers.contains("HTTP/1.1 202"), "some are taken");
    assert!(answers.contains("HTTP/1.1 429"), "not all of them");
    assert!(
        answers.contains("retry-after"),
        "and it is told when to come back"
    );
}
