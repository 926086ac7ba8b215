//! Questions where the protocol has no requests of the server's: they are answers, and the client
//! comes back.

use serde_json::{Value, json};

use super::wire::Server;
use crate::program::Project;

fn write(name: &str) -> Value {
    json!({"name": "Write", "arguments": {"file_path": name, "content": "x"}})
}

fn yes() -> Value {
    json!({"permission": {"action": "accept", "content": {"answer": "allow once"}}})
}

/// The same request once more, with answers and the state.
fn again(mut params: Value, responses: Value, state: &Value) -> Value {
    params["inputResponses"] = responses;
    params["requestState"] = state.clone();
    params
}

struct Asking {
    server: Server,
    project: Project,
}

impl Asking {
    fn new(args: &[&str]) -> Self {
        let project = Project::new();
        Self {
            server: Server::start(&project, args),
            project,
        }
    }

    fn call(&self, params: Value) -> Value {
        let can = json!({"elicitation": {}});
        self.server.alone("tools/call", params, &can).answer()
    }

    /// A call that needs permission, to the question about it.
    #[track_caller]
    fn asked(&self, params: &Value) -> Value {
        let answer = self.call(params.clone());
        let result = &answer["result"];
        assert_eq!(result["resultType"], "input_required", "{answer}");
        assert!(
            result["inputRequests"]["permission"].is_object(),
            "{answer}"
        );
        result["requestState"].clone()
    }

    fn wrote(&self, name: &str) -> bool {
        self.project.root().join(name).exists()
    }
}

#[test]
fn a_yes_runs_the_call_once() {
    let asking = Asking::new(&[]);
    let state = asking.asked(&write("a.txt"));
    assert!(!asking.wrote("a.txt"));
    let answer = asking.call(again(write("a.txt"), yes(), &state));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(asking.wrote("a.txt"));
    std::fs::remove_file(asking.project.root().join("a.txt")).unwrap();
    // The same yes a second time is none.
    let answer = asking.call(again(write("a.txt"), yes(), &state));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!asking.wrote("a.txt"));
    // Nobody is asked for a session that does not exist, and such a yes counts for nothing.
    let first = asking.call(write("b.txt"));
    let form = &first["result"]["inputRequests"]["permission"]["params"]["requestedSchema"];
    assert_eq!(
        form["properties"]["answer"]["enum"],
        json!(["allow once", "deny"])
    );
    let session = json!({"action": "accept", "content": {"answer": "allow for this session"}});
    let state = first["result"]["requestState"].clone();
    let answer = asking.call(again(
        write("b.txt"),
        json!({"permission": session}),
        &state,
    ));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(!asking.wrote("b.txt"));
}

#[test]
fn whatever_is_no_yes_is_a_no() {
    let asking = Asking::new(&[]);
    for no in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"answer": "deny", "reason": "not today"}}),
        json!({"action": "accept", "content": {"answer": true}}),
        json!({"action": "accept", "content": ["allow once"]}),
    ] {
        let state = asking.asked(&write("a.txt"));
        let answer = asking.call(again(write("a.txt"), json!({"permission": no}), &state));
        assert_eq!(answer["result"]["isError"], true, "{no}: {answer}");
    }
    // What is no answer at all is refused or asked again; the question stays open.
    let state = asking.asked(&write("a.txt"));
    for odd in [
        json!({"permission": 5}),
        json!({"permission": {"action": "sure"}}),
    ] {
        let answer = asking.call(again(write("a.txt"), odd.clone(), &state));
        assert_eq!(answer["error"]["code"], -32602, "{odd}: {answer}");
    }
    let answer = asking.call(again(write("a.txt"), json!({"other": {}}), &state));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(!asking.wrote("a.txt"));
    let state = answer["result"]["requestState"].clone();
    let answer = asking.call(again(write("a.txt"), yes(), &state));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn a_yes_cannot_be_forged() {
    let asking = Asking::new(&[]);
    // Without a state it is as if nothing had been said.
    let mut params = write("a.txt");
    params["inputResponses"] = yes();
    asking.asked(&params);
    let state = asking.asked(&write("a.txt"));
    let text = state.as_str().unwrap();
    let mut parts: Vec<&str> = text.split('.').collect();
    let short = parts[..2].join(".");
    let payload = parts[1].to_owned();
    let flipped = payload.replacen('A', "B", 1);
    parts[1] = &flipped;
    let forged = [
        parts.join("."),
        short,
        format!("{text}A"),
        text[..text.len() - 2].to_owned(),
        String::new(),
        "rs1..".into(),
        payload.clone(),
    ];
    for state in forged {
        let answer = asking.call(again(write("a.txt"), yes(), &json!(state)));
        assert_eq!(answer["error"]["code"], -32602, "{state}: {answer}");
    }
    // For another input, another tool.
    let answer = asking.call(again(write("b.txt"), yes(), &state));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let bash = json!({"name": "Bash", "arguments": {"command": "touch b.txt"}});
    let answer = asking.call(again(bash, yes(), &state));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!asking.wrote("a.txt") && !asking.wrote("b.txt"));
    // None of it has used up the true one.
    let answer = asking.call(again(write("a.txt"), yes(), &state));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn a_yes_counts_for_the_client_that_was_asked() {
    let project = Project::new();
    let (one, two) = ("a-token-of-many-characters", "b-token-of-many-characters");
    let file = project.file("tokens", format!("{one}\n{two}\n"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let server = Server::start(&project, &["--token-file", file.to_str().unwrap()]);
    let can = json!({"elicitation": {}});
    let call = |token: &str, params: Value| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", Some(bearer.as_str()))];
        server
            .alone_as(&headers, "tools/call", params, &can)
            .answer()
    };
    let first = call(one, write("a.txt"));
    let state = first["result"]["requestState"].clone();
    assert!(state.is_string(), "{first}");
    let answer = call(two, again(write("a.txt"), yes(), &state));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!project.root().join("a.txt").exists());
    let answer = call(one, again(write("a.txt"), yes(), &state));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn a_client_that_cannot_ask_gets_no_with_the_reason() {
    let asking = Asking::new(&[]);
    for can in [
        json!({}),
        json!({"elicitation": {"url": {}}}),
        json!({"sampling": {}}),
    ] {
        let reply = asking.server.alone("tools/call", write("a.txt"), &can);
        let answer = reply.answer();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let said = answer.to_string();
        assert!(
            said.contains("elicitation") && said.contains("--allow"),
            "{said}"
        );
    }
    assert!(!asking.wrote("a.txt"));
}

#[test]
fn calls_that_wait_for_answers_are_bounded() {
    let asking = Asking::new(&[]);
    let mut refused = 0;
    for number in 0..40 {
        let answer = asking.call(write(&format!("{number}.txt")));
        refused += i32::from(answer["result"]["isError"] == true);
    }
    assert_eq!(refused, 8);
}
