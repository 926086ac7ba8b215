//! Folders that must be complete: one folder is one tool, and no guest is left unexplained.

use serde_json::Value;

use crate::assert_tidy;
use crate::tree::{entries, read, root};

/// Fewer cases than this prove nothing about a tool.
const LEAST_CASES: usize = 3;

const PARTS: [&str; 4] = ["Cargo.toml", "src/lib.rs", "schema.json", "prompt.md"];

fn schema_problem(text: &str) -> Option<String> {
    match serde_json::from_str::<Value>(text) {
        Err(error) => Some(format!("is no JSON: {error}")),
        Ok(schema) if schema.get("type") != Some(&"object".into()) => {
            Some("does not say `\"type\": \"object\"`".into())
        }
        Ok(_) => None,
    }
}

/// How many cases a file of cases holds: one, or a list.
fn count_cases(text: &str) -> Result<usize, String> {
    let cases = match serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))? {
        Value::Array(cases) => cases,
        case => vec![case],
    };
    let is_case = |case: &Value| {
        case.get("name").is_some_and(Value::is_string)
            && case.get("steps").is_some_and(Value::is_array)
    };
    match cases.iter().position(|case| !is_case(case)) {
        Some(index) => Err(format!("case {} lacks a name or steps", index + 1)),
        None => Ok(cases.len()),
    }
}

/// The guests that the text does not name, each by its folder or file.
fn unexplained(guests: &[String], readme: &str) -> Vec<String> {
    let is_missing = |name: &&String| !readme.contains(&format!("`{name}`"));
    guests
        .iter()
        .filter(is_missing)
        .map(|name| format!("tests/guests/README.md does not explain `{name}`"))
        .collect()
}

fn incomplete(plugin: &str) -> Vec<String> {
    let folder = format!("plugins/{plugin}");
    let missing: Vec<String> = PARTS
        .iter()
        .map(|part| format!("{folder}/{part}"))
        .filter(|path| {
            std::fs::read_to_string(root().join(path)).is_ok_and(|text| text.trim().is_empty())
                || !root().join(path).is_file()
        })
        .map(|path| format!("{path} is missing or empty"))
        .collect();
    if !missing.is_empty() {
        return missing;
    }
    let schema = format!("{folder}/schema.json");
    let mut findings: Vec<String> = schema_problem(&read(&schema))
        .map(|problem| format!("{schema} {problem}"))
        .into_iter()
        .collect();
    let mut cases = 0;
    for file in entries(&format!("{folder}/cases"))
        .iter()
        .filter(|name| name.ends_with(".json"))
    {
        let path = format!("{folder}/cases/{file}");
        match count_cases(&read(&path)) {
            Ok(count) => cases += count,
            Err(problem) => findings.push(format!("{path} {problem}")),
        }
    }
    if cases < LEAST_CASES {
        findings.push(format!(
            "{folder}/cases has {cases} cases; at least {LEAST_CASES}"
        ));
    }
    findings
}

#[test]
fn every_plugin_folder_is_a_whole_tool() {
    let plugins: Vec<String> = entries("plugins")
        .iter()
        .filter_map(|name| name.strip_suffix('/').map(str::to_owned))
        .collect();
    assert!(!plugins.is_empty(), "no plugin found");
    assert_tidy(
        plugins
            .iter()
            .flat_map(|plugin| incomplete(plugin))
            .collect(),
    );
}

#[test]
fn every_guest_is_explained() {
    let guests: Vec<String> = entries("tests/guests")
        .into_iter()
        .filter(|name| name.ends_with('/') || name.ends_with(".wat"))
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    assert!(!guests.is_empty(), "no guest found");
    assert_tidy(unexplained(&guests, &read("tests/guests/README.md")));
}

#[test]
fn a_schema_must_be_json_and_an_object() {
    for (text, is_fine) in [
        ("{\"type\": \"object\"}", true),
        ("{\"type\": \"string\"}", false),
        ("{}", false),
        ("{", false),
    ] {
        assert_eq!(schema_problem(text).is_none(), is_fine, "{text}");
    }
}

#[test]
fn cases_are_counted_alone_and_in_lists() {
    let case = "{\"name\": \"a\", \"steps\": []}";
    for (text, expected) in [
        (case.to_owned(), Some(1)),
        (format!("[{case}, {case}]"), Some(2)),
        ("[{\"name\": \"a\"}]".to_owned(), None),
        ("".to_owned(), None),
    ] {
        assert_eq!(count_cases(&text).ok(), expected, "{text}");
    }
}

#[test]
fn a_guest_without_a_line_is_missed() {
    let guests = ["rogue".to_owned(), "a.wat".to_owned()];
    assert_eq!(unexplained(&guests, "`rogue` and `a.wat`").len(), 0);
    assert_eq!(unexplained(&guests, "`rogue` and rogue-a.wat").len(), 1);
}

#[test]
fn a_plugin_that_is_not_there_is_incomplete() {
    assert_eq!(incomplete("there-is-no-such-plugin").len(), PARTS.len());
}

/// Features that build no plugin in. Each is off unless asked for: what most people do not
/// need, they do not build.
const OTHER_FEATURES: [(&str, &str); 1] =
    [("otlp", "sends spans to a collector, with crates of its own")];

/// What the features of the program and the folders of plugins disagree about.
fn unlike(features: &toml::Table, plugins: &[String]) -> Vec<String> {
    let default = features.get("default").and_then(toml::Value::as_array);
    let default: Vec<&str> = default
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .collect();
    let mut findings = Vec::new();
    for plugin in plugins {
        if !features.contains_key(plugin) || !default.contains(&plugin.as_str()) {
            findings.push(format!(
                "host/toolbay/Cargo.toml has no default feature `{plugin}`, so plugins/{plugin} is not built in"
            ));
        }
    }
    for feature in features.keys().filter(|feature| *feature != "default") {
        let is_other = OTHER_FEATURES.iter().any(|(name, _)| name == feature);
        if is_other && default.contains(&feature.as_str()) {
            findings.push(format!("the feature `{feature}` must not be a default"));
        }
        if !is_other && !plugins.contains(feature) {
            findings.push(format!("the feature `{feature}` has no folder in plugins/"));
        }
    }
    findings
}

#[test]
fn each_plugin_has_the_feature_that_builds_it_in() {
    let manifest: toml::Table = read("host/toolbay/Cargo.toml").parse().unwrap();
    let features = manifest["features"].as_table().unwrap();
    let folders = entries("plugins");
    let plugins: Vec<String> = folders
        .iter()
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    assert_tidy(unlike(features, &plugins));

    let one: toml::Table = "default = [\"a\"]\na = []\nb = []".parse().unwrap();
    assert_eq!(unlike(&one, &["a".into()]).len(), 1);
    assert_eq!(unlike(&one, &["a".into(), "b".into()]).len(), 1);
    assert_eq!(unlike(&one, &["c".into()]).len(), 3);
    let other: toml::Table = "default = [\"a\"]\na = []\notlp = []".parse().unwrap();
    assert_eq!(unlike(&other, &["a".into()]).len(), 0);
    let other: toml::Table = "default = [\"a\", \"otlp\"]\na = []\notlp = []"
        .parse()
        .unwrap();
    assert_eq!(unlike(&other, &["a".into()]).len(), 1);
}
