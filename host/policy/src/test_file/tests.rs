use super::*;
use crate::{Anchors, Closed, Policy, Rules};

fn run(text: &str) -> Vec<TestOutcome> {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let policy = Policy::new(Rules::default(), vec!["/p".into()], &Closed::default());
    let file: TestFile = serde_json::from_str(text).unwrap();
    file.run(&Checker::new(policy, anchors, &|_, _| None))
        .unwrap()
}

#[test]
fn tests_pass_and_fail_with_a_reason() {
    let outcomes = run(r#"{
        "settings": { "permissions": {
            "deny": ["B(curl:*)"], "allow": ["B(npm run:*)"], "defaultMode": "dontAsk" } },
        "tests": [
            { "name": "a", "tool": "B", "input": { "command": "curl x" }, "expect": "deny" },
            { "name": "b", "tool": "B", "input": { "command": "curl x" }, "expect": "deny", "rule": "B(curl:*)" },
            { "name": "c", "tool": "B", "input": { "command": "curl x" }, "expect": "allow" },
            { "name": "d", "tool": "B", "input": { "command": "npm run x" }, "expect": "allow", "rule": "B(x)" },
            { "name": "e", "tool": "B", "input": { "command": "touch x" }, "expect": "deny" },
            { "name": "f", "tool": "B", "input": { "command": "touch x" }, "expect": "ask", "mode": "default" }
        ] }"#);
    let problems: Vec<Option<&str>> = outcomes
        .iter()
        .map(|outcome| outcome.problem.as_deref())
        .collect();
    assert_eq!(
        problems,
        [
            None,
            None,
            Some("expected allow, found deny: the deny rule `B(curl:*)` forbids it"),
            Some("expected `B(x)` to decide, found `B(npm run:*)`"),
            None,
            None,
        ]
    );
    assert!(outcomes[0].passed && !outcomes[2].passed);
}

#[test]
fn a_key_that_nobody_knows_is_an_error() {
    for bad in [
        r#"{}"#,
        r#"{"tests": [], "test": []}"#,
        r#"{"tests": [{"name": "a", "tool": "B", "input": {}, "expects": "deny"}]}"#,
        r#"{"tests": [{"name": "a", "tool": "B", "input": {}, "expect": "maybe"}]}"#,
        r#"{"settings": {"permission": {}}, "tests": []}"#,
        r#"{"settings": {"permissions": {"allows": []}}, "tests": []}"#,
    ] {
        assert!(serde_json::from_str::<TestFile>(bad).is_err(), "{bad}");
    }
}
