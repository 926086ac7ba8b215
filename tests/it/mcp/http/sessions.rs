//! What one client has read, allowed, started and saved is not another's.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{Server, Session};
use crate::program::Project;

fn accept(answer: &str) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

/// Calls a tool that needs permission, and answers the question.
fn call_and_answer(session: &mut Session<'_>, name: &str, input: Value, answer: Value) -> Value {
    let mut reply = session.begun("tools/call", json!({"name": name, "arguments": input}));
    loop {
        let message = reply.next().expect("a question or a result");
        if message["method"] == "elicitation/create" {
            let told = json!({"jsonrpc": "2.0", "id": message["id"], "result": answer});
            assert_eq!(session.say(&told).status, 202);
        } else if let Some(result) = message.get("result") {
            return result.clone();
        }
    }
}

#[test]
fn files_seen_and_rules_are_the_sessions_own() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let server = Server::start(&project, &[]);
    let asks = json!({"elicitation": {}});
    let mut first = Session::begin(&server, asks.clone());
    let mut second = Session::begin(&server, asks);
    assert_ne!(first.id, second.id);
    assert_eq!(
        first.call("Read", json!({"file_path": "a.txt"}))["isError"],
        false
    );
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    // The second one has not read it.
    let result = call_and_answer(&mut second, "Edit", edit.clone(), accept("allow once"));
    assert_eq!(result["isError"], true, "{result}");
    let session = accept("allow for this session");
    let result = call_and_answer(&mut first, "Edit", edit, session);
    assert_eq!(result["isError"], false, "{result}");
    // What the first one may do from now on, the second one is still asked about.
    second.call("Read", json!({"file_path": "a.txt"}));
    let again = json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"});
    let result = call_and_answer(&mut second, "Edit", again.clone(), accept("deny"));
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(first.call("Edit", again)["isError"], false);
    let text = std::fs::read_to_string(project.root().join("a.txt")).unwrap();
    assert_eq!(text, "three\n");
}

#[test]
fn tasks_are_the_sessions_own_and_end_with_it() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let mut first = Session::begin(&server, json!({}));
    let mut second = Session::begin(&server, json!({}));
    let command = "while true; do date +%s%N > beat; sleep 0.05; done";
    let input = json!({"command": command, "run_in_background": true});
    let result = first.call("Bash", input);
    assert!(result.to_string().contains("task_1"), "{result}");
    let beat = project.root().join("beat");
    let beats = |after: Option<String>| {
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            let now = std::fs::read_to_string(&beat)
                .ok()
                .filter(|now| !now.is_empty());
            if now.is_some() && now != after {
                return now;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    };
    let seen = beats(None);
    assert!(seen.is_some(), "it runs");
    let look = json!({"task_id": "task_1", "block": false});
    let result = second.call("TaskOutput", look.clone());
    assert!(
        result.to_string().contains("no background task"),
        "{result}"
    );
    assert!(beats(seen).is_some(), "it runs on");
    assert_eq!(first.delete(), 204);
    assert_eq!(first.begun("tools/list", json!({})).status, 404);
    // It stops to beat: not at once, but for good.
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let before = std::fs::read_to_string(&beat).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        if std::fs::read_to_string(&beat).unwrap() == before {
            break;
        }
        assert!(Instant::now() < until, "a task outlives its session");
    }
    assert_eq!(
        second.call("Bash", json!({"command": "echo on"}))["isError"],
        false
    );
}

#[test]
fn a_long_result_is_a_resource_of_its_client_alone() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    let mut session = Session::begin(&server, json!({}));
    let result = session.call("Bash", json!({"command": "seq 1 50000"}));
    let link = result["content"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(link["type"], "resource_link", "{result}");
    let uri = link["uri"].as_str().unwrap().to_owned();
    let listed = session.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["uri"], link["uri"]);
    let answer = session.ask("resources/read", json!({"uri": uri}));
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("\n1\n2\n") || text.starts_with("1\n2\n"),
        "{}",
        &text[..100]
    );
    assert!(text.contains("49999\n50000"));
    // Nobody else's, and nothing else.
    let mut other = Session::begin(&server, json!({}));
    assert_eq!(
        other.ask("resources/list", json!({}))["result"]["resources"],
        json!([])
    );
    assert!(
        other
            .ask("resources/read", json!({"uri": uri}))
            .get("error")
            .is_some()
    );
    let alone = server
        .alone("resources/read", json!({"uri": uri}), &json!({}))
        .answer();
    assert_eq!(alone["error"]["code"], -32602, "{alone}");
    let file = project.file("secret.txt", "secret\n");
    let up = format!("{uri}/../../../../session.json");
    for odd in [
        format!("file://{}", file.display()),
        file.display().to_string(),
        up,
        "toolbay://results/".into(),
        "toolbay://results/1".into(),
        String::new(),
    ] {
        let answer = session.ask("resources/read", json!({"uri": odd}));
        assert!(answer.get("error").is_some(), "{odd}: {answer}");
    }
}

