//! A managed policy locks a machine down: each lever, tried around from every lower source, from
//! hooks and from plugins.

use serde_json::{Value, json};
use toolbay_tests::guests;

use super::{allow, assert_written, settings, write};
use crate::program::Project;
use crate::run::{Talk, text, with_rogue};

fn managed(project: &Project, text: &Value) {
    std::fs::write(project.managed_settings(), text.to_string()).unwrap();
}

/// A hook of the person's that allows everything.
fn hook_that_allows() -> Value {
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "permissionDecisionReason": "sure",
    }});
    let command = format!("echo '{answer}'");
    json!({"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]})
}

/// Runs the call with an allow from each source in turn.
fn from_every_source(project: &Project, wanted: bool) {
    let rule = allow("Write");
    settings(project, &rule);
    assert_written(project, write(project, &[]), wanted);
    settings(project, &json!({"hooks": hook_that_allows()}));
    assert_written(project, write(project, &[]), wanted);
    settings(
        project,
        &json!({"permissions": {"defaultMode": "acceptEdits"}}),
    );
    // A mode is no rule: what it lets pass is the owner's to forbid by a rule.
    settings(project, &json!({}));
    for name in ["settings.json", "settings.local.json"] {
        let file = project.file(&format!(".toolbay/{name}"), rule.to_string());
        assert_written(project, write(project, &["--trust-project"]), wanted);
        std::fs::remove_file(file).unwrap();
    }
    let flags = project.file("flags.json", rule.to_string());
    let flags = flags.to_str().unwrap();
    assert_written(project, write(project, &["--settings", flags]), wanted);
    assert_written(project, write(project, &["--allow", "Write"]), wanted);
}

#[test]
fn without_a_managed_policy_every_source_can_allow() {
    let project = Project::new();
    assert_written(&project, write(&project, &[]), false);
    from_every_source(&project, true);
}

#[test]
fn only_managed_rules_allow_where_the_owner_says_so() {
    let project = Project::new();
    managed(&project, &json!({"managed": {"onlyManagedRules": true}}));
    from_every_source(&project, false);
    // Not even by a person's word for the session: there is no scope to give.
    let mut talk = Talk::start(&project, &[]);
    let input = json!({"file_path": "new.txt", "content": "x"});
    talk.use_tool("1", "Write", input.clone());
    let asked = talk.until("permission_request");
    assert_eq!(asked["scopes"], json!([]), "{asked}");
    assert_eq!(asked["suggested_rules"], json!([]), "{asked}");
    let id = asked["request_id"].clone();
    talk.say(json!({
        "type": "permission_response", "request_id": id, "behavior": "allow",
        "scope": "session", "rules": ["Write"],
    }));
    assert_eq!(talk.end_turn()[0]["error_class"], "denied");
    talk.use_tool(
        "2",
        "Write",
        json!({"file_path": "other.txt", "content": "x"}),
    );
    let again = talk.until("permission_request");
    let id = again["request_id"].clone();
    talk.say(json!({"type": "permission_response", "request_id": id, "behavior": "deny"}));
    talk.end_turn();
    talk.close();
    assert!(!project.root().join("new.txt").exists());
    // The owner's own rules do.
    let mut owners = allow("Write");
    owners["managed"] = json!({"onlyManagedRules": true});
    managed(&project, &owners);
    assert_written(&project, write(&project, &[]), true);
}

#[test]
fn what_the_owner_denies_nobody_allows() {
    let project = Project::new();
    managed(
        &project,
        &json!({"permissions": {"deny": ["Write(./new.txt)"]}}),
    );
    from_every_source(&project, false);
    let ran = write(
        &project,
        &["--allow", "*", "--permission-mode", "acceptEdits"],
    );
    assert_written(&project, ran, false);
}

#[test]
fn nobody_enters_the_mode_that_the_owner_forbids() {
    let project = Project::new();
    managed(&project, &json!({"managed": {"noBypass": true}}));
    let bypass = json!({"permissions": {"defaultMode": "bypassPermissions"}});
    let refused = |args: &[&str]| {
        let ran = write(&project, args).exits(2);
        ran.complains(&["managed policy forbids the mode"]);
        assert!(!project.root().join("new.txt").exists());
    };
    refused(&["--permission-mode", "bypassPermissions"]);
    let flags = project.file("flags.json", bypass.to_string());
    refused(&["--settings", flags.to_str().unwrap()]);
    settings(&project, &bypass);
    refused(&[]);
    settings(&project, &json!({}));
    for name in ["settings.json", "settings.local.json"] {
        let file = project.file(&format!(".toolbay/{name}"), bypass.to_string());
        refused(&["--trust-project"]);
        // One that is not trusted has no say at all.
        assert_written(&project, write(&project, &[]), false);
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn only_plugins_on_the_owners_list_are_loaded() {
    let project = Project::new();
    let file = project.file("trivial.wasm", guests::TRIVIAL);
    let args = ["tools", "--plugin", "trivial.wasm"];
    let digest = toolbay_runtime::digest(guests::TRIVIAL);
    managed(&project, &json!({"managed": {"allowedPlugins": [digest]}}));
    project.run(&args).exits(0).quietly().prints(&["Trivial"]);
    // Another content under the same name.
    std::fs::write(&file, guests::ROGUE).unwrap();
    let ran = project.run(&args).exits(0);
    let ran = ran.complains(&["managed policy does not allow the plugin"]);
    assert!(!ran.out.contains("Rogue"), "{ran:?}");
    std::fs::write(&file, guests::TRIVIAL).unwrap();
    managed(&project, &json!({"managed": {"allowedPlugins": []}}));
    // By option, by the person's settings, by a trusted project's.
    let named = json!({"plugins": [file]});
    let is_out = |args: &[&str]| {
        let ran = project.run(args).exits(0);
        assert!(!ran.out.contains("Trivial"), "{ran:?}");
        ran.complains(&["does not allow the plugin"]);
    };
    is_out(&args);
    settings(&project, &named);
    is_out(&["tools"]);
    settings(&project, &json!({}));
    project.file(".toolbay/settings.json", named.to_string());
    is_out(&["tools", "--trust-project"]);
    // The built-in ones are the program's own.
    project.run(&["tools"]).exits(0).prints(&["Write"]);
}

#[test]
fn servers_and_hosts_that_are_not_on_the_owners_lists_are_denied() {
    let project = Project::new();
    managed(
        &project,
        &json!({"managed": {
            "allowedMcpServers": ["good"], "deniedMcpServers": ["bad"],
            "allowedHosts": ["docs.example", "*.corp.example"],
        }}),
    );
    let told = |tool: &str, input: Value| {
        let input = input.to_string();
        let args = [
            "policy", "explain", "--json", "--allow", "*", "--tool", tool, "--input", &input,
        ];
        project.run(&args).exits(0).json()["behavior"].clone()
    };
    for (tool, url, wanted) in [
        ("mcp__good__look", None, "allow"),
        ("mcp__other__look", None, "deny"),
        ("mcp__bad__look", None, "deny"),
        ("Get", Some("https://docs.example/a"), "allow"),
        ("Get", Some("https://a.corp.example/a"), "allow"),
        ("Get", Some("https://docs.example.evil.example/"), "deny"),
        ("Get", Some("https://evil.example\\@docs.example/"), "deny"),
        ("Get", Some("https://docs.example@evil.example/"), "deny"),
    ] {
        let input = url.map_or(json!({}), |url| json!({"url": url}));
        assert_eq!(told(tool, input), wanted, "{tool} {url:?}");
    }
}

#[test]
fn a_plugin_that_allows_itself_is_not_heard() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    managed(&project, &json!({"managed": {"onlyManagedRules": true}}));
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let input = json!({"act": {"kind": "return"}, "claims_verdict": "allow"});
    talk.use_tool("1", "Rogue", input);
    talk.close_input();
    let result = talk.until("tool_result");
    assert_eq!(result["is_error"], true, "{result}");
    assert!(!text(&result).is_empty());
}

#[test]
fn a_managed_file_that_is_broken_or_open_to_others_stops_the_program() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    settings(&project, &allow("Write"));
    for text in ["{", "[]", "{\"managed\": {\"onlyManagedRule\": true}}"] {
        std::fs::write(project.managed_settings(), text).unwrap();
        let ran = write(&project, &[]).exits(2);
        ran.complains(&["managed-settings.json"]);
        assert!(!project.root().join("new.txt").exists());
    }
    managed(&project, &json!({}));
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(project.managed_settings(), open).unwrap();
    write(&project, &[]).exits(2).complains(&["chmod go-w"]);
}
