//! `toolbay call`: results, mistakes, permissions, sessions and time.

use std::time::{Duration, Instant};

use serde_json::json;
use toolbay_tests::guests;

use crate::program::Project;

#[test]
fn a_call_prints_its_text() {
    let project = Project::new();
    project.file("a.txt", "one\ntwo\n");
    let input = "{\"file_path\": \"a.txt\"}";
    let ran = project.run(&["call", "Read", input]).exits(0).quietly();
    assert_eq!(ran.out, "     1\tone\n     2\ttwo\n");
    let from_stdin = project.run_with_input(&["call", "Read", "-"], input.as_bytes());
    assert_eq!(from_stdin.exits(0).out, ran.out);
}

#[test]
fn a_call_for_programs_is_a_result_block_with_the_reason_why_it_was_allowed() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let call = ["call", "Read", "{\"file_path\": \"a.txt\"}", "--json"];
    let block = project.run(&call).exits(0).quietly().json();
    assert_eq!(block["type"], "tool_result");
    assert_eq!(block["is_error"], false);
    assert_eq!(
        block["content"],
        json!([{"type": "text", "text": "     1\tone"}])
    );
    assert_eq!(block["structured"]["kind"], "text");
    assert_eq!(block["audit"][0]["event"], "decided");
    assert_eq!(block["audit"][0]["ruling"], "allow");
    assert_eq!(block["audit"][1]["event"], "called");
    let call = ["call", "Read", "{\"file_path\": \"b.txt\"}", "--json"];
    let block = project.run(&call).exits(1).quietly().json();
    assert_eq!(block["is_error"], true);
    assert_eq!(block["error_class"], "failed", "{block}");
}

#[test]
fn mistakes_are_told_apart_and_explained() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    for (args, code, parts) in [
        (
            &["call", "Read", "{bad"][..],
            2,
            &["not JSON", "{bad", "line 1"][..],
        ),
        (
            &["call", "Read", "[1]"],
            2,
            &["must be a JSON object", "[1]"],
        ),
        (
            &["call", "Raed", "{}"],
            1,
            &["no tool called Raed", "Read", "TodoWrite"],
        ),
        (&["call", "Read", "{}"], 1, &["invalid input", "file_path"]),
        (
            &["call", "Read", "{\"file_path\": [5, 6]}"],
            1,
            &["invalid input", "string"],
        ),
        (
            &["call", "Read", "{\"file_path\": \"b.txt\"}"],
            1,
            &["b.txt does not exist"],
        ),
        (&["call", "Read", "--jsn"], 2, &["--jsn", "--json", "Usage"]),
        (&["call"], 2, &["<NAME>"]),
        (&["cal"], 2, &["cal", "call"]),
        (
            &["call", "Read", "{}", "--allow", "Read("],
            2,
            &["command line", "`Read(`"],
        ),
        (
            &["call", "Read", "{}", "--session", "../x"],
            2,
            &["session's name", "../x"],
        ),
        (
            &["call", "Read", "{}", "--timeout", "soon"],
            2,
            &["soon", "--timeout"],
        ),
    ] {
        let ran = project.run(args).exits(code).complains(parts);
        assert_eq!(ran.out, "", "{args:?}: {ran:?}");
    }
}

