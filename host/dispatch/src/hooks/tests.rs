//! Hooks as people write them, in bash, python and node, run for real.
#![cfg(target_os = "linux")]

/// Hooks that break, hang, flood, or are ended.
mod misbehaving;
/// Several hooks on one call.
mod together;

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A project with scripts in it.
pub(super) struct Project {
    pub(super) folder: TempDir,
}

impl Project {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes a script, and gives the command that people put into their settings.
    pub(super) fn script(&self, name: &str, text: &str) -> String {
        let file = self.folder.path().join(name);
        // Under another name first: a file that is open for writing does not execute.
        let draft = self.folder.path().join(format!("{name}.draft"));
        std::fs::write(&draft, text).unwrap();
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(draft, file).unwrap();
        format!("\"$CLAUDE_PROJECT_DIR\"/{name}")
    }

    // The tests pass on the PATH that they were given, to find python and node.
    #[allow(clippy::disallowed_methods)]
    pub(super) fn call(&self, tool: &str, input: Value) -> HookedCall {
        HookedCall {
            session_id: "session-1".into(),
            transcript: String::new(),
            cwd: self.folder.path().into(),
            project: self.folder.path().into(),
            permission_mode: "default".into(),
            environment: ["PATH", "HOME"]
                .iter()
                .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
                .collect(),
            tool: tool.into(),
            aliases: Vec::new(),
            call_id: "toolu_1".into(),
            input,
            kill: KillSwitch::new(),
            cage: None,
            path_rules: Arc::default(),
        }
    }
}

/// Hooks for every tool, from their commands.
pub(super) fn hooks(event: &str, commands: &[&str]) -> Hooks {
    let entries: Vec<Value> = commands
        .iter()
        .map(|command| json!({"type": "command", "command": command}))
        .collect();
    Hooks::parse(&json!({event: [{"hooks": entries}]}), "settings.json").unwrap()
}

fn success() -> Ending {
    Ending::Success {
        response: json!({"filePath": "a.py", "success": true}),
    }
}

/// The kinds of messages, in their order.
pub(super) fn kinds(messages: &[HookMessage]) -> Vec<String> {
    let kind = |message| serde_json::to_value(message).unwrap()["kind"].clone();
    messages
        .iter()
        .map(|message| kind(message).as_str().unwrap().to_owned())
        .collect()
}

/// Keeps secrets out of reach: by exit code.
const BASH_GUARD: &str = r#"#!/usr/bin/env bash
set -euo pipefail
read -r told
path=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p' <<<"$told")
case "$path" in
  *.env) echo "secrets stay closed: $path" >&2; exit 2 ;;
esac
"#;

/// Looks at commands: by JSON.
const PYTHON_JUDGE: &str = r#"#!/usr/bin/env python3
import json, sys
told = json.load(sys.stdin)
command = told["tool_input"].get("command", "")
def answer(word, reason):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": told["hook_event_name"],
        "permissionDecision": word,
        "permissionDecisionReason": reason}}))
if command.startswith("rm "):
    answer("deny", "it deletes")
elif command.startswith("git push"):
    answer("ask", "others will see it")
elif command.startswith("ls"):
    answer("allow", "it only looks")
"#;

/// Changes the input, adds context, says something to people.
const NODE_MENDER: &str = r#"#!/usr/bin/env node
let text = "";
process.stdin.on("data", (part) => (text += part));
process.stdin.on("end", () => {
  const told = JSON.parse(text);
  console.log(JSON.stringify({
    systemMessage: `mended in ${process.env.CLAUDE_PROJECT_DIR === process.env.TOOLBAY_PROJECT_DIR && process.env.CLAUDE_PROJECT_DIR === told.cwd}`,
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: { ...told.tool_input, command: told.tool_input.command + " --dry-run" },
      additionalContext: "pushes are rehearsed here",
    },
  }));
});
"#;

/// Runs checks afterwards.
const PYTHON_CHECKER: &str = r#"#!/usr/bin/env python3
import json, sys
told = json.load(sys.stdin)
if told["hook_event_name"] == "PostToolUse":
    assert told["tool_response"]["success"] is True, told
    print("line 3 is too long", file=sys.stderr)
    sys.exit(2)
assert told["error"] == "it broke" and told["is_interrupt"] is False, told
print(json.dumps({"continue": False, "stopReason": "look at the disk first",
    "hookSpecificOutput": {"additionalContext": "the disk is full"}}))
"#;

#[tokio::test]
async fn a_bash_hook_denies_by_its_exit_code() {
    let project = Project::new();
    let hooks = hooks("PreToolUse", &[&project.script("guard.sh", BASH_GUARD)]);
    for (path, expected) in [
        (
            "config/.env",
            HookOpinion::Deny("secrets stay closed: config/.env".into()),
        ),
        ("src/main.py", HookOpinion::None),
    ] {
        let call = project.call("Edit", json!({"file_path": path}));
        let before = hooks.before(&call).await;
        assert_eq!(before.opinion, expected, "{:?}", before.messages);
    }
}

