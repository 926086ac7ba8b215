//! What the program writes down of what it did.

use serde_json::Value;

use super::write;
use crate::program::Project;

fn records(project: &Project, more: &[&str]) -> Vec<Value> {
    let mut args = vec!["audit", "show", "--json"];
    args.extend(more);
    let ran = project.run(&args).exits(0).quietly();
    let lines = ran.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_decision_and_call_is_written_down_and_any_change_is_found() {
    let project = Project::alone();
    project
        .run(&["audit", "verify"])
        .exits(0)
        .prints(&["no audit log"]);
    project.file("a.txt", "one\n");
    let read = "{\"file_path\": \"a.txt\"}";
    project
        .run(&["call", "Read", read, "--session", "s1"])
        .exits(0);
    write(&project, &["--deny", "Write(./new.txt)"]).exits(1);
    write(&project, &["--allow", "Write"]).exits(0);
    let all = records(&project, &[]);
    let kinds: Vec<&str> = all
        .iter()
        .filter_map(|line| line["kind"].as_str())
        .collect();
    let decisions = kinds.iter().filter(|kind| **kind == "decision").count();
    let calls = kinds.iter().filter(|kind| **kind == "call").count();
    assert_eq!((decisions, calls), (3, 2), "{kinds:?}");
    let denied = records(&project, &["--decision", "deny"]);
    assert_eq!(denied.len(), 1);
    let denied = denied[0].to_string();
    for part in ["Write(./new.txt)", "command-line", "new.txt"] {
        assert!(denied.contains(part), "{part}: {denied}");
    }
    let done = records(&project, &["--session", "s1", "--kind", "call"]);
    let done = done[0].to_string();
    for part in ["sha256:", "memory-bytes", "\"done\""] {
        assert!(done.contains(part), "{part}: {done}");
    }
    project
        .run(&["audit", "verify"])
        .exits(0)
        .prints(&["as it was written"]);
    let folder = project.audit_log();
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("new.txt")))
        .expect("a file of the log");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"deny\"", "\"allow\"", 1)).unwrap();
    let ran = project.run(&["audit", "verify"]).exits(1);
    ran.prints(&["not as it was written"]);
}

#[test]
fn a_log_that_is_rolled_back_or_removed_is_noticed() {
    let project = Project::alone();
    project.file("a.txt", "one\n");
    project.run(&["audit", "anchor"]).exits(2);
    let read = || {
        project
            .run(&["call", "Read", "{\"file_path\": \"a.txt\"}"])
            .exits(0)
    };
    read();
    let folder = project.audit_log();
    let files = || -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    };
    let before = files();
    read();
    let noted = project.run(&["audit", "anchor"]).exits(0).out;
    assert_eq!(noted.lines().count(), 1, "{noted}");
    let file = project.file("anchor.json", &noted);
    let file = file.to_str().unwrap();
    for given in [noted.as_str(), file] {
        project
            .run(&["audit", "verify", "--anchor", given])
            .exits(0);
    }
    let after = files();
    let put = |files: &[(std::path::PathBuf, Vec<u8>)]| {
        for (path, bytes) in files {
            std::fs::write(path, bytes).unwrap();
        }
    };
    put(&before);
    let ran = project.run(&["audit", "verify"]).exits(1);
    ran.prints(&[
        "rolled back",
        "lines are missing since",
        "not as it was written",
    ]);
    let ran = project.run(&["audit", "verify", "--json"]).exits(1);
    assert_eq!(ran.json()["findings"][0]["problem"], "rolled-back");
    project
        .run(&["audit", "anchor"])
        .exits(2)
        .complains(&["audit verify"]);
    put(&after);
    project.run(&["audit", "verify"]).exits(0);
    // The whole log, and then what vouches for it as well.
    std::fs::remove_dir_all(&folder).unwrap();
    let ran = project.run(&["audit", "verify"]).exits(1);
    ran.prints(&["the log's folder is gone"]);
    let state = folder.parent().unwrap();
    std::fs::remove_dir_all(state.join("anchor")).unwrap();
    project
        .run(&["audit", "verify"])
        .exits(2)
        .complains(&["removed"]);
    let ran = project
        .run(&["audit", "verify", "--anchor", &noted])
        .exits(1);
    ran.prints(&["the log's folder is gone"]);
    read();
    project.run(&["audit", "verify"]).exits(0);
    let ran = project
        .run(&["audit", "verify", "--anchor", &noted])
        .exits(1);
    ran.prints(&["was given"]);
    for (given, word) in [
        ("{}", "no anchor"),
        ("/dev/zero", "regular file"),
        ("none", "none"),
    ] {
        let ran = project.run(&["audit", "verify", "--anchor", given]);
        ran.exits(2).complains(&[word]);
    }
}

#[test]
fn a_log_that_cannot_be_written_stops_calls() {
    let project = Project::alone();
    project.file("a.txt", "one\n");
    // A file where the folder should be.
    let folder = project.audit_log();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::write(&folder, "").unwrap();
    let read = "{\"file_path\": \"a.txt\"}";
    let ran = project.run(&["call", "Read", read]);
    ran.exits(2).complains(&["audit log"]);
}

#[test]
fn no_tool_reaches_the_log() {
    let project = Project::alone();
    project.file("a.txt", "one\n");
    let read = "{\"file_path\": \"a.txt\"}";
    project.run(&["call", "Read", read]).exits(0);
    let log = project.audit_log();
    let inside = log.parent().unwrap();
    let input = serde_json::json!({"file_path": log.join("x"), "content": ""}).to_string();
    let given = ["--allow", "*", "--add-dir", inside.to_str().unwrap()];
    for call in [["call", "Write", &input], ["call", "Read", &input]] {
        let mut args = call.to_vec();
        args.extend(given);
        let ran = project.run(&args);
        assert_ne!(ran.code, Some(0), "{ran:?}");
    }
    assert!(!log.join("x").exists());
    project.run(&["audit", "verify"]).exits(0);
}
