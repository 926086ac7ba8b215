//! `sed -i` as an edit, by the real program: shown before it happens, and written as shown.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{Value, json};

use crate::program::Project;
use crate::run::{Talk, text};

const SED: &str = "sed -i 's/two/2/' a.txt";

/// Asks for a call, does something while the question is open, then says yes.
fn with_a_yes(talk: &mut Talk, command: &str, meanwhile: impl FnOnce()) -> (Value, Value) {
    talk.use_tool("q", "Bash", json!({"command": command}));
    let asked = talk.until("permission_request");
    meanwhile();
    talk.say(json!({
        "type": "permission_response", "request_id": asked["request_id"], "behavior": "allow",
    }));
    let results = talk.end_turn();
    (asked, results.into_iter().next().unwrap())
}

#[test]
fn the_question_carries_the_diff_and_that_is_what_is_written() {
    let project = Project::new();
    let file = project.file("a.txt", "one\ntwo\nthree\n");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    let mut talk = Talk::start(&project, &[]);
    let (asked, result) = with_a_yes(&mut talk, SED, || {});
    let shown = asked.to_string();
    assert!(shown.contains("-two\\n+2\\n"), "{shown}");
    assert_eq!(result["is_error"], false, "{result}");
    assert!(text(&result).contains("Changed 1 lines"), "{result}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n2\nthree\n");
    let mode = std::fs::metadata(&file).unwrap().mode();
    assert_eq!(mode & 0o777, 0o640);
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(project.root()).unwrap().count(), 1);
    talk.close();
}

#[test]
fn what_changed_since_it_was_shown_is_not_written() {
    let project = Project::new();
    let file = project.file("a.txt", "one\ntwo\n");
    let mut talk = Talk::start(&project, &[]);
    let (_, result) = with_a_yes(&mut talk, SED, || {
        std::fs::write(&file, "two\ntwo\n").unwrap();
    });
    assert_eq!(result["is_error"], true, "{result}");
    assert!(text(&result).contains("changed"), "{result}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\ntwo\n");
    talk.close();
}

#[test]
fn a_rule_allows_it_as_before_and_a_forged_preview_is_refused() {
    let project = Project::new();
    let file = project.file("a.txt", "one\ntwo\n");
    let allow = ["--allow", "Bash(sed:*)"];
    let mut talk = Talk::start(&project, &allow);
    for edit in [
        json!({"file_path": file, "before": "x", "diff": "harmless"}),
        json!({"file_path": "/etc/passwd", "before": "", "diff": ""}),
    ] {
        let result = talk.call("Bash", json!({"command": SED, "edit": edit}));
        assert!(text(&result).contains("leave it out"), "{result}");
        let result = talk.call("Bash", json!({"command": "ls", "edit": edit}));
        assert!(text(&result).contains("leave it out"), "{result}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    let result = talk.call("Bash", json!({"command": SED}));
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n2\n");
    // A file that was read before is still known afterwards.
    let read = talk.call("Read", json!({"file_path": file}));
    assert_eq!(read["is_error"], false, "{read}");
    talk.call("Bash", json!({"command": "sed -i 's/one/1/' a.txt"}));
    talk.close();
    // Path rules hold for it.
    let deny = ["--allow", "Bash(sed:*)", "--deny", "Edit(./a.txt)"];
    let mut talk = Talk::start(&project, &deny);
    let result = talk.call("Bash", json!({"command": "sed -i 's/2/3/' a.txt"}));
    assert_eq!(result["is_error"], true, "{result}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n2\n");
    talk.close();
}

#[test]
fn anything_else_runs_as_a_command_in_the_cage() {
    let project = Project::new();
    let file = project.file("a.txt", "one\ntwo\n");
    project.file("b.txt", "two\n");
    project.file("sub/c.txt", "two\n");
    std::os::unix::fs::symlink(&file, project.root().join("link")).unwrap();
    std::os::unix::fs::symlink(project.root().join(".git"), project.root().join("deep")).unwrap();
    project.file(".git/config", "two\n");
    project.file(".vscode/tasks.json", "two\n");
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let away = outside.path().join("x");
    std::fs::write(&away, "two\n").unwrap();
    let mut talk = Talk::start(&project, &["--allow", "Bash"]);
    let is_edit = |result: &Value| result.to_string().contains("edited_file");
    // Done by sed itself.
    for command in [
        "sed -i.bak 's/two/2/' b.txt",
        "sed -i 's/2/two/' b.txt sub/c.txt",
        "sed -i '1s/two/2/' b.txt",
        "(cd sub && sed -i 's/two/2/' c.txt)",
        "sed -i 's/nothing/x/' a.txt",
    ] {
        let result = talk.call("Bash", json!({"command": command}));
        assert_eq!(result["is_error"], false, "{command}: {result}");
        assert!(!is_edit(&result), "{command}");
    }
    // What the cage protects is not reached this way either, by whatever name.
    for command in [
        "sed -i 's/two/2/' .git/config",
        "sed -i 's/two/2/' ./.git/../.git/config",
        "sed -i 's/two/2/' deep/config",
        "sed -i 's/two/2/' .vscode/tasks.json",
        &format!("sed -i 's/two/2/' {}", away.display()),
    ] {
        let result = talk.call("Bash", json!({"command": command}));
        assert_eq!(result["is_error"], true, "{command}: {result}");
    }
    let read = |name: &str| std::fs::read_to_string(project.root().join(name)).unwrap();
    assert_eq!(read(".git/config"), "two\n");
    assert_eq!(read(".vscode/tasks.json"), "two\n");
    assert_eq!(std::fs::read_to_string(&away).unwrap(), "two\n");
    let result = talk.call("Bash", json!({"command": "sed -i 's/two/2/' link"}));
    assert!(!is_edit(&result), "{result}");
    // From the folder in which the session is.
    talk.call("Bash", json!({"command": "cd sub"}));
    let result = talk.call("Bash", json!({"command": "sed -i 's/2/zwei/' c.txt"}));
    assert!(is_edit(&result), "{result}");
    assert_eq!(read("sub/c.txt"), "zwei\n");
    talk.close();
}