#[tokio::test]
async fn a_python_hook_decides_by_json() {
    let project = Project::new();
    let hooks = hooks("PreToolUse", &[&project.script("judge.py", PYTHON_JUDGE)]);
    for (command, expected) in [
        ("rm -rf .", HookOpinion::Deny("it deletes".into())),
        ("git push", HookOpinion::Ask("others will see it".into())),
        ("ls", HookOpinion::Allow("it only looks".into())),
        ("make", HookOpinion::None),
    ] {
        let call = project.call("Bash", json!({"command": command}));
        let before = hooks.before(&call).await;
        assert_eq!(before.opinion, expected, "{:?}", before.messages);
    }
}

#[tokio::test]
async fn a_node_hook_changes_the_input_and_adds_context() {
    let project = Project::new();
    let hooks = hooks("PreToolUse", &[&project.script("mend.js", NODE_MENDER)]);
    let call = project.call("Bash", json!({"command": "git push", "timeout": 5}));
    let before = hooks.before(&call).await;
    assert_eq!(
        before.updated_input,
        Some(json!({"command": "git push --dry-run", "timeout": 5})),
        "{:?}",
        before.messages
    );
    assert_eq!(before.context, ["pushes are rehearsed here"]);
    assert_eq!(before.opinion, HookOpinion::None);
    assert_eq!(
        kinds(&before.messages),
        ["hook_additional_context", "system_message"]
    );
    let said = serde_json::to_value(&before.messages[1]).unwrap();
    assert_eq!(said["message"], "mended in true");
}

#[tokio::test]
async fn hooks_after_a_call_give_feedback_or_stop_the_agent() {
    let project = Project::new();
    let command = project.script("check.py", PYTHON_CHECKER);
    let both = hooks("PostToolUse", &[&command]).and(hooks("PostToolUseFailure", &[&command]));
    let call = project.call("Edit", json!({}));

    let after = both.after(&call, &success()).await;
    assert_eq!(
        after.feedback,
        ["line 3 is too long"],
        "{:?}",
        after.messages
    );
    assert_eq!(after.stop, None);

    let failure = Ending::Failure {
        error: "it broke".into(),
        interrupted: false,
    };
    let after = both.after(&call, &failure).await;
    assert_eq!(after.stop.as_deref(), Some("look at the disk first"));
    assert_eq!(after.context, ["the disk is full"]);
    assert_eq!(
        kinds(&after.messages),
        [
            "hook_additional_context",
            "hook_stopped_continuation",
            "stop_hook_summary"
        ]
    );
}

#[tokio::test]
async fn hooks_are_told_everything_about_the_call() {
    let project = Project::new();
    let hooks = hooks("PreToolUse", &["cat > told.json"]);
    let call = project.call("Edit", json!({"text": "ä\n\"'$(x)`\u{0}"}));
    hooks.before(&call).await;
    let told = std::fs::read(project.folder.path().join("told.json")).unwrap();
    assert_eq!(told.last(), Some(&b'\n'));
    let told: Value = serde_json::from_slice(&told).unwrap();
    let expected = json!({
        "session_id": "session-1",
        "transcript_path": "",
        "cwd": project.folder.path(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"text": "ä\n\"'$(x)`\u{0}"},
        "tool_use_id": "toolu_1",
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn hooks_get_the_given_environment_and_no_more() {
    let project = Project::new();
    let mut call = project.call("Edit", json!({}));
    call.environment = vec![
        ("GIVEN".into(), "yes".into()),
        ("CLAUDE_PROJECT_DIR".into(), "/elsewhere".into()),
    ];
    let hooks = hooks("PreToolUse", &["/usr/bin/env | /usr/bin/sort"]);
    let before = hooks.before(&call).await;
    let shown = serde_json::to_value(&before.messages[0]).unwrap()["message"].clone();
    let folder = project.folder.path().display();
    let mut lines: Vec<&str> = shown.as_str().unwrap().lines().collect();
    lines.retain(|line| {
        !["PWD=", "OLDPWD=", "SHLVL=", "_="]
            .iter()
            .any(|own| line.starts_with(own))
    });
    assert_eq!(
        lines.join("\n"),
        format!("CLAUDE_PROJECT_DIR={folder}\nGIVEN=yes\nTOOLBAY_PROJECT_DIR={folder}")
    );
}

#[tokio::test]
async fn without_hooks_nothing_happens() {
    let project = Project::new();
    let call = project.call("Edit", json!({}));
    let none = Hooks::default().and(Hooks::default());
    assert!(none.is_empty());
    assert_eq!(none.before(&call).await, Before::default());
    assert_eq!(none.after(&call, &success()).await, After::default());
}
