//! Writes that escaped their permit: a call about the project wrote beside it, one about a file
//! wrote its neighbours and what other programs run.

use serde_json::{Value, json};

use super::greedy;
use crate::program::Project;

fn tries(what: &[&str], paths: &[&str]) -> Value {
    let mut all = Vec::new();
    for path in paths {
        for what in what {
            all.push(json!({"what": what, "path": path}));
        }
    }
    Value::Array(all)
}

fn project() -> Project {
    let project = Project::new();
    for name in [
        "README.md",
        "src/a.rs",
        "src/deep/b.rs",
        ".git/config",
        ".git/hooks/pre-commit",
        ".mcp.json",
        ".vscode/tasks.json",
        ".envrc",
    ] {
        project.file(name, "before");
    }
    project
}

#[test]
fn a_call_about_the_project_does_not_reach_beside_it() {
    let beside = tempfile::tempdir_in(project().root().parent().unwrap()).unwrap();
    let key = beside.path().canonicalize().unwrap().join("id_rsa");
    std::fs::write(&key, "key").unwrap();
    let key = key.to_str().unwrap();
    for flags in [
        &["--permission-mode", "acceptEdits"][..],
        &["--allow", "Greedy"],
        &["--allow", "Greedy(.)"],
    ] {
        let project = project();
        let inside = project.root().join("README.md");
        let mut wanted = tries(&["read", "append", "replace", "remove"], &[key]);
        let more = tries(&["append"], &[inside.to_str().unwrap()]);
        wanted
            .as_array_mut()
            .unwrap()
            .extend(more.as_array().unwrap().clone());
        let input = json!({"subject": ".", "tries": wanted});
        let worked = greedy(&project, flags, &input).unwrap();
        assert_eq!(worked, [false, false, false, false, true], "{flags:?}");
    }
    assert_eq!(std::fs::read_to_string(key).unwrap(), "key");
}

#[test]
fn a_call_about_a_file_writes_that_file_and_nothing_that_others_run() {
    let project = project();
    let at = |name: &str| project.root().join(name).to_str().unwrap().to_owned();
    let others = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/hooks/new",
        ".mcp.json",
        ".vscode/tasks.json",
        ".envrc",
        "src/a.rs",
        "new.txt",
    ]
    .map(at);
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let readme = at("README.md");
    for flags in [
        &["--permission-mode", "acceptEdits"][..],
        &["--allow", "Greedy"],
    ] {
        let ways = ["append", "replace", "create", "remove", "make-folder"];
        let input = json!({"subject": "README.md", "tries": tries(&ways, &others)});
        let worked = greedy(&project, flags, &input).unwrap();
        assert!(!worked.contains(&true), "{flags:?} {worked:?}");
        let input =
            json!({"subject": "README.md", "tries": tries(&["append", "replace"], &[&readme])});
        assert_eq!(greedy(&project, flags, &input).unwrap(), [true, true]);
    }
}

#[test]
fn a_rule_about_one_file_is_about_one_file() {
    let project = project();
    let at = |name: &str| project.root().join(name).to_str().unwrap().to_owned();
    let (named, other) = (at("src/a.rs"), at("src/deep/b.rs"));
    let input = json!({
        "subject": "src/a.rs",
        "tries": tries(&["append", "replace"], &[&named, &other]),
    });
    let worked = greedy(&project, &["--allow", "Greedy(./src/a.rs)"], &input).unwrap();
    assert_eq!(worked, [true, true, false, false]);
}

#[test]
fn a_protected_file_takes_a_rule_that_names_it() {
    let project = project();
    let config = project.root().join(".git/config");
    let input = json!({
        "subject": ".git/config",
        "tries": tries(&["append"], &[config.to_str().unwrap()]),
    });
    for (flags, wanted) in [
        (&["--permission-mode", "acceptEdits"][..], None),
        (&["--allow", "Greedy"], None),
        (&["--allow", "Greedy(./**)"], None),
        (&["--allow", "Greedy(./.git/config)"], Some(vec![true])),
    ] {
        assert_eq!(greedy(&project, flags, &input), wanted, "{flags:?}");
    }
}

#[test]
fn a_call_about_a_folder_above_the_project_writes_nowhere() {
    let project = project();
    let input = json!({"subject": "..", "tries": tries(&["create"], &["new.txt"])});
    assert_eq!(greedy(&project, &["--allow", "Greedy"], &input), None);
}

#[test]
fn a_file_in_folders_that_do_not_exist_yet_can_be_created() {
    let project = project();
    let new = project.root().join("a/b/new.txt");
    let beside = project.root().join("a/other");
    let input = json!({"subject": "a/b/new.txt", "tries": [
        {"what": "make-folder", "path": beside},
        {"what": "replace", "path": new},
        {"what": "make-folder", "path": beside},
        {"what": "create", "path": new},
    ]});
    let worked = greedy(&project, &["--allow", "Greedy"], &input).unwrap();
    assert_eq!(worked, [false, true, false, true]);
}
