//! Which tools are in a pool, and who answers to which name.

mod lists;

use serde_json::{Value, json};

use toolbay_policy::{Anchors, Closed, Policy, Rule, Rules};

use super::*;
use crate::testing::FakeTool;

const EVERYTHING: PoolSetting<'_> = PoolSetting {
    only: None,
    denied: &|_| false,
    enabled: &|_| true,
};

fn pool(tools: Vec<FakeTool>) -> Pool {
    let (pool, problems) = assemble(tools, &EVERYTHING);
    assert_eq!(problems, [""; 0]);
    pool
}

fn assemble(tools: Vec<FakeTool>, setting: &PoolSetting<'_>) -> (Pool, Vec<String>) {
    Pool::assemble(tools.into_iter().map(FakeTool::shared).collect(), setting)
}

fn built_ins() -> Vec<FakeTool> {
    vec![
        FakeTool::named("Write"),
        FakeTool::named("Read").alias("View"),
        FakeTool::named("Notebook").deferred(),
        FakeTool::named("Edit"),
    ]
}

fn brought(name: &str) -> FakeTool {
    FakeTool::named(name).brought_in(&format!("/plugins/{name}.wasm"))
}

fn names_of(definitions: &[Value]) -> Vec<&str> {
    let names = definitions.iter().map(|one| one["name"].as_str());
    names.map(Option::unwrap).collect()
}

#[test]
fn built_ins_stand_first_and_each_block_is_sorted() {
    let mut tools = vec![brought("Zip"), brought("Agenda"), brought("mcp__git__log")];
    tools.extend(built_ins());
    let wanted = [
        "Edit",
        "Notebook",
        "Read",
        "Write",
        "Agenda",
        "Zip",
        "mcp__git__log",
    ];
    assert_eq!(pool(tools).names(), wanted);
}

#[test]
fn another_plugin_moves_no_byte_of_what_came_before() {
    let text = |tools: Vec<FakeTool>| {
        let definitions = pool(tools).messages_definitions();
        let mut text = serde_json::to_string(&definitions).unwrap();
        // The bracket that ends the list is not part of the prefix.
        assert_eq!(text.pop(), Some(']'));
        text
    };
    let alone = text(built_ins());
    for plugins in [
        vec!["Aardvark"],
        vec!["Zip", "Agenda"],
        vec!["Edit2", "mcp__a__Edit"],
    ] {
        // Wherever they stand in what is given.
        for first in [true, false] {
            let mut tools: Vec<FakeTool> = plugins.iter().map(|name| brought(name)).collect();
            let at = if first { tools.len() } else { 0 };
            tools.splice(at..at, built_ins());
            let with = text(tools);
            assert!(
                with.len() > alone.len() && with.starts_with(&alone),
                "{with}"
            );
        }
    }
}

#[test]
fn the_first_of_a_name_wins_and_a_built_in_is_always_first() {
    let (pool, problems) = assemble(
        vec![
            brought("Read"),
            brought("Zip").info(|info| info.summary = "first".into()),
            brought("Zip").info(|info| info.summary = "second".into()),
            FakeTool::named("Read").info(|info| info.summary = "own".into()),
        ],
        &EVERYTHING,
    );
    assert_eq!(pool.names(), ["Read", "Zip"]);
    let summary = |name: &str| pool.find(name).unwrap().tool.info().summary.clone();
    assert_eq!(
        (summary("Read"), summary("Zip")),
        ("own".into(), "first".into())
    );
    assert_eq!(
        problems,
        [
            "two tools are called Read: the built-in one and /plugins/Read.wasm; the first one stays",
            "two tools are called Zip: /plugins/Zip.wasm and /plugins/Zip.wasm; the first one stays",
        ]
    );
}

#[test]
fn an_alias_takes_nobodys_name() {
    let setting = PoolSetting {
        denied: &|name| name == "Gone",
        ..EVERYTHING
    };
    let (pool, problems) = assemble(
        vec![
            FakeTool::named("Read").alias("View").alias("Read"),
            FakeTool::named("Write").alias("Read"),
            FakeTool::named("Off"),
            brought("Zip").alias("View").alias("Pack").alias("Off"),
        ],
        &PoolSetting {
            enabled: &|name| name != "Off",
            ..setting
        },
    );
    let found = |name: &str| {
        let found = pool.find(name);
        found.map(|found| (found.tool.info().name.clone(), found.by_alias))
    };
    for (name, wanted) in [
        ("Read", Some(("Read", false))),
        ("View", Some(("Read", true))),
        ("Pack", Some(("Zip", true))),
        // The tool of that name is kept out; nobody answers in its stead.
        ("Off", None),
        ("read", None),
        ("", None),
    ] {
        let wanted = wanted.map(|(name, by_alias)| (name.to_owned(), by_alias));
        assert_eq!(found(name), wanted, "{name}");
    }
    assert_eq!(
        problems,
        [
            "Write cannot also be called Read: a tool has that name",
            "Zip cannot also be called View: Read is called so already",
            "Zip cannot also be called Off: a tool has that name",
        ]
    );
}

