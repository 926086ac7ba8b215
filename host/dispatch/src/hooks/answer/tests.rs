//! Answers as scripts give them, good and bad.

use serde_json::json;

use super::*;
use crate::hooks::settings;

fn hook(event: HookEvent) -> Hook {
    let value = json!({event.name(): [{"hooks": [{"type": "command", "command": "guard"}]}]});
    settings::parse(&value, "a.json").unwrap().remove(0)
}

fn answer(event: HookEvent, how: How, stdout: impl AsRef<[u8]>, stderr: &str) -> Answer {
    let ended = Ended {
        how,
        stdout: stdout.as_ref().into(),
        stderr: stderr.into(),
        truncated: false,
        held_open: false,
    };
    read(&hook(event), &ended)
}

fn said(said: Said) -> Answer {
    Answer::Said(Box::new(said))
}

fn decided(word: PermissionWord, reason: &str) -> Answer {
    said(Said {
        decision: Some((word, reason.into())),
        ..Said::default()
    })
}

#[test]
fn json_before_a_call_is_understood() {
    use PermissionWord::{Allow, Ask, Deny};
    let specific = |value: Value| json!({"hookSpecificOutput": value});
    for (value, expected) in [
        (json!({}), said(Said::default())),
        (
            json!({"suppressOutput": true, "something": ["new"]}),
            said(Said::default()),
        ),
        (
            json!({"continue": true, "stopReason": "x"}),
            said(Said::default()),
        ),
        (
            json!({"decision": null, "hookSpecificOutput": null}),
            said(Said::default()),
        ),
        (
            json!({"decision": "approve", "reason": "fine"}),
            decided(Allow, "fine"),
        ),
        (
            json!({"decision": "block", "reason": " no\n"}),
            decided(Deny, "no"),
        ),
        (
            json!({"decision": "block"}),
            decided(Deny, "the hook `guard` denies it and gives no reason"),
        ),
        (
            specific(
                json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "a"}),
            ),
            decided(Allow, "a"),
        ),
        (
            specific(json!({"permissionDecision": "ask", "permissionDecisionReason": "b"})),
            decided(Ask, "b"),
        ),
        (
            specific(json!({"permissionDecision": "deny", "permissionDecisionReason": "c"})),
            decided(Deny, "c"),
        ),
        // Both forms at once: the stricter, with its own reason.
        (
            json!({"decision": "block", "reason": "old", "hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "new"}}),
            decided(Deny, "old"),
        ),
        (
            json!({"decision": "approve", "reason": "old", "hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "new"}}),
            decided(Ask, "new"),
        ),
        (
            specific(
                json!({"updatedInput": {"a": 1}, "additionalContext": "know", "updatedMCPToolOutput": 1}),
            ),
            said(Said {
                updated_input: Some(json!({"a": 1})),
                context: Some("know".into()),
                ..Said::default()
            }),
        ),
        (
            json!({"continue": false, "stopReason": "enough", "systemMessage": "look"}),
            said(Said {
                stop: Some("enough".into()),
                message: Some("look".into()),
                ..Said::default()
            }),
        ),
        (
            json!({"continue": false, "systemMessage": ""}),
            said(Said {
                stop: Some("the hook `guard` stops the agent and gives no reason".into()),
                ..Said::default()
            }),
        ),
    ] {
        let text = format!(" \n{value}\n");
        let answer = answer(HookEvent::PreToolUse, How::Exit(0), text, "noise");
        assert_eq!(answer, expected, "{value}");
    }
}

#[test]
fn json_after_a_call_is_understood() {
    let value = json!({
        "decision": "block",
        "reason": "the tests fail",
        "hookSpecificOutput": {
            "additionalContext": "run them again",
            "updatedMCPToolOutput": "changed",
            "updatedInput": {"too": "late"},
            "permissionDecision": "deny",
        },
    });
    for (event, updated_output) in [
        (HookEvent::PostToolUse, Some(json!("changed"))),
        (HookEvent::PostToolUseFailure, None),
    ] {
        let expected = Said {
            feedback: Some("the tests fail".into()),
            context: Some("run them again".into()),
            updated_output,
            ..Said::default()
        };
        let answer = answer(event, How::Exit(0), value.to_string(), "");
        assert_eq!(answer, said(expected));
    }
}

#[test]
fn exit_two_blocks_whatever_the_output_says() {
    let allow = r#"{"decision": "approve"}"#;
    let before = answer(HookEvent::PreToolUse, How::Exit(2), allow, " not here\n");
    assert_eq!(before, decided(PermissionWord::Deny, "not here"));
    let silent = answer(HookEvent::PreToolUse, How::Exit(2), "", "\n");
    let reason = "the hook `guard` blocks it and gives no reason";
    assert_eq!(silent, decided(PermissionWord::Deny, reason));
    for event in [HookEvent::PostToolUse, HookEvent::PostToolUseFailure] {
        let expected = Said {
            feedback: Some("mend it".into()),
            ..Said::default()
        };
        assert_eq!(
            answer(event, How::Exit(2), allow, "mend it"),
            said(expected)
        );
    }
}

#[test]
fn exit_two_blocks_even_when_its_reason_was_cut() {
    let ended = Ended {
        how: How::Exit(2),
        stdout: Vec::new(),
        stderr: vec![b'x'; MOST_OUTPUT],
        truncated: true,
        held_open: false,
    };
    let Answer::Said(said) = read(&hook(HookEvent::PreToolUse), &ended) else {
        panic!("it said no");
    };
    let (word, reason) = said.decision.unwrap();
    assert_eq!(word, PermissionWord::Deny);
    assert!(reason.len() < 60_000 && reason.contains("left out"));
}

#[test]
fn plain_output_is_for_people() {
    for (stdout, message) in [
        (&b""[..], None),
        (b" \n", None),
        (b"formatted 3 files\n", Some("formatted 3 files")),
        (b"[1, 2]", Some("[1, 2]")),
        (b"done: {\"a\": 1}", Some("done: {\"a\": 1}")),
        (b"\xff\xfe", Some("\u{fffd}\u{fffd}")),
    ] {
        let expected = Said {
            message: message.map(str::to_owned),
            ..Said::default()
        };
        let answer = answer(HookEvent::PreToolUse, How::Exit(0), stdout, "");
        assert_eq!(answer, said(expected), "{stdout:?}");
    }
}

#[test]
fn what_is_no_answer_is_an_error() {
    let deep = format!(
        "{{\"hookSpecificOutput\":{{\"updatedInput\":{{\"a\":{}1{}}}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let exit = How::Exit;
    for (how, stdout, stderr, part) in [
        (exit(0), "{", "", "begins like JSON"),
        (exit(0), "{'decision': 'block'}", "", "begins like JSON"),
        (exit(0), "{} and more", "", "trailing"),
        (
            exit(0),
            "done: {\"decision\": \"block\"}",
            "",
            "does not begin with JSON",
        ),
        (
            exit(0),
            "[{\"continue\": false}]",
            "",
            "does not begin with JSON",
        ),
        (exit(0), "\u{feff}{'decision'}", "", "begins like JSON"),
        (exit(0), r#"{"decision": "deny"}"#, "", "unknown variant"),
        (
            exit(0),
            r#"{"decision": "block", "decision": "approve"}"#,
            "",
            "duplicate",
        ),
        (exit(0), r#"{"continue": "false"}"#, "", "invalid type"),
        (
            exit(0),
            r#"{"hookSpecificOutput": {"permissionDecision": "DENY"}}"#,
            "",
            "unknown variant",
        ),
        (
            exit(0),
            r#"{"hookSpecificOutput": {"updatedInput": [1]}}"#,
            "",
            "invalid type",
        ),
        (
            exit(0),
            r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse"}}"#,
            "",
            "answers to PostToolUse, but was asked at PreToolUse",
        ),
        (exit(0), &deep, "", "recursion limit"),
        (
            exit(0),
            r#"{"permissionDecision": "deny"}"#,
            "",
            "belongs into `hookSpecificOutput`",
        ),
        (exit(1), "", "it hurts\n", "exit code 1: it hurts"),
        (exit(1), r#"{"decision": "approve"}"#, "", "exit code 1"),
        (exit(127), "", "", "exit code 127"),
        (How::Signal(11), "", "", "signal 11"),
        (How::TimedOut, "{}", "", "longer than 60s"),
        (How::Flooded, "{}", "", "wrote more than"),
    ] {
        // Only an exit code of its own choice is less than a hook that broke.
        let is_chosen = matches!(how, How::Exit(1));
        match (
            answer(HookEvent::PreToolUse, how, stdout, stderr),
            is_chosen,
        ) {
            (Answer::Failed(error), true) | (Answer::Broken(error), false) => {
                assert!(error.contains(part), "{error}");
            }
            (other, _) => panic!("{part}: {other:?}"),
        }
    }
}

#[test]
fn cut_output_is_an_error_unless_the_answer_is_whole() {
    let cut = |stdout: &str| Ended {
        how: How::Exit(0),
        stdout: stdout.into(),
        stderr: Vec::new(),
        truncated: true,
        held_open: false,
    };
    let hook = hook(HookEvent::PreToolUse);
    for text in ["a long story", r#"{"decision": "blo"#] {
        assert!(
            matches!(read(&hook, &cut(text)), Answer::Broken(_)),
            "{text}"
        );
    }
    let whole = cut(r#"{"decision": "block", "reason": "no"}"#);
    assert_eq!(read(&hook, &whole), decided(PermissionWord::Deny, "no"));
}
