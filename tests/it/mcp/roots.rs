//! The client's folders narrow what was granted, and never widen it.

use serde_json::{Value, json};

use super::Client;
use super::http::wire::Server;
use crate::program::Project;

/// Calls a tool and tells the client's folders when asked for them.
fn call_with(client: &mut Client, roots: &Value, name: &str, input: Value) -> Value {
    let id = client.begin("tools/call", json!({"name": name, "arguments": input}));
    loop {
        let line = client.hear();
        if line["method"] == "roots/list" {
            let result = json!({"roots": roots});
            client.say(json!({"jsonrpc": "2.0", "id": line["id"], "result": result}));
        } else if line["id"] == id && line.get("method").is_none() {
            return line["result"].clone();
        }
    }
}

fn project() -> Project {
    let project = Project::new();
    project.file("a/in.txt", "inside\n");
    project.file("b/out.txt", "outside\n");
    project
}

fn root(project: &Project, path: &str) -> Value {
    json!({"uri": format!("file://{}", project.root().join(path).display())})
}

fn sees(client: &mut Client, roots: &Value, path: &str) -> bool {
    let result = call_with(client, roots, "Read", json!({"file_path": path}));
    result["isError"] == false
}

#[test]
fn files_outside_of_them_are_refused() {
    let project = project();
    let out = project.root().join("b/out.txt").display().to_string();
    let inside = project.root().join("a/in.txt").display().to_string();
    let can = json!({"roots": {"listChanged": true}});
    let mut client = Client::start(&project, &["--allow", "Bash"], can);
    let roots = json!([root(&project, "a")]);
    assert!(sees(&mut client, &roots, &inside));
    assert!(
        sees(&mut client, &roots, "in.txt"),
        "it works in the client's folder"
    );
    assert!(!sees(&mut client, &roots, &out));
    assert!(!sees(&mut client, &roots, "../b/out.txt"));
    // Nobody allows what lies outside: no rule, and no person.
    let can = json!({"roots": {}, "elicitation": {}});
    let mut allowed = Client::start(&project, &["--allow", "Read", "--allow", "Write"], can);
    assert!(!sees(&mut allowed, &roots, &out));
    assert!(sees(&mut allowed, &roots, &inside));
    let write = json!({"file_path": project.root().join("b/new"), "content": "x"});
    let result = call_with(&mut allowed, &roots, "Write", write);
    assert_eq!(result["isError"], true, "{result}");
    allowed.close();
    // Commands, too.
    let write = json!({"command": format!("echo x > {}", project.root().join("b/new").display())});
    call_with(&mut client, &roots, "Bash", write);
    assert!(!project.root().join("b/new").exists());
    // Other folders from now on; what was read stays known.
    let roots = json!([root(&project, "b"), root(&project, "a")]);
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert!(sees(&mut client, &roots, &out));
    assert!(sees(&mut client, &roots, &inside));
    let roots = json!([root(&project, "b")]);
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert!(sees(&mut client, &roots, &out));
    assert!(!sees(&mut client, &roots, &inside));
    client.close();
}

#[test]
fn hostile_ones_grant_nothing() {
    let project = project();
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().canonicalize().unwrap();
    std::fs::write(elsewhere.join("x.txt"), "x\n").unwrap();
    let other = elsewhere.join("x.txt").display().to_string();
    let inside = project.root().join("a/in.txt").display().to_string();
    std::os::unix::fs::symlink(&elsewhere, project.root().join("link")).unwrap();
    let many: Vec<Value> = (0..5000)
        .map(|n| json!({"uri": format!("file:///nowhere/{n}")}))
        .collect();
    let uri = |text: String| json!([{"uri": text}]);
    let far = elsewhere.display();
    // Each with what it leaves of what was granted.
    let cases = [
        (uri("file:///".into()), true),
        (uri(format!("file://{far}")), false),
        (
            uri(format!(
                "file://{}/../../../..{far}",
                project.root().display()
            )),
            false,
        ),
        (json!([root(&project, "link")]), false),
        (uri(format!("https://{}", project.root().display())), false),
        (
            uri(format!("file://host{}", project.root().display())),
            false,
        ),
        (uri("".into()), false),
        (uri("file://\u{0}".into()), false),
        (Value::Array(many), false),
        (json!([]), true),
    ];
    for (roots, left) in cases {
        let mut client = Client::start(&project, &[], json!({"roots": {}}));
        let text = roots.to_string().chars().take(120).collect::<String>();
        assert!(!sees(&mut client, &roots, &other), "{text}");
        assert_eq!(sees(&mut client, &roots, &inside), left, "{text}");
        client.close();
    }
    // One that says no when asked gets no call.
    let mut client = Client::start(&project, &[], json!({"roots": {}}));
    let id = client.begin(
        "tools/call",
        json!({"name": "Read", "arguments": {"file_path": inside}}),
    );
    let answer = loop {
        let line = client.hear();
        if line["method"] == "roots/list" {
            let error = json!({"code": -32603, "message": "no"});
            client.say(json!({"jsonrpc": "2.0", "id": line["id"], "error": error}));
        } else if line["id"] == id && line.get("method").is_none() {
            break line["result"].clone();
        }
    };
    assert_eq!(answer["isError"], true, "{answer}");
    client.close();
}

