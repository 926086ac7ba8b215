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
async fn continue_false_stops_the_agent_and_denies_the_call() {
    let project = Project::new();
    let stops = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
    let before = hooks("PreToolUse", &[stops, "exit 3"])
        .before(&project.call("Edit", json!({})))
        .await;
    assert_eq!(before.stop.as_deref(), Some("enough"));
    // Whoever wants everything to stop does not want this call to be the last thing that happens.
    assert_eq!(before.opinion, HookOpinion::Deny("enough".into()));
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

/// A guard sees what another hook made of the call, and a hook that wrote it is not asked again.
#[tokio::test]
async fn hooks_that_do_not_know_the_input_that_runs_are_asked_again() {
    let project = Project::new();
    let guard = "if grep -q evil; then echo 'not that' >&2; exit 2; fi";
    let says = |input: &str| answers("", Some(input));
    let evil = says("evil");
    let other = says("other");
    let allow = answers("allow", None);
    let same = answers("ask", Some("evil"));
    for (name, commands, opinion) in [
        (
            "a guard before it",
            vec![guard, &evil],
            HookOpinion::Deny("not that".into()),
        ),
        (
            "a guard after it",
            vec![&evil, guard],
            HookOpinion::Deny("not that".into()),
        ),
        ("its author alone", vec![&evil], HookOpinion::None),
        (
            "another of the same mind",
            vec![&same, &evil],
            HookOpinion::None,
        ),
        (
            "an allow is no more than silence",
            vec![&allow, &evil],
            HookOpinion::None,
        ),
        (
            "one that would change it again",
            vec![&other, &evil],
            HookOpinion::Ask(format!(
                "the hook `{other}` would change the input again after it was changed, and is not \
                 followed"
            )),
        ),
    ] {
        let hooks = hooks("PreToolUse", &commands);
        let mut call = project.call("Bash", json!({"command": "ls"}));
        let before = hooks.before(&call).await;
        assert!(!matches!(before.opinion, HookOpinion::Deny(_)), "{name}");
        call.input = before.updated_input.clone().unwrap();
        let again = hooks.again(&call, &before).await;
        assert_eq!(again.opinion, opinion, "{name}");
        assert_eq!(again.updated_input, None, "{name}");
    }
}

/// What is run is what was there when the session began, until somebody says otherwise.
#[tokio::test]
async fn a_hook_whose_script_changed_does_not_run() {
    let project = Project::new();
    let command = project.script("guard.sh", "#!/bin/sh\nexit 0\n");
    std::fs::write(project.folder.path().join("later.py"), "").unwrap();
    let command = format!("{command} && python3 later.py notes.txt");
    let open = json!({"type": "command", "command": command, "onError": "open"});
    let value = json!({"PreToolUse": [{"hooks": [open]}], "PostToolUse": [{"hooks": [open]}]});
    let root = project.folder.path().canonicalize().unwrap();
    let hooks = Hooks::parse(&value, "a.json").unwrap();
    let hooks = hooks
        .pinned(&crate::hooks::NameGround::of_project(&root, None))
        .unwrap();
    let call = project.call("Edit", json!({}));
    let none = |before: &crate::hooks::Before| before.opinion == HookOpinion::None;
    assert!(none(&hooks.before(&call).await));
    assert!(hooks.changed("Edit", &[]).await.is_empty());
    type Step<'a> = (&'a str, &'a dyn Fn(), bool);
    let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
    let steps: [Step<'_>; 4] = [
        ("notes of its own", &|| write("notes.txt", "x"), false),
        (
            "its script",
            &|| write("guard.sh", "#!/bin/sh\ntouch ran\n"),
            true,
        ),
        (
            "what it starts",
            &|| write("later.py", "open('ran', 'w')"),
            true,
        ),
        (
            "gone",
            &|| std::fs::remove_file(root.join("later.py")).unwrap(),
            true,
        ),
    ];
    for (name, step, is_change) in steps {
        step();
        let changed = hooks.changed("Edit", &[]).await;
        assert_eq!(changed.is_empty(), !is_change, "{name}");
        let before = hooks.before(&call).await;
        match is_change {
            false => assert!(none(&before), "{name}"),
            true => {
                let HookOpinion::Deny(reason) = &before.opinion else {
                    panic!("{name}: {before:?}");
                };
                assert!(reason.contains("not what it was"), "{name}: {reason}");
                assert!(!root.join("ran").exists(), "{name}");
                let after = hooks.after(&call, &success()).await;
                assert_eq!(kinds(&after.messages), ["hook_error_during_execution"]);
                assert!(!root.join("ran").exists(), "{name}");
            }
        }
        // What was shown is accepted; what comes behind the answer is not.
        if let Some(changed) = changed.into_iter().next() {
            changed.accept();
        }
    }
}
