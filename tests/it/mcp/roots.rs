//! The client's folders narrow what was granted, and never widen it.

use serde_json::{Value, json};

use super::Client;
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
