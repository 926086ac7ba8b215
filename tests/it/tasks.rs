//! Commands in the background, by the real program: started there, moved there, listed, bounded,
//! and gone with the session.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bash::assert_no_process;
use crate::program::Project;
use crate::run::{Talk, text};

const MOST_KEPT: u64 = 8 << 20;

fn start(project: &Project) -> Talk {
    Talk::start(project, &["--allow", "Bash", "--allow", "KillShell"])
}

/// A session in which a command becomes a task after so many seconds.
fn start_moving(project: &Project, seconds: f64) -> Talk {
    let settings = json!({"sandbox": {"backgroundAfter": seconds}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    start(project)
}

fn in_background(talk: &mut Talk, command: &str) -> Value {
    let input = json!({"command": command, "run_in_background": true});
    let result = talk.call("Bash", input);
    assert_eq!(result["is_error"], false, "{result}");
    result
}

/// The file that a result names.
#[track_caller]
fn file_in(result: &Value) -> PathBuf {
    let text = text(result);
    let (_, rest) = text.split_once("is kept in ").expect(&text);
    let end = rest.find(".txt").expect(&text) + ".txt".len();
    PathBuf::from(&rest[..end])
}

fn wait_for(talk: &mut Talk, id: &str) -> String {
    let input = json!({"task_id": id, "timeout": 60000});
    text(&talk.call("TaskOutput", input))
}

/// Reads without waiting until the output holds a word.
fn until(talk: &mut Talk, id: &str, word: &str) -> String {
    let mut seen = String::new();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !seen.contains(word) {
        assert!(
            std::time::Instant::now() < patience,
            "no {word:?} in {seen:?}"
        );
        let input = json!({"task_id": id, "block": true, "timeout": 100});
        seen.push_str(&text(&talk.call("TaskOutput", input)));
    }
    seen
}

#[test]
fn output_goes_to_a_private_bounded_file_that_the_model_can_read() {
    let project = Project::new();
    let mut talk = start(&project);
    let result = in_background(&mut talk, "yes line | head -n 4000000; echo the end");
    let file = file_in(&result);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let said = wait_for(&mut talk, "task_1");
    assert!(said.starts_with("task_1 is done."), "{}", &said[..200]);
    assert!(said.contains("the end"), "{}", &said[said.len() - 200..]);
    assert!(std::fs::metadata(&file).unwrap().len() <= MOST_KEPT);
    let kept = std::fs::read_to_string(&file).unwrap();
    let (first, rest) = kept.split_once('\n').unwrap();
    assert!(
        first.ends_with("bytes before this were dropped]"),
        "{first}"
    );
    assert!(rest.ends_with("line\nthe end\n"));
    // Only what was said of it is missing.
    let dropped: usize = first[1..].split(' ').next().unwrap().parse().unwrap();
    assert_eq!(dropped + rest.len(), "line\n".len() * 4_000_000 + 8);
    // A tool that reads files may read it; nobody may write it.
    let result = talk.call("Read", json!({"file_path": file, "limit": 1}));
    assert!(text(&result).contains("were dropped"), "{result}");
    let input = json!({"file_path": file, "content": "x"});
    let result = talk.call("Write", input);
    assert_eq!(result["is_error"], true, "{result}");
    talk.close();
    assert!(!file.exists(), "it survived the session");
}

#[test]
fn a_task_that_floods_harms_nobody_and_ends_with_the_session() {
    let project = Project::new();
    let mut talk = start(&project);
    let result = in_background(&mut talk, "yes flood-6131");
    let file = file_in(&result);
    let mut seen = 0;
    // It is not ended for it, and what it says can be read all the time.
    while seen < 3 {
        let input = json!({"task_id": "task_1", "block": false});
        let said = text(&talk.call("TaskOutput", input));
        assert!(said.starts_with("task_1 is running."), "{}", &said[..60]);
        seen += usize::from(said.contains("bytes before this"));
        assert!(std::fs::metadata(&file).unwrap().len() <= MOST_KEPT);
        let result = talk.call("Bash", json!({"command": "echo still here"}));
        assert!(text(&result).contains("still here"), "{result}");
    }
    talk.close();
    assert!(!file.exists());
    assert_no_process("yes flood-6131");
}

#[test]
fn a_killed_program_leaves_a_file_that_the_next_session_takes_away() {
    let project = Project::new();
    let mut talk = start(&project);
    let file = file_in(&in_background(&mut talk, "echo begun; sleep 6132"));
    until(&mut talk, "task_1", "begun");
    talk.kill();
    assert_no_process("sleep 6132");
    assert!(file.exists(), "the test proves nothing");
    let mut talk = start(&project);
    in_background(&mut talk, "true");
    assert!(!file.exists());
    talk.close();
}

#[test]
fn tasks_are_listed_with_what_they_do_and_how_far_they_are() {
    let project = Project::new();
    let mut talk = start(&project);
    let said = text(&talk.call("TaskOutput", json!({})));
    assert_eq!(said, "There are no background tasks.");
    in_background(&mut talk, "echo one; exit 3");
    wait_for(&mut talk, "task_1");
    in_background(&mut talk, "printf four; sleep 6133");
    until(&mut talk, "task_2", "four");
    let said = text(&talk.call("TaskOutput", json!({})));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("task_1: failed, "), "{said}");
    assert!(lines[0].ends_with("echo one; exit 3"), "{said}");
    assert!(lines[1].starts_with("task_2: running, "), "{said}");
    assert!(lines[1].contains(" s, 4 bytes ("), "{said}");
    talk.call("KillShell", json!({"task_id": "task_2"}));
    let said = text(&talk.call("TaskOutput", json!({})));
    assert!(said.contains("task_2: stopped, "), "{said}");
    talk.close();
}

#[test]
fn a_command_that_takes_long_goes_on_in_the_background() {
    let project = Project::new();
    let mut talk = start_moving(&project, 0.7);
    let command = "echo first $$; sleep 2; echo second $$; cd src; sleep 0.2; echo third";
    std::fs::create_dir(project.root().join("src")).unwrap();
    let result = talk.call("Bash", json!({"command": command}));
    assert_eq!(result["is_error"], false, "{result}");
    let said = text(&result);
    assert!(said.contains("in the background as task_1"), "{said}");
    assert!(said.contains("TaskOutput with task_id task_1"), "{said}");
    let pid = said.strip_prefix("first ").unwrap().lines().next().unwrap();
    // Others are served meanwhile.
    let result = talk.call("Bash", json!({"command": "echo meanwhile"}));
    assert!(text(&result).contains("meanwhile"), "{result}");
    let said = wait_for(&mut talk, "task_1");
    // The same process; nothing twice, nothing of our own marks.
    assert_eq!(
        said,
        format!("task_1 is done.\nsecond {pid}\nthird"),
        "{said}"
    );
    let whole = std::fs::read_to_string(file_in(&result_of_list(&mut talk))).unwrap();
    assert_eq!(whole, format!("first {pid}\nsecond {pid}\nthird\n"));
    // Where a task ends is nobody's folder.
    let result = talk.call("Bash", json!({"command": "pwd"}));
    assert!(!text(&result).contains("/src"), "{result}");
    talk.close();
}

/// The list, in the form of a result that names a file.
fn result_of_list(talk: &mut Talk) -> Value {
    let said = text(&talk.call("TaskOutput", json!({})));
    let (_, rest) = said.split_once(" bytes (").unwrap();
    let (file, _) = rest.split_once(')').unwrap();
    json!({"content": [{"text": format!("is kept in {file}")}]})
}

#[test]
fn only_a_session_that_goes_on_moves_commands_and_settings_may_forbid_it() {
    let project = Project::new();
    let command = json!({"command": "sleep 1.2; echo waited"});
    let mut talk = start_moving(&project, 0.3);
    assert!(text(&talk.call("Bash", command.clone())).contains("task_1"));
    talk.close();
    // One call is the whole session.
    let ran = project.run(&["call", "Bash", &command.to_string(), "--allow", "Bash"]);
    ran.exits(0).prints(&["waited"]);
    let mut talk = start_moving(&project, 0.0);
    assert_eq!(text(&talk.call("Bash", command)), "waited");
    talk.close();
    for bad in ["-1", "1e400", "\"soon\"", "null1"] {
        let text = format!("{{\"sandbox\": {{\"backgroundAfter\": {bad}}}}}");
        std::fs::write(project.user_settings(), text).unwrap();
        project
            .run(&["call", "Bash", "{\"command\": \"ls\"}"])
            .exits(2);
    }
}

#[test]
fn the_time_limit_of_the_command_itself_holds_before_and_after() {
    let project = Project::new();
    let mut talk = start_moving(&project, 0.8);
    let result = talk.call("Bash", json!({"command": "sleep 6134", "timeout": 300}));
    assert_eq!(result["is_error"], true, "{result}");
    assert!(text(&result).contains("time limit"), "{result}");
    let input = json!({"command": "echo begun; sleep 6134", "timeout": 2000});
    let result = talk.call("Bash", input);
    assert!(text(&result).contains("task_1"), "{result}");
    let said = wait_for(&mut talk, "task_1");
    assert!(said.starts_with("task_1 is failed."), "{said}");
    assert!(said.contains("time limit"), "{said}");
    talk.close();
    assert_no_process("sleep 6134");
}

#[test]
fn an_interrupt_ends_a_command_unless_it_was_moved() {
    let project = Project::new();
    let mut talk = start_moving(&project, 1.5);
    talk.use_tool(
        "a",
        "Bash",
        json!({"command": "echo begun; sleep 6135; echo never"}),
    );
    talk.until("progress");
    talk.say(json!({"type": "interrupt"}));
    let results = talk.end_turn();
    assert_eq!(results[0]["is_error"], true, "{results:?}");
    assert_no_process("sleep 6135");
    assert_eq!(
        text(&talk.call("TaskOutput", json!({}))),
        "There are no background tasks."
    );
    let moved = talk.call("Bash", json!({"command": "sleep 6136"}));
    assert!(text(&moved).contains("task_1"), "{moved}");
    talk.use_tool("b", "Bash", json!({"command": "echo begun; sleep 6135"}));
    talk.until("progress");
    talk.say(json!({"type": "interrupt"}));
    talk.end_turn();
    assert_no_process("sleep 6135");
    let said = text(&talk.call("TaskOutput", json!({})));
    assert!(said.starts_with("task_1: running"), "{said}");
    talk.close();
    assert_no_process("sleep 6136");
}

#[test]
fn where_too_many_tasks_run_a_command_is_waited_for() {
    let project = Project::new();
    let mut talk = start_moving(&project, 0.3);
    for _ in 0..32 {
        in_background(&mut talk, "sleep 6137");
    }
    let input = json!({"command": "true", "run_in_background": true});
    let result = talk.call("Bash", input);
    assert!(text(&result).contains("end one first"), "{result}");
    let result = talk.call("Bash", json!({"command": "sleep 1; echo waited"}));
    assert_eq!(text(&result), "waited");
    talk.close();
    assert_no_process("sleep 6137");
}

#[test]
fn a_server_of_mcp_moves_long_commands_too() {
    let project = Project::new();
    let settings = json!({"sandbox": {"backgroundAfter": 0.3}});
    std::fs::write(project.user_settings(), settings.to_string()).unwrap();
    let mut child = project.spawn(&["mcp", "serve", "--allow", "Bash"]);
    let mut input = child.stdin.take().unwrap();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let call = json!({"name": "Bash", "arguments": {"command": "echo begun; sleep 6138"}});
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ] {
        writeln!(input, "{line}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = lines.map_while(Result::ok);
    let answer = answers.find(|line| line.contains("\"id\":2")).unwrap();
    assert!(answer.contains("begun"), "{answer}");
    assert!(answer.contains("task_1"), "{answer}");
    drop(input);
    child.wait().unwrap();
    assert_no_process("sleep 6138");
}
