//! How servers end: they are told, get a moment to put things in order, and are killed otherwise.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{SERVER, one_tool};
use crate::mcp::Client;
use crate::program::{Project, wait};
use crate::run::{Talk, text};

/// The server of the other tests, and what it does when its input has ended.
fn project(afterwards: &str) -> Project {
    let project = Project::new();
    project.file("server.sh", format!("{SERVER}\n{afterwards}"));
    project.file("tools.json", one_tool().to_string());
    project.file("call.sh", "echo hi");
    project
}

/// Takes a while, says something that nobody listens to, and leaves a mark.
const ORDERLY: &str = "seq 20000; sleep 0.2; seq 20000; echo done >> in-order";

/// Does not care. How long it sleeps tells its processes from all others.
fn stubborn(word: &str) -> String {
    format!("echo told >> told; while true; do sleep {word}; done")
}

/// A number of seconds that no other process sleeps.
fn unique() -> String {
    let nanos = std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
    format!("3{:05}.{nanos:09}", std::process::id() % 100_000)
}

fn given(count: usize) -> String {
    let one = json!({"command": "bash", "args": ["server.sh"]});
    let all = (0..count).map(|number| (format!("sh{number}"), one.clone()));
    json!({"mcpServers": Value::Object(all.collect())}).to_string()
}

fn lines(project: &Project, file: &str) -> usize {
    let text = std::fs::read_to_string(project.root().join(file));
    text.unwrap_or_default().lines().count()
}

/// Whether a process of this word is left. The cage is gone a moment after the program.
fn is_left(word: &str) -> bool {
    let is_one = |process: std::fs::DirEntry| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    let since = Instant::now();
    loop {
        let mut all = std::fs::read_dir("/proc").unwrap().flatten();
        if !all.any(is_one) {
            return false;
        }
        if since.elapsed() > Duration::from_secs(10) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_server_puts_things_in_order_at_the_end_of_every_command() {
    let project = project(ORDERLY);
    let config = given(1);
    let config = ["--mcp-config", &config];
    let call = ["--allow", "mcp__sh0", "call", "mcp__sh0__act"];
    project
        .run(&[&config[..], &call].concat())
        .exits(0)
        .prints(&["hi"]);
    assert_eq!(lines(&project, "in-order"), 1, "call");
    project
        .run(&[&config[..], &["mcp", "list"]].concat())
        .exits(0);
    assert_eq!(lines(&project, "in-order"), 2, "mcp list");

    let mut talk = Talk::start(&project, &[&config[..], &["--allow", "mcp__sh0"]].concat());
    let said = talk.call("mcp__sh0__act", json!({}));
    assert!(text(&said).contains("hi"), "{said}");
    talk.close();
    assert_eq!(lines(&project, "in-order"), 3, "run");

    // One to ask for its tools, and one for the session of the client.
    let serve = [&config[..], &["--allow", "mcp__sh0"]].concat();
    let mut client = Client::start(&project, &serve, json!({}));
    let said = client.call("mcp__sh0__act", json!({}));
    assert!(
        said["content"][0]["text"].to_string().contains("hi"),
        "{said}"
    );
    client.close();
    assert_eq!(lines(&project, "in-order"), 5, "mcp serve");
}

#[test]
fn ten_servers_that_ignore_their_end_are_gone_with_the_program() {
    let word = unique();
    let project = project(&stubborn(&word));
    let config = given(10);
    let listed = ["--mcp-config", &config, "mcp", "list", "--json"];
    let listed = project.run(&listed).exits(0).json();
    for server in listed["servers"].as_array().unwrap() {
        assert_eq!(server["state"], "connected", "{server}");
    }
    assert_eq!(lines(&project, "told"), 10);
    assert!(!is_left(&word));
}

#[test]
fn an_interrupt_ends_a_call_and_its_server_and_a_kill_leaves_nothing() {
    for signal in ["INT", "KILL"] {
        let word = unique();
        let project = project(&stubborn(&word));
        project.file("call.sh", format!("echo called > called; sleep {word}"));
        let config = given(1);
        let args = ["--mcp-config", &config, "--allow", "mcp__sh0"];
        let call = [&args[..], &["call", "mcp__sh0__act"]].concat();
        let mut child = project.spawn(&call);
        while lines(&project, "called") == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        #[allow(clippy::disallowed_methods)]
        let sent = std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let status = wait(&mut child, &call);
        if signal == "INT" {
            assert_eq!(status.code(), Some(130));
        }
        assert!(!is_left(&word), "{signal}");
    }
}
