//! Turns: order, interrupts, streams, bad lines, tools that come and go.

use serde_json::{Value, json};

use super::{Talk, text, with_rogue};
use crate::program::Project;

#[test]
fn every_line_is_as_the_schema_says() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../host/protocol.schema.json")).unwrap();
    let mut out = schema["$defs"]["out"].clone();
    out["$schema"] = schema["$schema"].clone();
    let out = jsonschema::validator_for(&out).unwrap();
    let project = Project::new();
    project.file("a.txt", "one\n");
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    talk.say_raw("this is no line");
    talk.use_tool("r", "Read", json!({"file_path": "a.txt"}));
    talk.use_tool("p", "Rogue", json!({"act": "progress-flood", "count": 3}));
    talk.use_tool("n", "Nothing", json!({}));
    talk.use_tool("w", "Write", json!({"file_path": "b.txt", "content": "x"}));
    talk.until("permission_request");
    talk.say(json!({"type": "interrupt"}));
    talk.results();
    for line in [vec![talk.ready.clone()], talk.heard.clone()].concat() {
        let problems: Vec<String> = out
            .iter_errors(&line)
            .map(|error| error.to_string())
            .collect();
        assert!(problems.is_empty(), "{line}: {problems:?}");
    }
    let mut kinds: Vec<&str> = talk
        .heard
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "error",
            "modifier",
            "permission_request",
            "progress",
            "ready",
            "request_cancelled",
            "started",
            "tool_result",
            "turn_end"
        ]
    );
    talk.close();
}

#[test]
fn results_come_in_call_order_and_turns_follow_each_other() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    talk.use_tool("slow", "Rogue", json!({"act": "sleep", "ms": 300}));
    talk.use_tool("fast", "Read", json!({"file_path": "a.txt"}));
    // The next turn is on its way before this one is over.
    talk.say(json!({"type": "turn_end"}));
    talk.use_tool("next", "Read", json!({"file_path": "a.txt", "offset": 1}));
    talk.say(json!({"type": "turn_end"}));
    let ids = |results: &[Value]| -> Vec<String> {
        let ids = results.iter().map(|result| &result["tool_use_id"]);
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&talk.results()), ["slow", "fast"]);
    assert_eq!(ids(&talk.results()), ["next"]);
    // An empty turn is a turn.
    talk.say(json!({"type": "turn_end"}));
    assert!(talk.results().is_empty());
    talk.close();
}

#[test]
fn an_interrupt_ends_what_sleeps_and_the_turn_with_it() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    talk.use_tool(
        "w",
        "Write",
        json!({"file_path": "new.txt", "content": "x"}),
    );
    talk.use_tool("r", "Read", json!({"file_path": "a.txt"}));
    talk.until("permission_request");
    talk.say(json!({"type": "interrupt"}));
    let results = talk.results();
    assert_eq!(results.len(), 2);
    assert_eq!(
        text(&results[0]),
        "<tool_use_error>The person stopped this turn. It was cancelled while it ran; it may \
         have done a part of its work.</tool_use_error>"
    );
    assert_eq!(
        text(&results[1]),
        "<tool_use_error>The person stopped this turn. It was not run.</tool_use_error>"
    );
    // The end that the client had under way is no turn of its own.
    talk.say(json!({"type": "turn_end"}));
    let result = talk.call("Rogue", json!({"act": "ok"}));
    assert_eq!(result["is_error"], false, "{result}");
    assert!(!project.root().join("new.txt").exists());
    talk.close();
}

#[test]
fn the_end_of_input_is_the_end_of_the_turn() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    talk.use_tool("s", "Rogue", json!({"act": "sleep", "ms": 200}));
    talk.close_input();
    let results = talk.results();
    assert_eq!(results[0]["is_error"], false, "{results:?}");
    talk.close();
}

#[test]
fn a_models_own_stream_is_understood_while_it_comes() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let mut talk = Talk::start(&project, &["--from", "sse"]);
    for event in [
        json!({"type": "message_start", "message": {"role": "assistant"}}),
        json!({"type": "content_block_start", "index": 0,
               "content_block": {"type": "tool_use", "id": "s1", "name": "Read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": "{\"file_path\": \"a."}}),
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": "txt\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
    ] {
        talk.say_raw(&format!("event: {}", event["type"].as_str().unwrap()));
        talk.say_raw(&format!("data: {event}"));
        talk.say_raw("");
    }
    // The message has not ended, and yet the result is there.
    let result = talk.until("tool_result");
    assert_eq!(text(&result), "     1\tone");
    talk.say_raw(r#"data: {"type":"message_stop"}"#);
    assert!(talk.results().is_empty());
    talk.close();
}

