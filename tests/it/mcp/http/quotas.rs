//! One client that takes all it can get takes nothing from another.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::wire::{Line, Server, Session, initialize};
use crate::program::Project;

const ONE: &str = "a-token-of-many-characters";
const TWO: &str = "b-token-of-many-characters";

/// A server with two clients.
fn serve(project: &Project, more: &[&str]) -> Server {
    let file = project.file("tokens", format!("{ONE}\n{TWO}\n"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let mut args = vec!["--token-file", file.to_str().unwrap()];
    args.extend(more);
    Server::start(project, &args)
}

/// A request of this client on a connection that is kept.
fn post(server: &Server, token: &str, session: Option<&str>, body: &str) -> String {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Connection", Some("keep-alive")),
        ("MCP-Protocol-Version", Some("2025-11-25")),
        ("Authorization", Some(bearer.as_str())),
        ("Mcp-Session-Id", session),
    ];
    server.head("POST", &headers, body.len()) + body
}

fn begin() -> String {
    let params = initialize(json!({}));
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

fn ping(id: usize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()
}

#[test]
fn a_client_with_many_sessions_loses_its_own_idle_ones_and_locks_nobody_out() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let mut works = Session::begin_as(&server, Some(ONE), json!({}));
    let mut line = Line::open(&server);
    let mut opened = Vec::new();
    for _ in 0..140 {
        let (status, head) = line.ask(&post(&server, ONE, None, &begin())).unwrap();
        assert_eq!(status, 200, "{head}");
        let (_, id) = head.split_once("mcp-session-id: ").unwrap();
        opened.push(id.lines().next().unwrap().to_owned());
        // In this one something is done, so that those that nobody used go first.
        if opened.len() % 20 == 0 {
            assert_eq!(works.ask("ping", json!({}))["result"], json!({}));
        }
    }
    let ask = |line: &mut Line, id: &str| line.ask(&post(&server, ONE, Some(id), &ping(9)));
    assert_eq!(ask(&mut line, &opened[0]).unwrap().0, 404, "it gave way");
    assert_eq!(ask(&mut line, &opened[139]).unwrap().0, 200);
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    assert_eq!(other.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_client_whose_sessions_are_all_busy_is_told_so() {
    let project = Project::new();
    let server = serve(&project, &["--max-sessions", "3"]);
    let mut streams = Vec::new();
    let sessions: Vec<_> = (0..3)
        .map(|_| Session::begin_as(&server, Some(ONE), json!({})))
        .collect();
    for session in &sessions {
        let mut headers = session.headers();
        headers.push(("Accept", Some("text/event-stream")));
        let mut stream = server.connect();
        let text = server.head("GET", &headers, 0);
        stream.write_all(text.as_bytes()).unwrap();
        streams.push(super::Reply::read(stream));
    }
    assert!(streams.iter().all(|reply| reply.status == 200));
    let mut line = Line::open(&server);
    let (status, head) = line.ask(&post(&server, ONE, None, &begin())).unwrap();
    assert_eq!(status, 429, "{head}");
    assert!(head.contains("\r\nretry-after: 10\r\n"), "{head}");
    Session::begin_as(&server, Some(TWO), json!({}));
    // One that is ended makes room, and the connection is there still.
    assert_eq!(sessions[0].delete(), 204);
    let (status, head) = line.ask(&post(&server, ONE, None, &begin())).unwrap();
    assert_eq!(status, 200, "{head}");
}

#[test]
fn who_shows_a_token_gets_in_while_others_connect_and_say_nothing() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let address = server.address.clone();
    let over = Arc::new(AtomicBool::new(false));
    let floods: Vec<_> = (0..4)
        .map(|_| {
            let (address, ended) = (address.clone(), over.clone());
            std::thread::spawn(move || {
                let mut silent = VecDeque::new();
                while !ended.load(Ordering::Relaxed) {
                    silent.extend(TcpStream::connect(&address));
                    if silent.len() > 100 {
                        silent.pop_front();
                    }
                }
            })
        })
        .collect();
    let text = post(&server, TWO, None, &begin());
    let mut answered = 0;
    for _ in 0..40 {
        // A connection may be lost to the flood, but who is told something is told what is so.
        match Line::open(&server).ask(&text) {
            Some((200, _)) => answered += 1,
            Some((status, head)) => panic!("{status} {head}"),
            None => {}
        }
    }
    over.store(true, Ordering::Relaxed);
    for flood in floods {
        flood.join().unwrap();
    }
    assert!(answered >= 30, "{answered} of 40");
}

#[test]
fn half_sent_headers_give_way_to_those_who_speak() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let mut known = Line::open(&server);
    let (status, _) = known.ask(&post(&server, TWO, None, &begin())).unwrap();
    assert_eq!(status, 200);
    let text = server.head("POST", &[], 1000);
    let halves: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(&text.as_bytes()[..20]).unwrap();
            stream
        })
        .collect();
    for token in [ONE, TWO] {
        let mut session = Session::begin_as(&server, Some(token), json!({}));
        assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    }
    // Whoever showed a token does not give way to strangers.
    let (status, _) = known.ask(&post(&server, TWO, None, &begin())).unwrap();
    assert_eq!(status, 200);
    drop(halves);
}

