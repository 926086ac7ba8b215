//! Our tools for a client that speaks MCP, line by line.

mod behind;
mod http;
mod roots;
mod stream;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::Project;

const PATIENCE: Duration = Duration::from_secs(60);

/// A client with as little as a client needs.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: u64,
}

impl Client {
    /// The program, to which nobody has said anything.
    fn raw(project: &Project, args: &[&str]) -> Self {
        let mut all = vec!["mcp", "serve"];
        all.extend(args);
        let mut child = project.spawn(&all);
        let output = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).expect("nothing but the protocol");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            next: 1,
        }
    }

    pub fn start(project: &Project, args: &[&str], capabilities: Value) -> Self {
        let mut client = Self::raw(project, args);
        let answer = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(
            answer["result"]["serverInfo"]["name"], "toolbay",
            "{answer}"
        );
        client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn say(&mut self, line: Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn hear(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("an answer")
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer_to(id)
    }

    /// The answer to a request of ours; what the server asks meanwhile fails the test.
    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let line = self.hear();
            if line["id"] == id && line.get("method").is_none() {
                return line;
            }
            assert!(line.get("id").is_none(), "{line}");
        }
    }

    pub fn call(&mut self, name: &str, input: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": input}));
        answer["result"].clone()
    }

    /// Begins a call that has to be allowed, and answers the question.
    fn call_and_answer(&mut self, name: &str, input: Value, answer: Value) -> (Value, Value) {
        let call = json!({"name": name, "arguments": input});
        self.ask_and_answer("tools/call", call, answer)
    }

    /// The same for any request.
    fn ask_and_answer(&mut self, method: &str, params: Value, answer: Value) -> (Value, Value) {
        let id = self.begin(method, params);
        let asked = self.asked("elicitation/create");
        self.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        (asked, self.answer_to(id)["result"].clone())
    }

    /// The next request of the server's, which is of this kind.
    fn asked(&mut self, method: &str) -> Value {
        loop {
            let line = self.hear();
            if line["method"] == method {
                return line;
            }
            assert!(line.get("id").is_none(), "{line}");
        }
    }

    pub fn close(mut self) {
        drop(self.input.take());
        let status = crate::program::wait(&mut self.child, &["mcp", "serve"]);
        assert!(status.success(), "{status}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn new(name: &str) -> Value {
    json!({"file_path": name, "content": "x"})
}

fn accept(answer: &str) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

#[test]
fn the_tools_are_listed_with_schemas_and_called() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let mut client = Client::start(&project, &[], json!({}));
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["Bash", "Edit", "Read", "Write"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let result = client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(result["isError"], false, "{result}");
    assert!(
        result["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("one")
    );
    // Agents show a model the data instead of the text where there is some, so that data which
    // does not say all of it stays here.
    assert_eq!(result.get("structuredContent"), None, "{result}");
    let answer = client.ask("tools/call", json!({"name": "Raed", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("did you mean Read?"), "{said}");
    let result = client.call("Read", json!({"file_path": 5, "more": true}));
    assert_eq!(result["isError"], true, "{result}");
    client.close();
}

#[test]
fn a_client_that_cannot_ask_a_person_gets_no_with_the_reason() {
    let project = Project::new();
    let mut client = Client::start(&project, &[], json!({}));
    let result = client.call("Write", new("a.txt"));
    assert_eq!(result["isError"], true, "{result}");
    let said = result["content"][0]["text"].as_str().unwrap();
    assert!(
        said.contains("elicitation") && said.contains("--allow"),
        "{said}"
    );
    client.close();
    assert!(!project.root().join("a.txt").exists());
    let mut client = Client::start(&project, &["--allow", "Write"], json!({}));
    assert_eq!(client.call("Write", new("a.txt"))["isError"], false);
    client.close();
}

#[test]
fn a_person_is_asked_by_elicitation() {
    let project = Project::new();
    let mut client = Client::start(&project, &[], json!({"elicitation": {}}));
    let (asked, result) = client.call_and_answer("Write", new("a.txt"), accept("allow once"));
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("Write") && message.contains("a.txt"),
        "{message}"
    );
    assert_eq!(result["isError"], false, "{result}");
    for no in [
        accept("deny"),
        accept("sure"),
        json!({"action": "accept"}),
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
    ] {
        let (_, result) = client.call_and_answer("Write", new("b.txt"), no.clone());
        assert_eq!(result["isError"], true, "{no}: {result}");
    }
    let why = json!({"action": "accept", "content": {"answer": "deny", "reason": "not today"}});
    let (_, result) = client.call_and_answer("Write", new("b.txt"), why);
    assert!(result.to_string().contains("not today"), "{result}");
    let session = accept("allow for this session");
    let (_, result) = client.call_and_answer("Write", new("c.txt"), session);
    assert_eq!(result["isError"], false, "{result}");
    std::fs::remove_file(project.root().join("c.txt")).unwrap();
    assert_eq!(client.call("Write", new("c.txt"))["isError"], false);
    client.close();
    assert!(!project.root().join("b.txt").exists());
}

#[test]
fn the_owners_levers_hold_for_clients_too() {
    let project = Project::new();
    let text =
        json!({"managed": {"onlyManagedRules": true}, "permissions": {"deny": ["Write(./no)"]}});
    std::fs::write(project.managed_settings(), text.to_string()).unwrap();
    let args = ["--allow", "Write"];
    let mut client = Client::start(&project, &args, json!({"elicitation": {}}));
    assert_eq!(client.call("Write", new("no"))["isError"], true);
    let session = accept("allow for this session");
    let (asked, result) = client.call_and_answer("Write", new("a"), session);
    let choices = &asked["params"]["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(*choices, json!(["allow once", "deny"]));
    assert_eq!(result["isError"], true, "{result}");
    client.close();
    assert!(!project.root().join("no").exists() && !project.root().join("a").exists());
}

#[test]
fn progress_comes_and_a_call_can_be_cancelled() {
    let project = Project::new();
    let mut client = Client::start(&project, &["--allow", "Bash"], json!({}));
    let id = client.begin(
        "tools/call",
        json!({
            "name": "Bash", "arguments": {"command": "echo begun; sleep 305"},
            "_meta": {"progressToken": "p1"},
        }),
    );
    let told = loop {
        let line = client.hear();
        if line["method"] == "notifications/progress" {
            break line;
        }
    };
    assert_eq!(told["params"]["progressToken"], "p1", "{told}");
    assert!(
        told["params"]["message"]
            .as_str()
            .unwrap()
            .contains("begun"),
        "{told}"
    );
    client.say(json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
    // The client goes on being served.
    let result = client.call("Bash", json!({"command": "echo still here"}));
    assert!(result.to_string().contains("still here"), "{result}");
    client.close();
}

#[test]
fn lines_that_are_none_end_nothing_but_themselves() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let mut client = Client::start(&project, &[], json!({}));
    for line in [
        "{",
        "[]",
        "nonsense",
        "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": 5}",
    ] {
        let input = client.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }
    let id = client.begin(
        "tools/call",
        json!({"name": "Read", "arguments": {"file_path": "a.txt"}}),
    );
    let answer = loop {
        let line = client.hear();
        if line["id"] == id {
            break line;
        }
    };
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    client.close();
}