#[test]
fn the_log_is_heard_as_wished_and_within_bounds() {
    let project = Project::new();
    let rogue = project.file("rogue.wasm", toolbay_tests::guests::ROGUE);
    let plugin = rogue.to_str().unwrap();
    let server = Server::start(&project, &["--plugin", plugin, "--no-token"]);
    let flood = |level: Option<&str>| {
        let mut params = json!({
            "name": "Rogue", "arguments": {"act": "log-flood", "count": 100_000},
        });
        if let Some(level) = level {
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        let mut reply = server.alone("tools/call", params, &json!({}));
        let mut lines = 0;
        while let Some(message) = reply.next() {
            if message["method"] == "notifications/message" {
                lines += 1;
                assert_eq!(message["params"]["logger"], "toolbay", "{message}");
            } else {
                assert!(message.get("result").is_some(), "{message}");
            }
        }
        lines
    };
    assert_eq!(flood(None), 0);
    assert_eq!(flood(Some("emergency")), 0);
    let heard = flood(Some("debug"));
    assert!((1..5000).contains(&heard), "{heard}");
    let mut session = Session::begin(&server, json!({}));
    let answer = session.ask("logging/setLevel", json!({"level": "error"}));
    assert_eq!(answer["result"], json!({}), "{answer}");
    let answer = session.ask("logging/setLevel", json!({"level": "loud"}));
    assert!(answer.get("error").is_some(), "{answer}");
}

#[test]
fn whoever_listens_hears_of_saved_results() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow", "Bash"]);
    // No server stands behind this one, so nobody is promised to hear of other changes.
    let wanted = json!({"notifications": {
        "resourcesListChanged": true, "toolsListChanged": true, "promptsListChanged": true,
    }});
    let mut listening = server.alone("subscriptions/listen", wanted, &json!({}));
    let first = listening.next().unwrap();
    assert_eq!(
        first["method"], "notifications/subscriptions/acknowledged",
        "{first}"
    );
    let accepted = &first["params"]["notifications"];
    assert_eq!(*accepted, json!({"resourcesListChanged": true}), "{first}");
    let call = json!({"name": "Bash", "arguments": {"command": "seq 1 50000"}});
    let result = server.alone("tools/call", call, &json!({})).answer();
    assert_eq!(result["result"]["isError"], false, "{result}");
    let told = listening.next().unwrap();
    assert_eq!(
        told["method"], "notifications/resources/list_changed",
        "{told}"
    );
    let listed = server
        .alone("resources/list", json!({}), &json!({}))
        .answer();
    let all = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{listed}");
    // The stream ends in good order with the server.
    server.signal("TERM");
    while listening.next().is_some() {}
}

#[test]
fn a_session_is_held_to_the_folders_of_its_client() {
    let project = Project::new();
    project.file("a/in.txt", "inside\n");
    project.file("b/out.txt", "outside\n");
    let server = Server::start(&project, &["--allow", "Read"]);
    let mut held = Session::begin(&server, json!({"roots": {}}));
    let mut other = Session::begin(&server, json!({}));
    let root = format!("file://{}", project.root().join("a").display());
    let sees = |session: &mut Session<'_>, path: &str| {
        let path = project.root().join(path);
        let params = json!({"name": "Read", "arguments": {"file_path": path}});
        let mut reply = session.begun("tools/call", params);
        loop {
            let message = reply.next().expect("a result");
            if message["method"] == "roots/list" {
                let roots = json!({"roots": [{"uri": root}]});
                let told = json!({"jsonrpc": "2.0", "id": message["id"], "result": roots});
                assert_eq!(session.say(&told).status, 202);
            } else if let Some(result) = message.get("result") {
                return result["isError"] == false;
            }
        }
    };
    assert!(sees(&mut held, "a/in.txt"));
    assert!(!sees(&mut held, "b/out.txt"));
    // That is the one client's wish, not the others'.
    assert!(sees(&mut other, "b/out.txt"));
}