/// A request that stands alone, as the newest protocol has them.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}, "elicitation": {}},
    });
    params
}

fn read(path: &str) -> Value {
    json!({"name": "Read", "arguments": {"file_path": path}})
}

/// The same request with the folders that it asked for.
fn with_roots(mut params: Value, asked: &Value, roots: &Value) -> Value {
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    assert_eq!(
        result["inputRequests"]["roots"]["method"], "roots/list",
        "{asked}"
    );
    params["requestState"] = result["requestState"].clone();
    params["inputResponses"] = json!({"roots": {"roots": roots}});
    params
}

#[test]
fn a_client_without_a_session_on_standard_input_is_asked_once() {
    let project = project();
    let mut client = Client::raw(&project, &[]);
    let (inside, outside) = (modern(read("in.txt")), modern(read("../b/out.txt")));
    let asked = client.ask("tools/call", inside.clone());
    let again = with_roots(inside.clone(), &asked, &json!([root(&project, "a")]));
    let told = client.ask("tools/call", again);
    assert!(told.to_string().contains("inside"), "{told}");
    // From here on it is known.
    let told = client.ask("tools/call", inside);
    assert_eq!(told["result"]["isError"], false, "{told}");
    let told = client.ask("tools/call", outside);
    assert_eq!(told["result"]["isError"], true, "{told}");
    client.close();
}

#[test]
fn over_http_without_sessions_each_call_says_its_folders_if_that_is_wanted() {
    let project = project();
    let can = json!({"roots": {}});
    let server = Server::start(&project, &["--client-roots"]);
    let call = |params: Value| server.alone("tools/call", params, &can).answer();
    for (folder, path, wanted) in [
        ("a", "a/in.txt", true),
        ("a", "b/out.txt", false),
        // Another client behind the same token.
        ("b", "b/out.txt", true),
        ("b", "a/in.txt", false),
        ("a", "a/in.txt", true),
    ] {
        let path = project.root().join(path).display().to_string();
        let asked = call(read(&path));
        let told = call(with_roots(
            read(&path),
            &asked,
            &json!([root(&project, folder)]),
        ));
        assert_eq!(told["result"]["isError"], !wanted, "{folder} {path} {told}");
    }
    // Folders outside are none, and nonsense is told to be that.
    let asked = call(read("a/in.txt"));
    let outside = with_roots(read("a/in.txt"), &asked, &json!([{"uri": "file:///usr"}]));
    let told = call(outside).to_string();
    assert!(told.contains("none of the client's folders"), "{told}");
    let mut odd = with_roots(read("a/in.txt"), &asked, &json!([]));
    odd["inputResponses"] = json!({"roots": 5});
    assert_eq!(call(odd)["error"]["code"], -32602);
    // A client that has none sees what was granted, whatever others have.
    let path = project.root().join("b/out.txt").display().to_string();
    let told = server.alone("tools/call", read(&path), &json!({})).answer();
    assert_eq!(told["result"]["isError"], false, "{told}");
    // Without the option nobody is asked.
    let server = Server::start(&project, &[]);
    let told = server.alone("tools/call", read(&path), &can).answer();
    assert_eq!(told["result"]["isError"], false, "{told}");
}

#[test]
fn a_client_may_want_a_list_before_it_tells_its_folders() {
    let project = project();
    let mut client = Client::start(&project, &[], json!({"roots": {}}));
    let call = client.begin("tools/call", read("in.txt"));
    let asked = client.asked("roots/list");
    let listed = client.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    let roots = json!({"roots": [root(&project, "a")]});
    client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}));
    let told = client.answer_to(call);
    assert!(told.to_string().contains("inside"), "{told}");
    client.close();
}
