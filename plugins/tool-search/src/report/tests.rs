#![allow(clippy::unwrap_used)]

use super::*;
use crate::find::{find, index};
use crate::query::Query;

const TOOLS: [&str; 5] = [
    "Read! | | Reads a file.",
    "NotebookEdit | jupyter ipynb | Edits a notebook.",
    "chat_send* | | Sends.",
    "chat_list | | Lists.",
    "chat_drop | | Drops.",
];

fn answer(tools: &[&str], query: &str, most: usize) -> Outcome {
    let entries = index(tools);
    let found = find(&entries, &Query::parse(query).unwrap(), most);
    outcome(query, &entries, &found)
}

fn first_text(outcome: &Outcome) -> &str {
    match outcome.content.first() {
        Some(Content::Text(text)) => text,
        _ => "",
    }
}

#[test]
fn sentences_say_what_each_tool_was_before() {
    let many: Vec<String> = (10..22).map(|number| format!("T{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (tools, query, most, wanted) in [
        (
            &TOOLS[..],
            "jupyter",
            5,
            "Loaded: NotebookEdit; to be called like any other tool.",
        ),
        (
            &TOOLS,
            "chat",
            2,
            "Loaded: chat_drop, chat_list; to be called like any other tool. \
             1 more tool fits less well; for others use other words or a larger max_results.",
        ),
        (
            &TOOLS,
            "select:read,chat_send,NotebookEdit,chat_lost",
            5,
            "Loaded: NotebookEdit; to be called like any other tool. Loaded before: chat_send. \
             Never deferred, so always there: Read. \
             There is no tool called `chat_lost`; perhaps chat_list is meant.",
        ),
        (
            &TOOLS,
            "calendar",
            5,
            "No deferred tool fits `calendar`. 4 tools are deferred: NotebookEdit, chat_drop, \
             chat_list, chat_send. Try other words, or pick by name with `select:NAME`.",
        ),
        (
            &TOOLS[..2],
            "+read file",
            5,
            "No deferred tool fits `+read file`. Never deferred, so always there: Read. \
             1 tool is deferred: NotebookEdit. Try other words, or pick by name with \
             `select:NAME`.",
        ),
        (
            &TOOLS[..1],
            "select:Frobnicate",
            5,
            "There is no tool called `Frobnicate`. \
             No tool of this session is deferred: all are on the list already.",
        ),
        (
            &[],
            "anything",
            5,
            "No deferred tool fits `anything`. \
             No tool of this session is deferred: all are on the list already.",
        ),
        (
            &many,
            "zebra",
            5,
            "No deferred tool fits `zebra`. 12 tools are deferred, such as T10, T11, T12, T13, \
             T14, T15, T16, T17, T18, T19. Try other words, or pick by name with `select:NAME`.",
        ),
    ] {
        let answer = answer(tools, query, most);
        assert_eq!(first_text(&answer), wanted, "{query}");
        assert!(!answer.failed, "{query}");
    }
}

#[test]
fn only_what_is_deferred_and_not_loaded_is_to_be_loaded() {
    for (query, wanted) in [
        ("select:Read,chat_send", vec![]),
        ("select:nothing", vec![]),
        ("nothing", vec![]),
        ("select:chat_send,NOTEBOOKEDIT", vec!["NotebookEdit"]),
        ("chat", vec!["chat_drop", "chat_list"]),
    ] {
        let modifiers = answer(&TOOLS, query, 5).modifiers;
        let wanted: Vec<ContextModifier> = if wanted.is_empty() {
            Vec::new()
        } else {
            let names = wanted.into_iter().map(Into::into).collect();
            vec![ContextModifier::LoadTools(names)]
        };
        assert_eq!(modifiers, wanted, "{query}");
    }
}

#[test]
fn every_tool_found_has_its_definition_and_stands_in_the_data() {
    for (query, wanted) in [
        ("chat", vec!["chat_drop", "chat_list", "chat_send"]),
        ("select:Read,chat_send", vec!["Read", "chat_send"]),
        ("nothing", vec![]),
    ] {
        let answer = answer(&TOOLS, query, 5);
        let defined: Vec<String> = answer
            .plain_text()
            .lines()
            .skip(1)
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap();
                assert_eq!(value["input_schema"], json!({"type": "object"}), "{line}");
                value["name"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(defined, wanted, "{query}");
        let data: Value = serde_json::from_str(answer.structured.as_deref().unwrap()).unwrap();
        assert_eq!(
            data,
            json!({"matches": wanted, "total_deferred": 4}),
            "{query}"
        );
    }
}

#[test]
fn people_get_one_line() {
    for (query, wanted) in [
        ("jupyter", "Found 1 tool: NotebookEdit"),
        ("select:Read,chat_send", "Found 2 tools: Read, chat_send"),
        ("nothing", "Found no tools"),
    ] {
        assert_eq!(summary(&answer(&TOOLS, query, 5)), wanted, "{query}");
    }
    assert_eq!(summary(&Outcome::text("plain")), "plain");
    for (query, wanted) in [
        (" a b\n", "Search tools: a b".to_owned()),
        ("a\n\u{1b}[2Jb", "Search tools: a  [2Jb".to_owned()),
        (
            &"é".repeat(2_000),
            format!("Search tools: {}…", "é".repeat(200)),
        ),
    ] {
        assert_eq!(headline(query), wanted, "{query:?}");
    }
}