#[test]
fn a_client_with_many_connections_ends_its_own() {
    let project = Project::new();
    let server = serve(&project, &["--max-connections", "4"]);
    let mut other = Line::open(&server);
    assert!(other.ask(&post(&server, TWO, None, &begin())).is_some());
    let mut lines = Vec::new();
    for _ in 0..12 {
        let mut line = Line::open(&server);
        let (status, head) = line.ask(&post(&server, ONE, None, &begin())).unwrap();
        assert_eq!(status, 200, "{head}");
        lines.push(line);
    }
    assert_eq!(lines[0].read(), None, "the oldest has ended");
    assert!(lines[11].ask(&post(&server, ONE, None, &begin())).is_some());
    assert!(other.ask(&post(&server, TWO, None, &begin())).is_some());
}

#[test]
fn too_many_requests_are_told_when_to_come_and_keep_their_connection() {
    let project = Project::new();
    let args = ["--requests-per-second", "1", "--request-burst", "12"];
    let server = serve(&project, &args);
    let session = Session::begin_as(&server, Some(ONE), json!({}));
    let mut line = Line::open(&server);
    // Large enough that it does not come in one piece.
    let pad = " ".repeat(300_000);
    let mut refused = 0;
    for id in 0..30 {
        let body = ping(id) + &pad;
        let asked = line.ask(&post(&server, ONE, Some(&session.id), &body));
        let (status, head) = asked.expect("the connection is kept");
        if status == 429 {
            assert!(head.contains("\r\nretry-after: 1\r\n"), "{head}");
            refused += 1;
        } else {
            assert_eq!(status, 200, "{head}");
        }
    }
    assert!((1..30).contains(&refused), "{refused}");
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    assert_eq!(other.ask("ping", json!({}))["result"], json!({}));
    // Who comes when it was told to is served, on the same connection.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let (status, _) = line
        .ask(&post(&server, ONE, Some(&session.id), &ping(99)))
        .unwrap();
    assert_eq!(status, 200);
}

#[test]
fn sixteen_agents_work_behind_one_token() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}).to_string();
    let agents: Vec<_> = (0..16)
        .map(|_| {
            let session = Session::begin_as(&server, Some(ONE), json!({}));
            let text = post(&server, ONE, Some(&session.id), &note);
            (Line::open(&server), text)
        })
        .collect();
    std::thread::scope(|scope| {
        for (mut line, text) in agents {
            scope.spawn(move || {
                for _ in 0..60 {
                    let (status, head) = line.ask(&text).unwrap();
                    assert_eq!(status, 202, "{head}");
                }
            });
        }
    });
}

#[test]
fn quotas_come_from_flags_and_settings_and_are_checked() {
    let project = Project::new();
    let settings = project.user_settings();
    let spent = |server: &Server| {
        let session = Session::begin_as(server, Some(ONE), json!({}));
        let mut line = Line::open(server);
        let text = post(server, ONE, Some(&session.id), &ping(5));
        (0..20).any(|_| line.ask(&text).unwrap().0 == 429)
    };
    let slow = r#"{"mcpServe": {"requestsPerSecond": 1, "requestBurst": 5}}"#;
    std::fs::write(&settings, slow).unwrap();
    assert!(spent(&serve(&project, &[])));
    let flags = ["--requests-per-second", "1000", "--request-burst", "1000"];
    assert!(!spent(&serve(&project, &flags)));
    // A project has no say in it.
    std::fs::write(&settings, "{}").unwrap();
    project.file(".toolbay/settings.json", slow);
    assert!(!spent(&serve(&project, &[])));
    let args = ["mcp", "serve", "--http", "127.0.0.1:0"];
    for (text, word) in [
        (r#"{"mcpServe": {"maxSessions": 0}}"#, "maxSessions"),
        (r#"{"mcpServe": {"maxConnections": 100000}}"#, "1 to 4096"),
        (r#"{"mcpServe": {"sessions": 5}}"#, "unknown field"),
        (r#"{"mcpServe": [1]}"#, "object"),
    ] {
        std::fs::write(&settings, text).unwrap();
        project.run(&args).exits(2).complains(&[word]);
    }
    std::fs::write(&settings, "{}").unwrap();
    let refused = [args.as_slice(), &["--max-requests", "0"]].concat();
    project
        .run(&refused)
        .exits(2)
        .complains(&["--max-requests"]);
    let alone = ["mcp", "serve", "--max-sessions", "5"];
    project.run(&alone).exits(2).complains(&["--http"]);
}
