//! Several hooks on one call: which run, and what they say together.

use serde_json::json;

use super::{HookOpinion, Hooks, Project, hooks, kinds, success};

#[tokio::test]
async fn only_hooks_that_match_run_and_each_command_once() {
    let project = Project::new();
    let entry = |text: &str| json!({"type": "command", "command": format!("echo {text} >>log")});
    let hooks = Hooks::parse(
        &json!({
            "PreToolUse": [
                {"matcher": "Edit|Write", "hooks": [entry("twice"), entry("twice")]},
                {"matcher": "Ed.*", "hooks": [entry("twice")]},
                {"matcher": "Read", "hooks": [entry("never")]},
            ],
            "PostToolUse": [{"hooks": [entry("later")]}],
            "Stop": [{"hooks": [entry("never")]}],
        }),
        "settings.json",
    )
    .unwrap();
    let call = project.call("Edit", json!({}));
    hooks.before(&call).await;
    let log = || std::fs::read_to_string(project.folder.path().join("log")).unwrap();
    assert_eq!(log(), "twice\n");
    hooks.after(&call, &success()).await;
    assert_eq!(log(), "twice\nlater\n");
}

#[tokio::test]
async fn deny_beats_ask_beats_allow_in_any_order() {
    let project = Project::new();
    let says = |word: &str| {
        format!(
            r#"echo '{{"hookSpecificOutput": {{"permissionDecision": "{word}", "permissionDecisionReason": "{word}!"}}}}'"#
        )
    };
    let (allow, ask, deny) = (says("allow"), says("ask"), says("deny"));
    let call = project.call("Edit", json!({}));
    for (commands, expected) in [
        (vec![&allow, &ask], HookOpinion::Ask("ask!".into())),
        (vec![&deny, &allow, &ask], HookOpinion::Deny("deny!".into())),
        (vec![&allow, &ask, &deny], HookOpinion::Deny("deny!".into())),
    ] {
        let commands: Vec<&str> = commands.iter().map(|command| command.as_str()).collect();
        let before = hooks("PreToolUse", &commands).before(&call).await;
        assert_eq!(before.opinion, expected);
        let decisions = vec!["hook_permission_decision"; commands.len()];
        assert_eq!(kinds(&before.messages), decisions);
    }
    let two = hooks("PreToolUse", &["echo a >&2; exit 2", "echo b >&2; exit 2"]);
    let before = two.before(&call).await;
    assert_eq!(before.opinion, HookOpinion::Deny("a\nb".into()));
}

#[tokio::test]
async fn the_last_changed_input_in_the_settings_wins_however_slow_the_first() {
    let project = Project::new();
    let says = |wait: &str, by: &str| {
        format!(
            r#"sleep {wait}; echo '{{"hookSpecificOutput": {{"updatedInput": {{"by": "{by}"}}, "additionalContext": "{by}"}}}}'"#
        )
    };
    let strong = hooks("PreToolUse", &[&says("0.3", "first")]);
    let weak = hooks("PreToolUse", &[&says("0", "second")]);
    let call = project.call("Edit", json!({}));
    let before = strong.and(weak).before(&call).await;
    assert_eq!(before.updated_input, Some(json!({"by": "second"})));
    assert_eq!(before.context, ["first", "second"]);
    let notes = kinds(&before.messages);
    assert_eq!(
        notes
            .iter()
            .filter(|kind| *kind == "system_message")
            .count(),
        1
    );
}

/// A hook that answers this way, with a new input if there is one.
fn answers(word: &str, input: Option<&str>) -> String {
    let mut specific = serde_json::Map::new();
    if !word.is_empty() {
        specific.insert("permissionDecision".into(), json!(word));
        specific.insert("permissionDecisionReason".into(), json!(format!("{word}!")));
    }
    if let Some(command) = input {
        specific.insert("updatedInput".into(), json!({"command": command}));
    }
    format!("echo '{}'", json!({"hookSpecificOutput": specific}))
}