#[test]
fn deferred_tools_are_offered_once_they_are_loaded() {
    let project = Project::new();
    let mut talk = Talk::start(&project, &[]);
    let names: Vec<&str> = talk.ready["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(!names.contains(&"NotebookEdit"), "{names:?}");
    assert!(names.is_sorted(), "{names:?}");
    // A bad call of one that was never seen is told to load it.
    let result = talk.call("NotebookEdit", json!({"wrong": 1}));
    assert!(text(&result).contains("select:NotebookEdit"), "{result}");
    let result = talk.call("ToolSearch", json!({"query": "select:NotebookEdit"}));
    assert_eq!(result["is_error"], false, "{result}");
    let end = talk.heard.last().unwrap();
    assert_eq!(end["loaded_tools"], json!(["NotebookEdit"]), "{end}");
    talk.close();
}

#[test]
fn deny_rules_and_simple_mode_take_tools_away() {
    let project = Project::new();
    let offered = |args: &[&str]| -> Vec<String> {
        let talk = Talk::start(&project, args);
        let tools = talk.ready["tools"].as_array().unwrap().clone();
        talk.close();
        let names = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect()
    };
    let all = offered(&[]);
    let fewer = offered(&["--deny", "Grep", "--deny", "Read(x)"]);
    let missing: Vec<&String> = all.iter().filter(|name| !fewer.contains(name)).collect();
    assert_eq!(missing, ["Grep"]);
    assert_eq!(offered(&["--simple"]), ["Bash", "Edit", "Read"]);

    let mut talk = Talk::start(&project, &["--deny", "Grep"]);
    let result = talk.call("Grep", json!({"pattern": "x"}));
    assert_eq!(result["stage"], "lookup", "{result}");
    talk.close();
}

#[test]
fn a_file_that_another_tool_changes_is_told() {
    let project = Project::new();
    let path = project.file("a.txt", "one\n");
    project.file("b.txt", "b\n");
    let mut talk = Talk::start(&project, &["--allow", "Write"]);
    talk.call("Read", json!({"file_path": "a.txt"}));
    std::fs::write(&path, "changed by an editor\n").unwrap();
    let result = talk.call("Write", json!({"file_path": "c.txt", "content": "x"}));
    let found = text(&result);
    assert!(
        found.contains("(Changed on disk since you read it: ") && found.contains("a.txt"),
        "{found}"
    );
    talk.close();
}

#[test]
fn a_trace_has_a_line_for_each_call_and_stage() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let trace = project.root().join("trace.jsonl");
    let trace_there = ["--trace", trace.to_str().unwrap()];
    let rules = ["--deny", "Read(b.txt)", "--allow", "Write(./*)"];
    let mut talk = Talk::start(&project, &[&trace_there[..], &rules[..]].concat());
    talk.call("Read", json!({"file_path": "a.txt"}));
    talk.call("Read", json!({"file_path": "b.txt"}));
    talk.call("Write", json!({"file_path": "c.txt", "content": "x"}));
    talk.close();
    let text = std::fs::read_to_string(trace).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .filter(|line| line["span"]["name"].is_string())
        .filter_map(|line| line["span"]["name"].as_str())
        .collect();
    for stage in [
        "lookup",
        "schema",
        "input",
        "pre-hooks",
        "permission",
        "call",
        "mapping",
        "persist",
        "post-hooks",
    ] {
        assert!(
            text.contains(&format!("\"name\":\"{stage}\"")),
            "{stage} is missing in {names:?}: {text}"
        );
    }
    let decided: Vec<(&str, Option<&str>)> = lines
        .iter()
        .filter(|line| line["span"]["decision"].is_string())
        .map(|line| {
            let decision = line["span"]["decision"].as_str().unwrap();
            (decision, line["span"]["rule"].as_str())
        })
        .collect();
    assert_eq!(
        decided,
        [
            ("read-only inside the roots", None),
            ("denied", Some("Read(b.txt)")),
            ("allowed", Some("Write(./*)")),
        ]
    );
    assert!(text.contains("time.busy"), "{text}");
    for path in ["a.txt", "c.txt", project.root().to_str().unwrap()] {
        assert!(!text.contains(path), "no contents and no paths: {text}");
    }
}

#[test]
fn a_person_sees_calls_as_their_tools_draw_them() {
    let project = Project::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        project.file(&format!("{name}.txt"), "one\n");
    }
    let read = |id: usize, name: &str| {
        json!({"type": "tool_use", "id": id.to_string(), "name": "Read",
               "input": {"file_path": format!("{name}.txt")}})
    };
    let mut lines: Vec<String> = ["a", "b", "c", "d", "e", "f"]
        .iter()
        .enumerate()
        .map(|(id, name)| read(id, name).to_string())
        .collect();
    lines.push(
        json!({"type": "tool_use", "id": "e", "name": "Edit",
               "input": {"file_path": "a.txt", "old_string": "one", "new_string": "two"}})
        .to_string(),
    );
    lines.push(read(9, "missing").to_string());
    lines.push(
        json!({"type": "tool_use", "id": "w", "name": "Write",
               "input": {"file_path": "new.txt", "content": "x"}})
        .to_string(),
    );
    let input = lines.join("\n");
    let args = ["run", "--human", "--allow", "Edit"];
    let ran = project.run_with_input(&args, input.as_bytes()).exits(0);
    // Six reads are one line, a change is a diff, what failed says why.
    let ran = ran.prints(&["-one", "+two", "missing.txt", "not permitted"]);
    let reads = ran
        .out
        .lines()
        .filter(|line| line.contains("b.txt"))
        .count();
    assert_eq!(reads, 1, "{ran:?}");
    let root = project.root().display().to_string();
    assert!(ran.out.contains(&root), "paths are whole: {ran:?}");
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
}
