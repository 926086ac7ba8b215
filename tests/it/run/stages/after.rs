//! From the call itself to the last hook.

use serde_json::json;

use super::{fails, succeeds};
use crate::program::Project;
use crate::run::{Talk, with_rogue};

/// A thousand lines of a hundred bytes: twice what a result may have.
fn lines(first: usize) -> Vec<String> {
    let numbers = first..first + 1_000;
    numbers.map(|number| format!("{number:099}\n")).collect()
}

#[test]
fn call_the_tool_fails_breaks_or_runs_out_of_time() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let limits = json!({"limits": {"Rogue": {"call-ms": 300}}});
    std::fs::write(project.user_settings(), limits.to_string()).unwrap();
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let result = talk.call("Read", json!({"file_path": "missing.txt"}));
    fails(
        &project,
        &result,
        ("call", "failed"),
        &[
            "<tool_use_error>PROJECT/missing.txt does not exist. Check the path, or look for the file with \
            a file search.</tool_use_error>",
        ],
    );
    for (input, class, wanted) in [
        (
            json!({"act": "exit", "code": 1}),
            "broke",
            "plugin Rogue broke in call: it called exit(1)",
        ),
        (
            json!({"act": "panic"}),
            "broke",
            "plugin Rogue broke in call: it panicked or aborted; its last words: \
             thread '<unnamed>' (1) panicked at tests/guests/rogue/src/crash.rs:8:5: | \
             the rogue panics: 100%  [31mred [0m",
        ),
        (
            json!({"act": "bad-json"}),
            "broke",
            "plugin Rogue broke in call: its structured result is not JSON: \
             EOF while parsing a value at line 1 column 8",
        ),
        (
            json!({"act": "loop"}),
            "deadline",
            "ended: it took longer than the 300ms it may take",
        ),
    ] {
        let wanted = format!("<tool_use_error>Error: {wanted}</tool_use_error>");
        let result = talk.call("Rogue", input);
        fails(&project, &result, ("call", class), &[&wanted]);
    }
    talk.close();
}

#[test]
fn mapping_an_empty_result_says_so() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let result = talk.call("Rogue", json!({"act": "echo", "text": ""}));
    succeeds(&project, &result, &["(Rogue completed with no output)"]);
    talk.close();
}

#[test]
fn persist_a_large_result_goes_to_a_file_that_can_be_read() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let trivial = project.file("trivial.wasm", toolbay_tests::guests::TRIVIAL);
    let trivial = trivial.to_str().unwrap();
    let mut talk = Talk::start(&project, &["--plugin", &rogue, "--plugin", trivial]);
    let first = lines(0);
    // Other lines, for what was shown already is not shown twice.
    let other = lines(5_000);
    // The first tool says nothing about it; the second asks for the end of its results.
    for (tool, input, whole, part, kept) in [
        (
            "Rogue",
            json!({"act": "echo", "text": first.concat()}),
            &first,
            "begins",
            &first[..20],
        ),
        (
            "Trivial",
            json!({"text": other.concat()}),
            &other,
            "ends",
            &other[980..],
        ),
    ] {
        talk.use_tool(tool, tool, input);
        let result = talk.end_turn().remove(0);
        let wanted = format!(
            "<persisted-output>\n\
             This result is too long to be shown here: 100.0 KB in 1000 lines. The whole text is in\n\
             FILE\n\
             Read that file in parts, or search it, to see what you need. It {part} with (2.0 KB):\n\n\
             {}</persisted-output>",
            kept.concat()
        );
        succeeds(&project, &result, &[&wanted]);
        let path = result["persisted_to"].as_str().unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), whole.concat());
        // What the model is told to read it may read, without a question.
        let read = talk.call("Read", json!({"file_path": path, "limit": 2}));
        assert_eq!(read["is_error"], false, "{read}");
    }
    talk.close();
}

#[test]
fn persist_a_large_result_that_cannot_be_kept_is_cut_and_says_why() {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let mut talk = Talk::start(&project, &["--plugin", &rogue]);
    let session = project.session(talk.ready["session_id"].as_str().unwrap());
    let folder = session.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("tool-results"), "in the way").unwrap();
    let lines = lines(0);
    let result = talk.call("Rogue", json!({"act": "echo", "text": lines.concat()}));
    let wanted = format!(
        "[This result is too long to be shown (100.0 KB), and it could not be saved: \
         SESSION/tool-results: Not a directory (os error 20). Only its start and end follow.]\n\
         {}[50400 characters left out]\n{}",
        lines[..248].concat(),
        lines[752..].concat(),
    );
    let said = result.to_string();
    let said = said.replace(folder.to_str().unwrap(), "SESSION");
    let result = serde_json::from_str(&said).unwrap();
    succeeds(&project, &result, &[&wanted]);
    talk.close();
}

#[test]
fn post_hooks_add_to_the_result_and_may_stop_the_conversation() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let feedback = "echo 'remember the tests' >&2; exit 2";
    let stop = r#"echo '{"continue": false, "stopReason": "enough for today"}'"#;
    let failed = r#"grep -q '"error"' && echo '{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"files live in src"}}'"#;
    let hooks = json!({"hooks": {
        "PostToolUse": [
            {"matcher": "Read", "hooks": [{"type": "command", "command": feedback}]},
            {"matcher": "Glob", "hooks": [{"type": "command", "command": stop}]},
        ],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": failed}]}],
    }});
    project.file(".toolbay/settings.json", hooks.to_string());
    let mut talk = Talk::start(&project, &["--project-hooks"]);
    let result = talk.call("Read", json!({"file_path": "a.txt"}));
    succeeds(
        &project,
        &result,
        &[
            "     1\tone",
            "A hook says after the call: remember the tests",
        ],
    );
    let result = talk.call("Read", json!({"file_path": "b.txt"}));
    fails(
        &project,
        &result,
        ("call", "failed"),
        &[
            "<tool_use_error>PROJECT/b.txt does not exist. Did you mean PROJECT/a.txt?</tool_use_error>",
            "files live in src",
        ],
    );
    talk.use_tool("g", "Glob", json!({"pattern": "*.txt"}));
    succeeds(&project, &talk.end_turn()[0], &["a.txt"]);
    let end = talk.heard.last().unwrap();
    assert_eq!(end["stop"], "enough for today", "{end}");
    talk.close();
}

#[test]
fn post_hooks_that_fail_or_hang_leave_the_result_as_it_is() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let hook = |command: &str| json!({"type": "command", "command": command, "timeout": 1});
    let hooks = json!({"hooks": {"PostToolUse": [
        {"matcher": "Read", "hooks": [hook("echo broken >&2; exit 1"), hook("sleep 60")]},
    ]}});
    project.file(".toolbay/settings.json", hooks.to_string());
    let mut talk = Talk::start(&project, &["--project-hooks"]);
    let result = talk.call("Read", json!({"file_path": "a.txt"}));
    succeeds(&project, &result, &["     1\tone"]);
    let mut said: Vec<&str> = talk
        .heard
        .iter()
        .filter_map(|line| line["message"]["error"].as_str())
        .collect();
    said.sort_unstable();
    assert_eq!(
        said,
        [
            "it ended with exit code 1: broken",
            "it took longer than 1s and was ended"
        ]
    );
    talk.close();
}