#[tokio::test]
async fn an_allow_counts_only_for_the_input_that_its_hook_knows() {
    let project = Project::new();
    let call = project.call("Bash", json!({"command": "ls"}));
    let allowed = || HookOpinion::Allow("allow!".into());
    let allow = answers("allow", None);
    let changes = answers("", Some("rm -rf ."));
    let both = answers("allow", Some("rm -rf ."));
    let same = answers("", Some("ls"));
    let other = answers("", Some("ls -l"));
    let ask = answers("ask", None);
    for (name, commands, opinion, runs) in [
        (
            "saw another",
            vec![&allow, &changes],
            HookOpinion::None,
            "rm -rf .",
        ),
        (
            "in any order",
            vec![&changes, &allow],
            HookOpinion::None,
            "rm -rf .",
        ),
        ("wrote it itself", vec![&both], allowed(), "rm -rf ."),
        (
            "wrote the same as another",
            vec![&both, &changes],
            allowed(),
            "rm -rf .",
        ),
        (
            "was overruled",
            vec![&both, &other],
            HookOpinion::None,
            "ls -l",
        ),
        (
            "overruled another",
            vec![&other, &both],
            allowed(),
            "rm -rf .",
        ),
        ("nothing changed", vec![&allow, &same], allowed(), "ls"),
        (
            "an ask counts all the same",
            vec![&ask, &changes],
            HookOpinion::Ask("ask!".into()),
            "rm -rf .",
        ),
    ] {
        let commands: Vec<&str> = commands.iter().map(|command| command.as_str()).collect();
        let before = hooks("PreToolUse", &commands).before(&call).await;
        assert_eq!(before.opinion, opinion, "{name}");
        let input = before.updated_input.unwrap_or_else(|| call.input.clone());
        assert_eq!(input, json!({"command": runs}), "{name}");
        let told = serde_json::to_string(&before.messages).unwrap();
        let dropped = commands.contains(&allow.as_str()) && opinion == HookOpinion::None;
        assert!(
            !dropped || told.contains("its allow does not count"),
            "{name}: {told}"
        );
    }
}

#[tokio::test]
async fn a_denied_call_gets_no_new_input() {
    let project = Project::new();
    let says = r#"echo '{"decision": "block", "hookSpecificOutput": {"updatedInput": {}}}'"#;
    let before = hooks("PreToolUse", &[says])
        .before(&project.call("Edit", json!({})))
        .await;
    assert!(matches!(before.opinion, HookOpinion::Deny(_)));
    assert_eq!(before.updated_input, None);
}

#[tokio::test]
async fn continue_false_stops_the_agent_and_not_the_call() {
    let project = Project::new();
    let stops = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
    let before = hooks("PreToolUse", &[stops, "exit 3"])
        .before(&project.call("Edit", json!({})))
        .await;
    assert_eq!(before.stop.as_deref(), Some("enough"));
    assert_eq!(before.opinion, HookOpinion::None);
    let summary = serde_json::to_value(before.messages.last().unwrap()).unwrap();
    assert_eq!(
        summary,
        json!({
            "kind": "stop_hook_summary",
            "event": "PreToolUse",
            "tool": "Edit",
            "call_id": "toolu_1",
            "hook_count": 2,
            "hooks": [stops, "exit 3"],
            "errors": ["it ended with exit code 3"],
            "prevented_continuation": true,
            "stop_reason": "enough",
        })
    );
}

#[tokio::test]
async fn hooks_after_a_call_change_its_output() {
    let project = Project::new();
    let says = |text: &str| {
        format!(r#"echo '{{"hookSpecificOutput": {{"updatedMCPToolOutput": "{text}"}}}}'"#)
    };
    let hooks = hooks("PostToolUse", &[&says("one"), &says("two")]);
    let call = project.call("mcp__a__b", json!({}));
    let after = hooks.after(&call, &success()).await;
    assert_eq!(after.updated_output, Some(json!("two")));
    assert_eq!(kinds(&after.messages), ["system_message"]);
}