#[test]
fn a_call_that_writes_needs_permission_when_nobody_is_there() {
    let project = Project::new();
    let path = project.root().join("a.txt");
    let input = "{\"file_path\": \"a.txt\", \"old_string\": \"\", \"new_string\": \"x\\n\"}";
    let call = |more: &[&str]| project.run(&[&["call", "Edit", input], more].concat());

    for (more, reason) in [
        (&[][..], "nobody to ask"),
        (&["--allow", "Write"], "nobody to ask"),
        (&["--allow", "Edit(./other/**)"], "nobody to ask"),
        (&["--allow", "Edit", "--deny", "Edit"], "deny rule `Edit`"),
        (
            &["--allow", "Edit", "--deny", "Edit(./*.txt)"],
            "deny rule `Edit(./*.txt)`",
        ),
        (&["--allow", "Edit", "--ask", "Edit"], "ask rule `Edit`"),
    ] {
        call(more).exits(1).complains(&[reason]);
    }
    assert!(!path.exists());
    for rule in ["Edit", "Edit(./*.txt)"] {
        let _ = std::fs::remove_file(&path);
        call(&["--allow", rule]).exits(0).prints(&["+x", "Created"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x\n");
    }
}

#[test]
fn the_rule_that_a_refusal_names_allows_the_call() {
    let project = Project::new();
    let path = project.root().join("it's a [1] {a,b} file*.txt");
    let input = json!({"file_path": path, "content": "x"}).to_string();
    let ran = project.run(&["call", "Write", &input]).exits(1);
    let (_, rest) = ran.err.split_once("`--allow '").unwrap();
    let (quoted, _) = rest.split_once("'`").unwrap();
    let rule = quoted.replace("'\\''", "'");
    assert!(rule.starts_with("Write("), "{rule}");
    let call = |input: &str| project.run(&["call", "Write", input, "--allow", &rule]);
    let other = json!({"file_path": "it's a [1] {a,b} files.txt", "content": "x"});
    call(&other.to_string()).exits(1);
    call(&input).exits(0);
    assert_eq!(std::fs::read(path).unwrap(), b"x");
}

#[test]
fn what_may_not_be_read_is_found_by_no_tool() {
    let project = Project::new();
    project.file("open.txt", "needle\n");
    project.file("secret/key.txt", "needle\n");
    let deny = ["--deny", "Read(./secret/**)"];
    let run = |args: &[&str]| project.run(&[args, &deny].concat());

    run(&["call", "Read", "{\"file_path\": \"secret/key.txt\"}"])
        .exits(1)
        .complains(&["Read(./secret/**)"]);
    let lines = "{\"pattern\": \"needle\", \"output_mode\": \"content\"}";
    let ran = run(&["call", "Grep", lines]).exits(0);
    assert!(!ran.out.contains("key.txt"), "{ran:?}");
    ran.prints(&["open.txt"]);
    run(&["call", "Grep", "{\"pattern\": \"n\", \"path\": \"secret\"}"])
        .exits(1)
        .complains(&["Read(./secret/**)"]);
    let write = "{\"file_path\": \"secret/new.txt\", \"content\": \"x\"}";
    run(&["call", "Write", write, "--allow", "Write"]).exits(1);
    assert!(!project.root().join("secret/new.txt").exists());
}

#[test]
fn a_session_keeps_what_was_read_between_calls() {
    let project = Project::new();
    let path = project.file("a.txt", "one\ntwo\n");
    let name = format!("cli-{}", std::process::id());
    let read = "{\"file_path\": \"a.txt\"}";
    let edit = "{\"file_path\": \"a.txt\", \"old_string\": \"two\", \"new_string\": \"2\"}";
    let edit = ["call", "Edit", edit, "--allow", "Edit"];
    let session = ["--session", &name];

    project.run(&["call", "Read", read]).exits(0);
    project
        .run(&edit)
        .exits(1)
        .complains(&["has not been read in this session"]);
    project
        .run(&[&["call", "Read", read], &session[..]].concat())
        .exits(0);
    project
        .run(&[&edit[..], &session].concat())
        .exits(0)
        .prints(&["-two\n+2\n", "The lines now read"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n2\n");
    std::fs::remove_dir_all(project.session(&name).parent().unwrap()).unwrap();
}

#[test]
fn a_call_ends_after_the_time_it_was_given() {
    let project = Project::new();
    let rogue = project.file("rogue.wasm", guests::ROGUE);
    let rogue = ["--plugin", rogue.to_str().unwrap()];
    // Its first run compiles it, which is not what the time is for.
    project
        .run(&[&["tools", "Rogue"], &rogue[..]].concat())
        .exits(0);
    for act in ["{\"act\": \"loop\"}", "{\"act\": \"sleep\", \"ms\": 60000}"] {
        let started = Instant::now();
        let call = ["call", "Rogue", act, "--timeout", "200"];
        project
            .run(&[&call[..], &rogue].concat())
            .exits(1)
            .complains(&["200ms"]);
        assert!(started.elapsed() < Duration::from_secs(20), "{act}");
    }
}
