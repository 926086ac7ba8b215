use super::*;
use crate::{Closed, Managed, Trusting};

fn checker() -> Checker<'static> {
    let anchors = Anchors {
        home: Some("/home/me".into()),
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let own = Rule::parse("Own", &anchors).unwrap();
    let rules = Rules {
        deny: vec![own],
        ..Rules::default()
    };
    let closed = Closed {
        unwritable_names: vec![".own".into()],
        ..Closed::default()
    };
    let roots = vec!["/p".into()];
    let policy = Policy::governed(
        rules,
        roots,
        &closed,
        Trusting::default(),
        Managed::default(),
    );
    Checker::new(policy.with_home("/home/me"), anchors, &|tool, input| {
        (tool == "Look").then(|| KnownTool {
            subjects: vec![(SubjectKind::Path, "/at".into())],
            claims: Claims {
                read_only: input.get("write").is_none(),
                ..Claims::STRICT
            },
            reach: Reach::ALL,
        })
    })
}

#[test]
fn each_line_gets_its_answer() {
    for (line, behavior, rule) in [
        (r#"{"tool":"B","input":{"command":"ls"}}"#, "allow", None),
        (r#"{"tool":"B","input":{"command":"npm i"}}"#, "ask", None),
        (
            r#"{"tool":"B","input":{"command":"npm i x"},"rules":{"allow":["B(npm i:*)"]}}"#,
            "allow",
            Some("B(npm i:*)"),
        ),
        (
            r#"{"tool":"B","input":{"command":"ls; curl x"},"rules":{"allow":["B"],"deny":["B(curl:*)"],"ask":[]}}"#,
            "deny",
            Some("B(curl:*)"),
        ),
        (
            r#"{"tool":"B","input":{"command":"npm i"},"mode":"dontAsk"}"#,
            "deny",
            None,
        ),
        (
            r#"{"tool":"B","input":{"command":"npm i"},"mode":"acceptEdits"}"#,
            "ask",
            None,
        ),
        (r#"{"tool":"E","input":{"file_path":"a"}}"#, "ask", None),
        (
            r#"{"tool":"E","input":{"file_path":"a"},"mode":"acceptEdits"}"#,
            "allow",
            None,
        ),
        (
            r#"{"tool":"E","input":{"file_path":"../a"},"mode":"acceptEdits"}"#,
            "ask",
            None,
        ),
        (
            r#"{"tool":"E","input":{"path":"x/../.own/a"},"mode":"bypassPermissions"}"#,
            "deny",
            None,
        ),
        (
            r#"{"tool":"E","input":{"notebook_path":["a",5]},"rules":{"allow":["E(./**)"]}}"#,
            "ask",
            None,
        ),
        (
            r#"{"tool":"W","input":{"url":"https://example.com"},"rules":{"allow":["W(domain:example.com)"]}}"#,
            "allow",
            Some("W(domain:example.com)"),
        ),
        (r#"{"tool":"Look","input":{"at":"a"}}"#, "allow", None),
        (
            r#"{"tool":"Look","input":{"at":"a","write":1}}"#,
            "ask",
            None,
        ),
        (r#"{"tool":"Own","input":{}}"#, "deny", Some("Own")),
        // Rules of a line stand instead of the policy's.
        (r#"{"tool":"Own","input":{},"rules":{}}"#, "ask", None),
    ] {
        let answer = checker().check(line).unwrap();
        assert_eq!(
            answer.behavior.word(),
            behavior,
            "{line}: {}",
            answer.reason
        );
        assert_eq!(answer.rule.as_deref(), rule, "{line}");
        assert_eq!(answer.source, rule.map(|_| "command-line"), "{line}");
    }
}

#[test]
fn an_answer_has_its_fields_in_order() {
    let line = r#"{"id":7,"tool":"B","input":{"command":"git add x"}}"#;
    let answer = checker().check(line).unwrap();
    assert_eq!(
        serde_json::to_string(&answer).unwrap(),
        r#"{"id":7,"behavior":"ask","reason":"it may change things: `add` is not known to be harmless for `git`","rule":null,"source":null,"suggestions":["B(git add:*)"]}"#
    );
}

#[test]
fn a_line_that_is_none_says_why() {
    for (line, part) in [
        ("{", "not a line"),
        (r#"{"tool":"B"}"#, "input"),
        (r#"{"tool":"B","input":{},"rule":{}}"#, "rule"),
        (r#"{"tool":"B","input":{},"mode":"yolo"}"#, "yolo"),
        (r#"{"tool":"B","input":{},"rules":{"deny":["B("]}}"#, "B("),
    ] {
        let error = checker().check(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn a_call_is_guessed_as_strictly_as_its_fields_demand() {
    let files = Reach {
        files: true,
        search: true,
        ..Reach::default()
    };
    let checker = checker();
    let policy = Policy::new(Rules::default(), vec!["/p".into()], &Closed::default());
    for (input, read_only, reach) in [
        (serde_json::json!({"command": "ls"}), true, Reach::ALL),
        (serde_json::json!({"command": "rm x"}), false, Reach::ALL),
        (
            serde_json::json!({"command": ["ls", "rm x"]}),
            false,
            Reach::ALL,
        ),
        (
            serde_json::json!({"command": ["rm x", "ls"]}),
            false,
            Reach::ALL,
        ),
        (
            serde_json::json!({"command": ["ls", "pwd"]}),
            true,
            Reach::ALL,
        ),
        (
            serde_json::json!({"path": "a", "command": "ls"}),
            true,
            Reach::ALL,
        ),
        (serde_json::json!({"path": "a"}), false, files),
        (serde_json::json!({"other": "a"}), false, Reach::ALL),
    ] {
        let request = checker.request(&policy, "X", &input);
        assert_eq!(request.claims.read_only, read_only, "{input}");
        assert_eq!(request.reach, reach, "{input}");
    }
}
