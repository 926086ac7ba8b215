//! Settings that are right, and all that can be wrong with them.

use serde_json::json;

use super::*;

fn one(entry: Value) -> Result<Vec<Hook>, HookSettingsError> {
    parse(&json!({"PreToolUse": [{"hooks": [entry]}]}), "a.json")
}

#[test]
fn hooks_are_read_in_their_order_with_their_defaults() {
    let hooks = parse(
        &json!({
            "PreToolUse": [
                {"matcher": "Edit|Write", "hooks": [
                    {"type": "command", "command": "first"},
                    {"type": "command", "command": "second", "timeout": 1.5, "onError": "closed", "statusMessage": "…"},
                ]},
                {"hooks": [{"type": "command", "command": "third", "onError": "open"}]},
                {"matcher": "*", "hooks": []},
            ],
            "PostToolUseFailure": [{"matcher": "", "hooks": [{"type": "command", "command": "fourth"}]}],
        }),
        "a.json",
    )
    .unwrap();
    let read: Vec<_> = hooks
        .iter()
        .map(|hook| (hook.event, &*hook.command, hook.time, hook.on_error))
        .collect();
    let minute = Duration::from_secs(60);
    let (before, failed) = (HookEvent::PreToolUse, HookEvent::PostToolUseFailure);
    // JSON objects have no order; lists do.
    for expected in [
        (before, "first", minute, OnError::Usual),
        (
            before,
            "second",
            Duration::from_millis(1500),
            OnError::Closed,
        ),
        (before, "third", minute, OnError::Open),
        (failed, "fourth", minute, OnError::Usual),
    ] {
        assert!(read.contains(&expected), "{expected:?} is not in {read:?}");
    }
    let ours: Vec<_> = hooks.iter().filter(|hook| hook.event == before).collect();
    assert_eq!(ours.len(), 3);
    assert!(ours.is_sorted_by_key(|hook| {
        ["first", "second", "third"]
            .iter()
            .position(|command| **command == *hook.command)
    }));
    assert!(hooks.iter().all(|hook| &*hook.settings == "a.json"));
}

#[test]
fn events_of_other_parts_are_left_alone() {
    for name in [
        "Notification",
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "PreCompact",
        "PermissionRequest",
    ] {
        let value = json!({name: [{"hooks": [{"type": "prompt", "prompt": "?"}]}]});
        assert!(parse(&value, "a.json").unwrap().is_empty(), "{name}");
    }
    assert!(parse(&json!({}), "a.json").unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (value, place, problem) in [
        (json!(null), "hooks", "in braces"),
        (json!([]), "hooks", "in braces"),
        (
            json!({"PreTooluse": []}),
            "hooks.PreTooluse",
            "no such event",
        ),
        (json!({"PreToolUse": {}}), "hooks.PreToolUse", "a list"),
        (
            json!({"PreToolUse": ["x"]}),
            "hooks.PreToolUse[0]",
            "`matcher` and `hooks`",
        ),
        (
            json!({"PreToolUse": [{}]}),
            "hooks.PreToolUse[0]",
            "`hooks` is missing",
        ),
        (
            json!({"PreToolUse": [{"hooks": [], "matchers": "Edit"}]}),
            "hooks.PreToolUse[0]",
            "`matchers` is not known",
        ),
        (
            json!({"PreToolUse": [{"hooks": []}, {"matcher": "(", "hooks": []}]}),
            "hooks.PreToolUse[1].matcher",
            "no regular expression",
        ),
        (
            json!({"PreToolUse": [{"matcher": 7, "hooks": []}]}),
            "hooks.PreToolUse[0].matcher",
            "text",
        ),
        (
            json!({"PostToolUse": [{"hooks": {"type": "command"}}]}),
            "hooks.PostToolUse[0].hooks",
            "a list",
        ),
    ] {
        let error = parse(&value, "a.json").unwrap_err();
        assert_eq!((&*error.file, &*error.place), ("a.json", place));
        assert!(error.problem.contains(problem), "{error}");
    }
}

#[test]
fn a_wrong_entry_is_named_with_its_place() {
    for (entry, key, problem) in [
        (json!("echo"), "", "`type` and `command`"),
        (json!({"command": "x"}), "", "`type` is missing"),
        (
            json!({"type": "prompt", "prompt": "?"}),
            ".type",
            "`prompt` hooks do not run",
        ),
        (json!({"type": 1}), ".type", "text"),
        (json!({"type": "command"}), "", "`command` is missing"),
        (
            json!({"type": "command", "command": ""}),
            ".command",
            "not empty",
        ),
        (
            json!({"type": "command", "command": " \n"}),
            ".command",
            "not empty",
        ),
        (
            json!({"type": "command", "command": "a\0b"}),
            ".command",
            "NUL",
        ),
        (
            json!({"type": "command", "command": ["a"]}),
            ".command",
            "text",
        ),
        (
            json!({"type": "command", "command": "x", "timeout": 0}),
            ".timeout",
            "above 0",
        ),
        (
            json!({"type": "command", "command": "x", "timeout": -1}),
            ".timeout",
            "above 0",
        ),
        (
            json!({"type": "command", "command": "x", "timeout": 1e300}),
            ".timeout",
            "at most",
        ),
        (
            json!({"type": "command", "command": "x", "timeout": "60"}),
            ".timeout",
            "number",
        ),
        (
            json!({"type": "command", "command": "x", "onError": "close"}),
            ".onError",
            "\"closed\"",
        ),
        (
            json!({"type": "command", "command": "x", "onError": null}),
            ".onError",
            "\"open\"",
        ),
        // Misspelt, it would leave the door open.
        (
            json!({"type": "command", "command": "x", "onerror": "closed"}),
            "",
            "`onerror`",
        ),
    ] {
        let error = one(entry.clone()).unwrap_err();
        let place = format!("hooks.PreToolUse[0].hooks[0]{key}");
        assert_eq!(error.place, place, "{entry}");
        assert!(error.problem.contains(problem), "{entry}: {error}");
    }
    let error = one(json!({"type": "command"})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.json: hooks.PreToolUse[0].hooks[0]: `command` is missing"
    );
}
