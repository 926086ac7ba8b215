//! Deny rules about paths, inside cages: no command is a way around them. And repositories,
//! which only git changes.

use serde_json::json;

use crate::program::{Project, Ran};

const DENY: [&str; 5] = [
    "Read(.env*)",
    "Read(./vault/**)",
    "Edit(./gen/*.rs)",
    "Edit(./locked)",
    "Read(./later)",
];

fn project() -> Project {
    let project = Project::new();
    project.file(".env", "TOKEN=sesame\n");
    project.file("deep/er/.env.local", "TOKEN=sesame\n");
    project.file("vault/key", "sesame\n");
    project.file("vault/more/key", "sesame\n");
    project.file("gen/a.rs", "generated\n");
    project.file("gen/notes", "free\n");
    project.file("locked/a", "one\n");
    project
}

/// Runs a program that the validator cannot see through, with every rule that could allow it.
fn bash(project: &Project, script: &str) -> Ran {
    let input = json!({"command": script}).to_string();
    let mut arguments = vec!["call", "Bash", &input, "--allow", "Bash"];
    for rule in &DENY {
        arguments.extend(["--deny", rule]);
    }
    project.run(&arguments)
}

#[test]
fn what_a_rule_closes_no_program_opens() {
    let project = project();
    for script in [
        "python3 -c \"print(open('.en' + 'v').read())\"",
        "python3 -c \"import os; print(os.walk and open('deep/er/.en' + 'v.local').read())\"",
        "python3 -c \"print(open('va' + 'ult/key').read())\"",
        "python3 -c \"import os; os.rename('va' + 'ult', 'open'); print(open('open/key').read())\"",
        "python3 -c \"import os; os.rename('deep', 'open'); print(open('open/er/.en' + 'v.local').read())\"",
        "python3 -c \"import os; os.link('.en' + 'v', 'x'); print(open('x').read())\"",
        "python3 -c \"import os; os.symlink('va' + 'ult/more', 'x'); print(open('x/key').read())\"",
        "python3 -c \"import glob; print([open(f).read() for f in glob.glob('va*/**', recursive=True) if f.endswith('key')] or 1/0)\"",
    ] {
        let ran = bash(&project, script).exits(1);
        assert!(!ran.out.contains("sesame"), "{script}: {ran:?}");
        assert!(!ran.err.contains("sesame"), "{script}: {ran:?}");
    }
    for script in [
        "python3 -c \"open('ge' + 'n/a.rs', 'w').write('x')\"",
        "python3 -c \"import os; os.remove('ge' + 'n/a.rs')\"",
        "python3 -c \"import os; os.rename('ge' + 'n', 'x')\"",
        "python3 -c \"open('lock' + 'ed/a', 'w').write('x')\"",
        "python3 -c \"open('lock' + 'ed/new', 'w').write('x')\"",
        "python3 -c \"import os; os.rename('lock' + 'ed', 'x')\"",
        // Not even a file that does not exist yet.
        "python3 -c \"open('lat' + 'er', 'w').write('x')\"",
    ] {
        bash(&project, script).exits(1);
    }
    let root = project.root();
    for (file, wanted) in [
        (".env", "TOKEN=sesame\n"),
        ("vault/key", "sesame\n"),
        ("gen/a.rs", "generated\n"),
        ("locked/a", "one\n"),
    ] {
        let found = std::fs::read_to_string(root.join(file)).unwrap();
        assert_eq!(found, wanted, "{file}");
    }
    assert!(!root.join("locked/new").exists() && !root.join("later").exists());
}

#[test]
fn what_no_rule_closes_stays_open() {
    let project = project();
    for script in [
        "python3 -c \"print(open('gen/a.rs').read() + open('locked/a').read())\"",
        "echo more >> gen/notes && cat gen/notes",
        "echo x > deep/er/free && mv deep/er/free deep/er/other && cat deep/er/other",
    ] {
        bash(&project, script).exits(0);
    }
    allowed(&project, "python3 -c \"print(open('.env').read())\"")
        .exits(0)
        .prints(&["sesame"]);
    // A rule counts from the moment it is there: this file is new.
    project.file("deep/.env.new", "TOKEN=sesame\n");
    let script = "python3 -c \"print(open('deep/.en' + 'v.new').read())\"";
    bash(&project, script).exits(1);
}

/// Without rules that forbid.
fn allowed(project: &Project, script: &str) -> Ran {
    let input = json!({"command": script}).to_string();
    project.run(&["call", "Bash", &input, "--allow", "Bash"])
}

/// Runs git outside, as the person does.
#[allow(clippy::disallowed_methods)]
fn git(project: &Project, arguments: &[&str]) {
    let git = std::process::Command::new("git")
        .args(arguments)
        .current_dir(project.root())
        .status();
    assert!(git.is_ok_and(|status| status.success()), "{arguments:?}");
}

#[test]
fn a_permitted_git_command_writes_and_what_git_obeys_stays_closed() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    git(&project, &["init", "-q", "."]);
    let identity = "-c user.name=a -c user.email=a@b";
    // Settings of the person, outside: options before the sub-command would not be plain.
    for words in ["user.name a", "user.email a@b"] {
        let words: Vec<&str> = words.split(' ').collect();
        git(&project, &["config", words[0], words[1]]);
    }
    allowed(
        &project,
        "git add -A && git commit -qm first && git log --oneline",
    )
    .exits(0)
    .prints(&["first"]);
    for command in [
        "git config core.fsmonitor ./x",
        "git config --global core.pager ./x",
        &format!("git {identity} commit --allow-empty -qm second"),
        "sh -c 'git commit --allow-empty -qm second'",
        "git log && sh -c 'echo x > .git/hooks/post-commit'",
    ] {
        allowed(&project, command).exits(1);
    }
    allowed(&project, "git log --oneline | wc -l")
        .exits(0)
        .prints(&["1"]);
}

#[test]
fn what_the_cage_refused_is_explained() {
    let project = Project::new();
    project.file(".env", "TOKEN=sesame\n");
    for (script, wanted) in [
        (
            "python3 -c \"open('/etc/x', 'w')\"",
            "Blocked by the cage: write to /etc/x; allow with `\"sandbox\": {\"allowWrite\"",
        ),
        (
            "python3 -c \"open('.en' + 'v')\"",
            ".env is closed, by a deny rule,",
        ),
        ("echo x > .mcp.json", "The cage refused: "),
        (
            "python3 -c \"import socket; socket.create_connection(('203.0.113.1', 80))\"",
            "Blocked by the cage: there is no network; allow with `\"sandbox\": {\"allowedHosts\"",
        ),
    ] {
        bash(&project, script).exits(1).complains(&[wanted]);
    }
}
