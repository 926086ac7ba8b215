//! Capabilities that a component imports, requests, and was granted or not.

use serde_json::json;
use toolbay_contract::{AuditEvent, Behavior, CapabilityRequest, GrantTable, Tool};
use toolbay_policy::{Capability, Reach};
use toolbay_tests::bay::TestBay;
use toolbay_tests::guests;

use super::guest;
use crate::program::Project;

#[test]
fn what_was_not_granted_is_refused_and_the_result_says_what_helps() {
    let project = Project::new();
    let readme = project.file("README.md", "text");
    let (_folder, file) = guest("greedy", guests::GREEDY);
    let (_other, door) = guest("door", guests::DOOR);
    let input = json!({"tries": [{"what": "read", "path": readme}]}).to_string();
    let call = |more: &[&str]| {
        let mut args = vec!["call", "--json", "--plugin", &file, "--allow", "Greedy"];
        args.extend(more);
        args.extend(["Greedy", &input]);
        project.run(&args).out
    };
    assert!(call(&[]).contains("\"worked\":[false]"), "{}", call(&[]));
    assert!(call(&["--grant", "Greedy=search"]).contains("\"worked\":[false]"));
    assert!(call(&["--grant", "Greedy=files"]).contains("\"worked\":[true]"));
    assert!(call(&["--grant", "Other"]).contains("\"worked\":[false]"));

    let script = json!({"scripts": ["ls"]}).to_string();
    let args = [
        "call", "--json", "--plugin", &door, "--allow", "Door", "Door", &script,
    ];
    let out = project.run(&args).out;
    assert!(out.contains("not granted `shell`"), "{out}");
}

#[test]
fn a_grant_in_the_settings_is_by_digest() {
    let project = Project::new();
    let (_folder, file) = guest("greedy", guests::GREEDY);
    let facts = project.run(&["inspect", "--json", &file]).exits(0).json();
    let digest = facts["digest"].as_str().unwrap().to_owned();
    let readme = project.file("README.md", "text");
    let input = json!({"tries": [{"what": "read", "path": readme}]}).to_string();
    let args = [
        "call", "--json", "--plugin", &file, "--allow", "Greedy", "Greedy", &input,
    ];
    for (key, worked) in [(digest.as_str(), true), ("sha256:00", false)] {
        let settings = json!({"grants": {key: ["files"]}});
        std::fs::write(project.user_settings(), settings.to_string()).unwrap();
        let out = project.run(&args).out;
        assert!(
            out.contains(&format!("\"worked\":[{worked}]")),
            "{key}: {out}"
        );
    }
}

#[test]
fn a_project_cannot_grant_anything() {
    let project = Project::new();
    let (_folder, file) = guest("greedy", guests::GREEDY);
    let facts = project.run(&["inspect", "--json", &file]).exits(0).json();
    let digest = facts["digest"].as_str().unwrap().to_owned();
    let readme = project.file("README.md", "text");
    let settings = json!({"grants": {digest: ["files"]}});
    project.file(".toolbay/settings.json", settings.to_string());
    let input = json!({"tries": [{"what": "read", "path": readme}]}).to_string();
    let args = [
        "call", "--json", "--plugin", &file, "--allow", "Greedy", "Greedy", &input,
    ];
    let ran = project.run(&args);
    assert!(ran.out.contains("\"worked\":[false]"), "{}", ran.out);
    assert!(ran.err.contains("grants"), "{}", ran.err);
}

#[test]
fn a_grant_that_cannot_be_read_is_an_error_that_names_it() {
    let project = Project::new();
    for (grant, named) in [
        ("Greedy=root", "`root`"),
        ("=files", "names no tool"),
        ("Greedy=", "is no capability"),
    ] {
        let ran = project.run(&["tools", "--grant", grant]);
        assert_eq!(ran.code, Some(2), "{grant}");
        assert!(ran.err.contains(named), "{grant}: {}", ran.err);
    }
}

/// The component with a manifest that requests these.
fn with_manifest(bytes: &[u8], requests: &str) -> Vec<u8> {
    let manifest = format!("name = \"x\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\n{requests}");
    let mut all = bytes.to_vec();
    // A custom section: id 0, its size, the length of its name, the name, the content.
    let name = b"toolbay:manifest";
    let mut body = vec![name.len() as u8];
    body.extend(name);
    body.extend(manifest.as_bytes());
    all.push(0);
    let mut size = body.len();
    loop {
        let low = (size & 0x7f) as u8;
        size >>= 7;
        all.push(low | if size > 0 { 0x80 } else { 0 });
        if size == 0 {
            break;
        }
    }
    all.extend(body);
    all
}

const FOR_SHELL: &str = "[[requests]]\ncapability = \"shell\"\nreason = \"to run git\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_manifest_does_not_request_nothing_grants() {
    let bytes = with_manifest(guests::GREEDY, FOR_SHELL);
    let bay = TestBay::new()
        .file("a.txt", "text")
        .allow("Greedy")
        .bytes(bytes.into())
        .await;
    let path = bay.root().join("a.txt");
    let running = bay.start();
    let input = json!({"tries": [{"what": "read", "path": path}]});
    let result = running.call("Greedy", input).await;
    assert_eq!(result.structured.as_deref(), Some("{\"worked\":[false]}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_asked_about_before_the_first_call() {
    let bytes = with_manifest(guests::DOOR, FOR_SHELL);
    let script = json!({"scripts": ["echo hi"]});
    let bay = || {
        TestBay::new()
            .with_cages()
            .allow("Door")
            .grants(GrantTable::default())
    };

    // Nobody grants it: the refusal says what was asked for, and what helps.
    let running = bay().bytes(bytes.clone().into()).await.start();
    let tool = running.tools[0].clone();
    let wanted = CapabilityRequest {
        capability: Capability::Shell,
        reason: "to run git".into(),
    };
    let result = running.call("Door", script.clone()).await;
    assert!(result.is_error);
    assert_eq!(tool.ungranted().await.unwrap(), [wanted]);
    let text = result.text();
    assert!(text.contains("--grant Door=shell"), "{text}");
    assert!(text.contains("\"grants\": {\"sha256:"), "{text}");
    assert_eq!(tool.reach().await.unwrap(), Reach::default());

    // A yes holds as long as the session.
    let running = bay().says_yes().bytes(bytes.into()).await.start();
    let tool = running.tools[0].clone();
    let result = running.call("Door", script).await;
    assert!(result.text().contains("hi"), "{}", result.text());
    assert_eq!(tool.ungranted().await.unwrap(), []);
    let is_grant = |event: &AuditEvent| {
        matches!(event, AuditEvent::Decided(decided)
            if decided.ruling == Behavior::Allow && decided.reason.contains("requests `shell`"))
    };
    assert!(running.events.take().iter().any(is_grant));
}
