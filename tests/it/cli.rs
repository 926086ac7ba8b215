//! The program as people and scripts meet it: what it prints, where, and with which
//! exit code. 0 is good, 1 a call that failed, 2 a command that could not be done.

mod caged;
mod calls;
mod hostile;
mod plugins;
mod printing;
mod shell;
mod tour;

use serde_json::Value;

use crate::program::Project;

#[test]
fn tools_are_listed_without_compiling_any() {
    let project = Project::alone();
    let ran = project.run(&["tools"]).exits(0).quietly();
    assert!(ran.out.lines().count() >= 7, "{ran:?}");
    let ran = ran.prints(&["Read ", "Edit ", "Searches file contents"]);
    assert!(!ran.out.contains("third-party"), "{ran:?}");
    let kept: Vec<_> = std::fs::read_dir(project.cache()).unwrap().collect();
    assert!(kept.is_empty(), "{kept:?}");
}

#[test]
fn tools_are_listed_for_programs_with_their_schemas() {
    let project = Project::alone();
    let listed = project.run(&["tools", "--json"]).exits(0).quietly().json();
    let tools = listed["tools"].as_array().unwrap();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(tool["input_schema"]["type"], "object", "{name}");
        assert_eq!(tool["origin"], "built-in", "{name}");
        assert_eq!(tool["trust"], "built-in", "{name}");
    }
    assert_eq!(listed["problems"], Value::Array(Vec::new()));
    let kept: Vec<_> = std::fs::read_dir(project.cache()).unwrap().collect();
    assert!(kept.is_empty(), "{kept:?}");
}

#[test]
fn definitions_are_exported_and_plugins_never_move_a_built_in() {
    let project = Project::alone();
    let export = |args: &[&str]| project.run(args).exits(0).quietly().json();
    let messages = export(&["tools", "--export", "messages"]);
    let mcp = export(&["tools", "--export", "mcp"]);
    assert_eq!(messages[0]["input_schema"]["type"], "object", "{messages}");
    assert_eq!(mcp[0]["inputSchema"]["type"], "object", "{mcp}");
    // A plugin whose name would sort first.
    let plugin = project.file("quiet.wasm", toolbay_tests::guests::QUIET);
    let plugin = plugin.to_str().unwrap();
    let with = export(&["tools", "--export", "messages", "--plugin", plugin]);
    let prefix = messages.to_string();
    let prefix = prefix.strip_suffix(']').unwrap();
    assert!(with.to_string().starts_with(prefix), "{with}");
    assert_eq!(with.as_array().unwrap().last().unwrap()["name"], "Quiet");
}

#[test]
fn one_tool_is_shown_with_prompt_and_schema() {
    let project = Project::new();
    project.run(&["tools", "Grep"]).exits(0).quietly().prints(&[
        "Grep  Searches",
        "input schema",
        "\"output_mode\"",
    ]);
    let shown = project.run(&["tools", "Grep", "--json"]).exits(0).json();
    assert!(shown["prompt"].as_str().unwrap().len() > 100, "{shown}");
    project
        .run(&["tools", "Grepp"])
        .exits(2)
        .complains(&["no tool called Grepp", "Grep,"]);
}

#[test]
fn a_component_is_compiled_once_for_a_user() {
    let project = Project::alone();
    let files = || {
        let entries = std::fs::read_dir(project.cache()).unwrap();
        let mut all: Vec<_> = entries
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (
                    entry.file_name(),
                    entry.metadata().unwrap().modified().unwrap(),
                )
            })
            .collect();
        all.sort();
        all
    };
    let call = ["call", "TodoWrite", "{\"todos\": []}"];
    project.run(&call).exits(0);
    let first = files();
    assert_eq!(first.len(), 1, "{first:?}");
    project.run(&call).exits(0).quietly();
    let second = files();
    let names = |files: &[(std::ffi::OsString, _)]| -> Vec<_> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&first), names(&second));
}

#[test]
fn a_broken_settings_file_is_named_with_its_line() {
    let project = Project::new();
    for (text, parts) in [
        (
            "{\n  \"permissions\": {\n    oops",
            ["settings.json", "line 3"],
        ),
        ("{\n\"permisions\": {}}", ["settings.json", "`permisions`"]),
        (
            "{\"permissions\": {\"deny\": [\"Read(\"]}}",
            ["settings.json", "`Read(`"],
        ),
    ] {
        project.file(".toolbay/settings.json", text);
        project.run(&["tools"]).exits(2).complains(&parts);
        let report = project.run(&["doctor", "--json"]).exits(1).json();
        assert_eq!(report["healthy"], false, "{report}");
    }
}

#[test]
fn the_users_settings_hold_in_every_project() {
    let project = Project::new();
    project.file("a.txt", "a\n");
    let call = ["call", "Read", "{\"file_path\": \"a.txt\"}"];
    project.run(&call).exits(0);
    let deny = "{\"permissions\": {\"deny\": [\"Read\"]}}";
    std::fs::write(project.user_settings(), deny).unwrap();
    project.run(&call).exits(1).complains(&["deny rule `Read`"]);
}

#[test]
fn limits_in_the_settings_hold_for_the_tool_they_name() {
    let project = Project::new();
    project.file("a.txt", "a\n".repeat(1000));
    let call = ["call", "Read", "{\"file_path\": \"a.txt\"}"];
    project.run(&call).exits(0);
    let limits = "{\"limits\": {\"Read\": {\"output-bytes\": 100}}}";
    std::fs::write(project.user_settings(), limits).unwrap();
    project
        .run(&call)
        .exits(1)
        .complains(&["at most 100 are accepted"]);
}

#[test]
fn the_doctor_says_what_the_machine_offers() {
    let project = Project::alone();
    let report = project.run(&["doctor", "--json"]).exits(0).quietly().json();
    assert_eq!(report["healthy"], true);
    let names: Vec<&str> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    for name in ["program", "engine", "settings", "landlock"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    project
        .run(&["doctor"])
        .exits(0)
        .prints(&["program", "engine"]);
}

#[test]
fn completions_exist_for_the_usual_shells() {
    let project = Project::alone();
    for (shell, part) in [
        ("bash", "complete -F _toolbay"),
        ("zsh", "#compdef toolbay"),
        ("fish", "complete -c toolbay"),
    ] {
        let ran = project.run(&["completions", shell]).exits(0).quietly();
        ran.prints(&[part, "inspect", "doctor", "add-dir"]);
    }
    project
        .run(&["completions", "csh"])
        .exits(2)
        .complains(&["csh", "bash"]);
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let project = Project::alone();
    for flag in ["--cwd", "--add-dir"] {
        project
            .run(&["tools", flag, "not-here"])
            .exits(2)
            .complains(&["not-here"]);
    }
}
