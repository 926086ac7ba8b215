#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::find::index;
use crate::query::Query;

fn ranked(lines: &[&str], query: &str) -> String {
    let Query::Search(search) = Query::parse(query).unwrap() else {
        panic!("{query} searches nothing");
    };
    let index = index(lines);
    let names: Vec<&str> = rank(&index, &search)
        .into_iter()
        .map(|tool| tool.name.as_str())
        .collect();
    names.join(" ")
}

#[test]
fn places_and_wholeness_decide() {
    let tools = [
        "g_none | wind | Weather.",
        "f_piece_of_summary | | Resailing.",
        "e_summary | | Sets a sail.",
        "d_piece_of_hint | sailor |",
        "c_hint | sail |",
        "b_sailor",
        "a_sail",
    ];
    assert_eq!(
        ranked(&tools, "sail"),
        "a_sail b_sailor c_hint d_piece_of_hint e_summary f_piece_of_summary"
    );
    // All lower places together do not reach the next higher one.
    let tools = [
        "c | sail sail sail | Sail, sail and sail.",
        "b_sailor",
        "a_sail",
    ];
    assert_eq!(ranked(&tools, "sail"), "a_sail b_sailor c");
    let tools = ["b_sailor | sail | Sail.", "a_sail"];
    assert_eq!(ranked(&tools, "sail"), "a_sail b_sailor");
}

#[test]
fn words_are_found_in_every_spelling_of_a_name() {
    for (name, query) in [
        ("NotebookEdit", "notebook"),
        ("NotebookEdit", "NOTEBOOK"),
        ("NotebookEdit", "notebooks"),
        ("NotebookEdit", "editing"),
        ("NotebookEdit", "notebookedit"),
        ("NotebookEdit", "notebook_edit"),
        ("NotebookEdit", "noteb"),
        ("mcp__git-hub__openIssue", "GitHub"),
        ("mcp__github__open_issue", "GitHub"),
        ("mcp__github__open_issue", "issues"),
        ("mcp__chat__postMessage", "post-message"),
        ("HTTPFetch", "http"),
    ] {
        assert_eq!(ranked(&[name, "Other"], query), name, "{query}");
    }
}

#[test]
fn too_little_in_common_is_no_match() {
    for (tool, query) in [
        // Two letters are in everything, and a short word is no stem.
        ("Notebook", "ot"),
        ("GoTool", "goal"),
        // Built-ins that the model has are not searched.
        ("Sail!", "sail"),
        ("a | | Fine.", "sail"),
    ] {
        assert_eq!(ranked(&[tool], query), "", "{query} in {tool}");
    }
}

#[test]
fn more_words_that_fit_rank_higher_and_equals_go_by_name() {
    let tools = ["chat_send_b", "chat_send_a", "chat_list", "mail_send"];
    for (query, wanted) in [
        ("chat send", "chat_send_a chat_send_b chat_list mail_send"),
        ("send mail", "mail_send chat_send_a chat_send_b"),
        ("chat", "chat_list chat_send_a chat_send_b"),
    ] {
        assert_eq!(ranked(&tools, query), wanted, "{query}");
    }
}

#[test]
fn the_whole_name_comes_first() {
    let tools = [
        "chat_send_message | chat send message | Chat: send a message.",
        "chat_send",
    ];
    for query in ["chat send", "chat_send", "ChatSend", "+chat send"] {
        assert_eq!(
            ranked(&tools, query),
            "chat_send chat_send_message",
            "{query}"
        );
    }
}

#[test]
fn demanded_words_must_be_in_the_name() {
    let tools = [
        "mcp__slack__list",
        "mcp__slack__send",
        "mcp__mail__send | slack | Not slack.",
        "Slack!",
    ];
    for (query, wanted) in [
        ("+slack send", "mcp__slack__send mcp__slack__list"),
        ("+slack", "mcp__slack__list mcp__slack__send"),
        ("+slack nothing", "mcp__slack__list mcp__slack__send"),
        ("+slack +send", "mcp__slack__send"),
        ("+mcp__slack", "mcp__slack__list mcp__slack__send"),
        // Across the words of a name, too.
        ("+packetless", ""),
        ("+cksen", "mcp__slack__send"),
        ("+slack +mail", ""),
        ("+none send", ""),
    ] {
        assert_eq!(ranked(&tools, query), wanted, "{query}");
    }
}

#[test]
fn a_tool_that_writes_at_length_gains_nothing() {
    let endless = format!("endless | {0} | {0}", "sail ".repeat(50_000));
    let late = format!("late | {}sail |", "é ".repeat(1_000));
    let tools = ["z_sail", endless.as_str(), late.as_str()];
    assert_eq!(ranked(&tools, "sail"), "z_sail endless");
}
