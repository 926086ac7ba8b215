//! Inputs that are made to end the host: nested a hundred thousand deep, or of a few megabytes
//! that become gigabytes once they are read. Each ends with a sentence, and the host stays.

mod heavy;

use serde_json::{Value, json};

use crate::program::Project;

const DEEP: usize = 100_000;

/// Texts that lead a reader deep into itself, by name.
fn nested() -> Vec<(&'static str, String)> {
    let pair = |open: &str, close: &str| open.repeat(DEEP) + "a" + &close.repeat(DEEP);
    vec![
        ("braces", pair("{", "}")),
        ("open braces", "{".repeat(DEEP)),
        ("groups", pair("{ ", "; }")),
        ("sub-shells", pair("(", ")")),
        ("substitutions", pair("$(", ")")),
        ("quoted substitutions", pair("\"$(", ")\"")),
        ("defaults", pair("${a:-", "}")),
        ("arithmetic", pair("$((", "))")),
        ("sets", pair("[", "]")),
        ("alternatives", "{a,b}".repeat(DEEP)),
        ("negations", "! ".repeat(DEEP) + "a"),
        ("backslashes", "\\".repeat(DEEP)),
        ("single quotes", "'".repeat(DEEP)),
        ("double quotes", "\"".repeat(DEEP)),
        ("backticks", "`".repeat(DEEP)),
    ]
}

/// The same within the length of script that is read with care.
fn nested_in_short_scripts() -> Vec<(&'static str, String)> {
    let pair = |open: &str, close: &str, depth| open.repeat(depth) + "a" + &close.repeat(depth);
    vec![
        ("braces", pair("{", "}", 4_000)),
        ("groups", pair("{ ", "; }", 2_000)),
        ("defaults", pair("${a:-", "}", 1_500)),
        ("substitutions", pair("$(", ")", 3_000)),
        ("sub-shells", pair("(", ")", 4_000)),
        ("awk", format!("awk '{}'", pair("{", "}", 4_000))),
        ("jq", format!("jq '{}'", pair("[", "]", 4_000))),
        ("test", format!("test {}", pair("\\( ", " \\)", 1_200))),
        ("sed", format!("sed '{}'", pair("{", "}", 4_000))),
    ]
}

/// Runs these calls in one session, and answers with their results.
fn results(project: &Project, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut input = String::new();
    for (at, (name, given)) in calls.iter().enumerate() {
        let call =
            json!({"type": "tool_use", "id": format!("t{at}"), "name": name, "input": given});
        input.push_str(&format!("{call}\n{{\"type\":\"turn_end\"}}\n"));
    }
    let ran = project.run_with_input(&["run"], input.as_bytes()).exits(0);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    let events = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let found: Vec<Value> = events
        .filter(|event: &Value| event["type"] == "tool_result")
        .collect();
    assert_eq!(found.len(), calls.len(), "{}", ran.err);
    found
}

#[test]
fn a_nested_pattern_or_command_ends_its_call_and_not_the_session() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let scripts = nested().into_iter().chain(nested_in_short_scripts());
    for (what, text) in scripts {
        let calls = [
            ("Glob", json!({"pattern": text})),
            ("Grep", json!({"pattern": "one", "glob": text})),
            ("Bash", json!({"command": text})),
            ("Read", json!({"file_path": text})),
            ("Read", json!({"file_path": "a.txt"})),
        ];
        let found = results(&project, &calls);
        assert_eq!(found[2]["is_error"], true, "{what}: {}", found[2]);
        assert_ne!(found[4]["is_error"], true, "{what}: {}", found[4]);
        if text.matches('{').count() > 32 {
            for result in &found[..2] {
                assert_eq!(result["is_error"], true, "{what}");
                assert!(result.to_string().contains("a pattern may have"), "{what}");
                assert!(result.to_string().len() < 5_000, "{what}");
            }
        }
    }
}

#[test]
fn nested_scripts_are_checked_and_explained() {
    let project = Project::new();
    for (what, script) in nested().into_iter().chain(nested_in_short_scripts()) {
        let ran = project.run_with_input(&["shell", "check", "-"], script.as_bytes());
        assert!(matches!(ran.code, Some(0 | 1)), "{what}: {ran:?}");
        let input = json!({"command": script}).to_string();
        let args = ["policy", "explain", "--tool", "Bash", "--input", "-"];
        let ran = project.run_with_input(&args, input.as_bytes());
        assert!(
            ran.code.is_some() && !ran.err.contains("panicked"),
            "{what}: {ran:?}"
        );
    }
}

#[test]
fn a_nested_rule_is_an_error_that_names_it_and_its_file() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let nested = |depth: usize| "{".repeat(depth) + "a" + &"}".repeat(depth);
    let wide = |depth: usize| "{a,b}".repeat(depth);
    let of_project = project.root().join(".toolbay/settings.json");
    std::fs::create_dir_all(of_project.parent().unwrap()).unwrap();
    // A file of the user's own may have longer rules, none of which goes further than a pattern may.
    let files = [
        (of_project.clone(), DEEP, "a rule of a project may have"),
        (of_project, 40, "a pattern may have"),
        (project.user_settings(), DEEP, "a pattern may have"),
    ];
    for (file, depth, says) in files {
        for list in ["deny", "ask", "allow"] {
            for content in [nested(depth), wide(depth)] {
                for tool in ["Read", "Edit", "Bash"] {
                    let rule = format!("{tool}({content})");
                    let settings = json!({"permissions": {list: [rule]}});
                    std::fs::write(&file, settings.to_string()).unwrap();
                    let read = ["call", "Read", r#"{"file_path":"a.txt"}"#];
                    for args in [&read[..], &["policy", "lint"], &["doctor"]] {
                        let ran = project.run(args);
                        let said = format!("{}{}", ran.out, ran.err);
                        assert!(
                            matches!(ran.code, Some(1 | 2)),
                            "{list} {tool} {args:?}: {ran:?}"
                        );
                        let start = format!("{tool}({}", &content[..20]);
                        for part in ["settings.json", &start, says] {
                            assert!(said.contains(part), "{list} {tool} {args:?}: {said}");
                        }
                        assert!(said.len() < 3_000, "{list} {tool} {args:?}");
                    }
                }
            }
        }
        std::fs::remove_file(&file).unwrap();
    }
}
