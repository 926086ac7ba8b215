//! Requests that become many times their size once they are read.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::wire::{Reply, Server, Session};
use crate::program::Project;

const ONE: &str = "a-token-of-many-characters";
const TWO: &str = "b-token-of-many-characters";
/// What the server may hold at its worst.
const MOST_MEMORY: u64 = 1 << 30;
const AT_ONCE: usize = 256;

fn serve(project: &Project) -> Server {
    let file = project.file("tokens", format!("{ONE}\n{TWO}\n"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let more = [
        "--token-file",
        file.to_str().unwrap(),
        "--max-connections",
        "1000",
    ];
    Server::start(project, &more)
}

/// A call with so many of these values in its input.
fn call(value: &str, count: usize) -> String {
    let values = vec![value; count].join(",");
    format!(
        r#"{{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{{"name":"Read","arguments":{{"file_path":"x","z":[{values}]}}}}}}"#
    )
}

#[test]
fn a_body_with_too_many_values_is_refused_before_it_is_read() {
    let project = Project::new();
    let server = serve(&project);
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    let session = Session::begin_as(&server, Some(ONE), json!({}));
    for (value, count) in [(r#"{"":0}"#, 550_000), ("0", 2_000_000), ("[]", 1_300_000)] {
        let body = call(value, count).replace("ID", "5");
        let reply = server.post(&session.headers(), &body);
        assert_eq!(reply.status, 413, "{value}");
        assert!(reply.text().contains("values in one JSON text"));
    }
    assert_eq!(other.ask("ping", json!({}))["result"], json!({}));
    if let Some(peak) = server.peak() {
        assert!(peak < MOST_MEMORY / 2, "{peak}");
    }
}

#[test]
fn what_one_client_has_in_work_is_bounded_and_another_is_served() {
    let project = Project::new();
    let server = serve(&project);
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    let session = Session::begin_as(&server, Some(ONE), json!({}));
    let text = format!("\"{}\"", "x".repeat(4_000_000));
    for (what, body) in [
        ("objects", call(r#"{"":0}"#, 16_000)),
        ("numbers", call("0", 49_000)),
        ("arrays", call("[]", 24_000)),
        ("a text", call(&text, 1)),
    ] {
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..AT_ONCE)
                .map(|at| {
                    let body = body.replace("ID", &(at + 100).to_string());
                    let text = server.head("POST", &session.headers(), body.len()) + &body;
                    let mut stream = server.connect();
                    scope.spawn(move || {
                        let _ = stream.write_all(text.as_bytes());
                        let mut reply = Reply::read(stream);
                        while reply.status == 200 && reply.next().is_some() {}
                        (reply.status, reply.header("retry-after").map(str::to_owned))
                    })
                })
                .collect();
            for _ in 0..3 {
                assert_eq!(other.ask("ping", json!({}))["result"], json!({}), "{what}");
            }
            let all = asking.into_iter().map(|one| one.join().unwrap());
            all.map(|(status, wait)| {
                assert_eq!(status == 429, wait.is_some(), "{what}: {status}");
                status
            })
            .collect()
        });
        let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
        assert!(count(200) > 0, "{what}: {statuses:?}");
        assert_eq!(count(200) + count(429), AT_ONCE, "{what}: {statuses:?}");
        if let Some(peak) = server.peak() {
            println!("{what}: {} MiB, {} answered", peak >> 20, count(200));
            assert!(peak < MOST_MEMORY, "{what}: {peak}");
        }
    }
    // What was taken is given back.
    let body = call(&text, 1).replace("ID", "7");
    assert_eq!(server.post(&session.headers(), &body).status, 200);
}

#[test]
fn half_sent_bodies_of_one_client_hold_its_own_memory_alone() {
    let project = Project::new();
    let server = serve(&project);
    let session = Session::begin_as(&server, Some(ONE), json!({}));
    let mut halves = Vec::new();
    for _ in 0..AT_ONCE {
        let text = server.head("POST", &session.headers(), 4 << 20) + "{";
        let mut stream = server.connect();
        stream.write_all(text.as_bytes()).unwrap();
        halves.push(stream);
    }
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    assert_eq!(other.ask("ping", json!({}))["result"], json!({}));
    // The largest that there is, in what is reserved for it.
    let text = format!("\"{}\"", "x".repeat(4_000_000));
    let body = call(&text, 1).replace("ID", "7");
    assert_eq!(server.post(&other.headers(), &body).status, 200);
    drop(halves);
}

#[test]
fn a_nested_pattern_of_one_client_leaves_the_session_of_another() {
    let project = Project::new();
    let server = serve(&project);
    let mut other = Session::begin_as(&server, Some(TWO), json!({}));
    let mut session = Session::begin_as(&server, Some(ONE), json!({}));
    let nested = "{".repeat(100_000) + "a" + &"}".repeat(100_000);
    for (tool, input) in [
        ("Glob", json!({"pattern": nested})),
        ("Grep", json!({"pattern": "x", "glob": nested})),
        ("Bash", json!({"command": nested[..9_000]})),
    ] {
        let result = session.call(tool, input);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(other.ask("ping", json!({}))["result"], json!({}), "{tool}");
    }
    assert_eq!(server.end(), 0);
}