#[test]
fn what_may_not_be_used_is_not_in_the_pool() {
    let tools = || {
        let mut tools = built_ins();
        tools.extend(["mcp__git__log", "mcp__git__diff", "mcp__git2__log", "Off"].map(brought));
        tools
    };
    let only = [
        "Read".to_owned(),
        "Edit".to_owned(),
        "View".to_owned(),
        "None".to_owned(),
    ];
    let by_rule = |rule: &str| {
        let policy = denying(rule);
        move |name: &str| policy.removes(name)
    };
    let on = |name: &str| name != "Off";
    for (only, rule, wanted) in [
        (
            None,
            "",
            "Edit Notebook Read Write mcp__git2__log mcp__git__diff mcp__git__log",
        ),
        (None, "mcp__git", "Edit Notebook Read Write mcp__git2__log"),
        (
            None,
            "mcp__git__*",
            "Edit Notebook Read Write mcp__git2__log",
        ),
        (
            None,
            "mcp__git__log",
            "Edit Notebook Read Write mcp__git2__log mcp__git__diff",
        ),
        // An old name in a rule means the tool.
        (
            None,
            "View",
            "Edit Notebook Write mcp__git2__log mcp__git__diff mcp__git__log",
        ),
        (Some(&only[..]), "", "Edit Read"),
        (Some(&only[..]), "Edit", "Read"),
        (Some(&[][..]), "", ""),
    ] {
        let setting = PoolSetting {
            only,
            denied: &by_rule(rule),
            enabled: &on,
        };
        let (pool, problems) = assemble(tools(), &setting);
        assert_eq!(pool.names().join(" "), wanted, "{rule}");
        assert_eq!(problems, [""; 0]);
        assert!(pool.find("Off").is_none());
    }
}

#[test]
fn a_tool_with_an_impossible_info_is_left_out() {
    for tool in [
        brought("a b"),
        brought(""),
        brought("Zip").alias("../Read"),
        brought("Zip").info(|info| info.input_schema = "{".into()),
        brought("Zip").schema(&json!([])),
        brought("Zip").info(|info| info.summary = "x".repeat(1 << 20)),
    ] {
        let (pool, problems) = assemble(vec![tool, FakeTool::named("Read")], &EVERYTHING);
        assert_eq!(pool.names(), ["Read"]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("left out"), "{problems:?}");
    }
}

#[test]
fn a_schema_is_compiled_once_and_a_bad_one_harms_its_tool_alone() {
    let bad = json!({"type": "object", "$ref": "http://example.com/schema"});
    let pool = pool(vec![
        FakeTool::named("Bad").schema(&bad),
        FakeTool::named("Good"),
    ]);
    let (one, two) = (pool.find("Good").unwrap(), pool.find("Good").unwrap());
    let (first, second) = (one.schema.get(), two.schema.get());
    assert!(first.is_ok() && Arc::ptr_eq(&first, &second));
    let bad = pool.find("Bad").unwrap().schema.get();
    let error = bad.as_ref().as_ref().err();
    assert!(error.is_some_and(|error| error.contains("refers to")));
}

#[test]
fn a_name_that_leads_nowhere_gets_a_suggestion() {
    let pool = pool(built_ins());
    for (name, wanted) in [
        ("read", Some("Read")),
        ("NotebookEdit", Some("Notebook")),
        ("Wirte", Some("Write")),
        ("Fetch", None),
    ] {
        assert_eq!(pool.nearest(name).as_deref(), wanted, "{name}");
    }
}

/// A policy with one deny rule, or none.
fn denying(rule: &str) -> Policy {
    let anchors = Anchors {
        home: None,
        cwd: "/".into(),
        settings: "/".into(),
    };
    let given = [rule].into_iter().filter(|rule| !rule.is_empty());
    let deny = given.map(|rule| Rule::parse(rule, &anchors).unwrap());
    let rules = Rules {
        deny: deny.collect(),
        ..Rules::default()
    };
    Policy::new(rules, Vec::new(), &Closed::default())
}
