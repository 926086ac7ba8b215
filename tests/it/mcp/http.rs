//! Our tools over HTTP.

mod attacks;
mod heavy;
mod quotas;
mod rounds;
mod sessions;
pub mod wire;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use self::wire::{Reply, Server, Session};
use crate::program::Project;

fn read(name: &str) -> Value {
    json!({"name": "Read", "arguments": {"file_path": name}})
}

fn names(listed: &Value) -> Vec<String> {
    let tools = listed["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{listed}"));
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn both_manners_of_the_protocol_are_served() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let server = Server::start(&project, &[]);
    let mut session = Session::begin(&server, json!({}));
    let listed = session.ask("tools/list", json!({}));
    assert!(names(&listed).contains(&"Read".into()), "{listed}");
    let result = session.call("Read", json!({"file_path": "a.txt"}));
    assert!(result.to_string().contains("one"), "{result}");

    let found = server
        .alone("server/discover", json!({}), &json!({}))
        .answer();
    let versions = found["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28"), "{found}");
    let alone = server.alone("tools/list", json!({}), &json!({})).answer();
    assert_eq!(names(&alone), names(&listed));
    let answer = server
        .alone("tools/call", read("a.txt"), &json!({}))
        .answer();
    assert!(answer.to_string().contains("one"), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[test]
fn without_the_token_nobody_gets_in() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let token = server.token.clone().unwrap();
    let file = server.token_file.clone().unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let bearer = |token: &str| format!("Bearer {token}");
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(format!("Basic {token}")),
        Some(bearer(&token[1..])),
        Some(bearer(&format!("{token}0"))),
        Some(bearer(&token.replace(|c: char| c.is_ascii_digit(), "x"))),
    ];
    for header in wrong {
        for method in ["POST", "GET", "DELETE", "OPTIONS"] {
            let headers = [("Authorization", header.as_deref())];
            let text = server.head(method, &headers, body.len()) + &body;
            let reply = server.send(text.as_bytes());
            assert_eq!(reply.status, 401, "{method} {header:?}");
            let challenge = reply.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            assert!(!reply.text().contains(&token));
        }
    }
    Session::begin(&server, json!({}));
    assert!(!server.said().contains(&token));
    assert_eq!(server.end(), 0);
    assert!(!file.exists(), "a token is gone with its server");
}

#[test]
fn tokens_come_from_files_and_variables_that_are_private() {
    let project = Project::new();
    let (one, two) = ("a-token-of-many-characters", "b-token-of-many-characters");
    let file = project.file("tokens", format!("# two clients\n{one}\n{two}\n"));
    let path = file.to_str().unwrap();
    let args = [
        "mcp",
        "serve",
        "--http",
        "127.0.0.1:0",
        "--token-file",
        path,
    ];
    let chmod = |mode| std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    chmod(0o640);
    project.run(&args).exits(2).complains(&["chmod 600"]);
    chmod(0o600);
    let server = Server::start(&project, &args[4..]);
    assert_eq!(server.token_file, None);
    for token in [one, two] {
        Session::begin_as(&server, Some(token), json!({}));
    }
    assert_eq!(server.post(&[], "{}").status, 401);
    project.file("tokens", "short\n");
    let ran = project.run(&args).exits(2).complains(&["characters"]);
    assert!(!ran.err.contains("short"), "{ran:?}");
    let args = [
        "mcp",
        "serve",
        "--http",
        "127.0.0.1:0",
        "--token-env",
        "NOT_SET",
    ];
    project
        .run(&args)
        .exits(2)
        .complains(&["NOT_SET", "not set"]);
    // Any variable will do, if it is long enough.
    let server = Server::start(&project, &["--token-env", "XDG_CACHE_HOME"]);
    let variables = project.environment();
    let token = variables.iter().find(|(name, _)| *name == "XDG_CACHE_HOME");
    let token = token.unwrap().1.display().to_string();
    Session::begin_as(&server, Some(&token), json!({}));
    assert_eq!(server.post(&[], "{}").status, 401);
}

#[test]
fn what_is_no_file_of_tokens_is_refused_at_once() {
    let project = Project::new();
    let pipe = project.root().join("pipe");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    );
    made.unwrap();
    let long = project.file("long", "a-token-of-many-characters\n".repeat(10_000));
    std::fs::set_permissions(&long, PermissionsExt::from_mode(0o600)).unwrap();
    for (path, word) in [
        (pipe.to_str().unwrap(), "regular file"),
        ("/dev/zero", "regular file"),
        (".", "regular file"),
        (long.to_str().unwrap(), "larger than"),
    ] {
        let args = [
            "mcp",
            "serve",
            "--http",
            "127.0.0.1:0",
            "--token-file",
            path,
        ];
        project.run(&args).exits(2).complains(&[word]);
    }
}

#[test]
fn other_machines_are_never_served_without_a_token() {
    let project = Project::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let args = ["mcp", "serve", "--http", address, "--no-token"];
        project
            .run(&args)
            .exits(2)
            .complains(&["token", "loopback"]);
    }
    let server = Server::start(&project, &["--no-token"]);
    assert_eq!(server.token_file, None);
    Session::begin(&server, json!({}));
    // Options for HTTP mean nothing without it.
    for option in [
        &["--no-token"][..],
        &["--token-file", "x"],
        &["--allow-host", "x"],
    ] {
        let mut args = vec!["mcp", "serve"];
        args.extend(option);
        project.run(&args).exits(2).complains(&["--http"]);
    }
}

#[test]
fn a_server_that_is_asked_to_end_ends_its_calls_first() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let mut session = Session::begin(&server, json!({}));
    let mut reply = session.begun(
        "tools/call",
        json!({
            "name": "Bash", "arguments": {"command": "echo begun; sleep 306"},
            "_meta": {"progressToken": 1},
        }),
    );
    let told = reply.next().unwrap();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    server.signal("TERM");
    // Its stream ends, with or without a last word; nothing hangs.
    while let Some(message) = reply.next() {
        assert!(message.is_object(), "{message}");
    }
    assert_eq!(server.end_after_signal(), 0);
}

#[test]
fn elsewhere_there_is_nothing() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    for path in [
        "/",
        "/mcp/",
        "/mcp/../x",
        "/.well-known/oauth-protected-resource",
        "//mcp",
    ] {
        let head = server.head("GET", &[], 0).replacen("/mcp", path, 1);
        assert_eq!(server.send(head.as_bytes()).status, 404, "{path}");
    }
    for method in ["PUT", "OPTIONS", "PATCH", "HEAD"] {
        let reply: Reply = server.send(server.head(method, &[], 0).as_bytes());
        assert_eq!(reply.status, 405, "{method}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
}
