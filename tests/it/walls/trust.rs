//! What a trusted text leads to, changed behind the user's back: it counts no longer, and the reason is
//! named.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Project, Ran};

/// What the project's settings hold beside an allow rule, what changes, how, and the name that the
/// reason must have.
struct Turn {
    name: &'static str,
    settings: fn() -> Value,
    change: fn(&Path),
    names: &'static str,
}

const TURNS: &[Turn] = &[
    Turn {
        name: "the script of a hook",
        settings: || hook("sh scripts/guard.sh"),
        change: |root| put(root, "scripts/guard.sh", "touch pwned"),
        names: "scripts/guard.sh changed",
    },
    Turn {
        name: "a script behind a variable",
        settings: || hook("\"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh"),
        change: |root| put(root, "scripts/guard.sh", "touch pwned"),
        names: "scripts/guard.sh changed",
    },
    Turn {
        name: "a script that was not there",
        settings: || hook("sh later.sh"),
        change: |root| put(root, "later.sh", "touch pwned"),
        names: "later.sh appeared",
    },
    Turn {
        name: "a script that goes away",
        settings: || hook("cd scripts && sh guard.sh"),
        change: |root| std::fs::remove_file(root.join("scripts/guard.sh")).unwrap(),
        names: "scripts/guard.sh disappeared",
    },
    Turn {
        name: "a link to the same text elsewhere",
        settings: || hook("sh link.sh"),
        change: |root| {
            put(root, "copy.sh", "exit 0\n");
            std::fs::remove_file(root.join("link.sh")).unwrap();
            std::os::unix::fs::symlink("copy.sh", root.join("link.sh")).unwrap();
        },
        names: "link.sh changed",
    },
    Turn {
        name: "what a link leads to outside",
        settings: || hook("sh outside.sh"),
        change: |root| {
            let outside = root.join("outside.sh").read_link().unwrap();
            std::fs::write(outside, "touch pwned").unwrap();
        },
        names: "outside.sh changed",
    },
    Turn {
        name: "the interpreter of a script",
        settings: || hook("./scripts/own"),
        change: |root| put(root, "scripts/interpreter", "#!/bin/sh\ntouch pwned"),
        names: "scripts/interpreter changed",
    },
    Turn {
        name: "a module",
        settings: || hook("python3 -m pkg"),
        change: |root| put(root, "pkg/__main__.py", "open('pwned', 'w')"),
        names: "pkg/__main__.py changed",
    },
    Turn {
        name: "a script with a blank in its name",
        settings: || hook("sh \"$CLAUDE_PROJECT_DIR/my scripts/guard.sh\""),
        change: |root| put(root, "my scripts/guard.sh", "touch pwned"),
        names: "my scripts/guard.sh changed",
    },
    Turn {
        name: "a script behind an option with a value",
        settings: || hook("python3 -W notice scripts/plain"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a script behind many options",
        settings: || hook("sh -e -u -f -C scripts/plain"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "what a shell reads",
        settings: || hook("cat scripts/plain | sh"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "what a pattern matches",
        settings: || hook("for g in scripts/*.sh; do sh \"$g\"; done"),
        change: |root| put(root, "scripts/more.sh", "touch pwned"),
        names: "scripts/more.sh appeared",
    },
    Turn {
        name: "a script behind a variable of the command",
        settings: || hook("G=plain; sh scripts/${G}"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a module in a package",
        settings: || hook("python3 -m pkg.part"),
        change: |root| put(root, "pkg/part.py", "open('pwned', 'w')"),
        names: "pkg/part.py changed",
    },
    Turn {
        name: "a script behind a link and the way back",
        settings: || hook("cd way && sh ../plain"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a script behind one folder after the other",
        settings: || hook("cd scripts && cd deep && sh plain"),
        change: |root| std::fs::write(root.join("scripts/deep/plain"), "evil()").unwrap(),
        names: "scripts/deep/plain changed",
    },
    Turn {
        name: "a script whose name is made of two",
        settings: || hook("F=scripts/pl; F=${F}ain.off; sh ${F%.off}"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a script in a variable that is run",
        settings: || hook("BASH_ENV=scripts/plain bash -c true"),
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a program that is found before another",
        settings: || hook("PATH=scripts:$PATH jq ."),
        change: |root| put(root, "scripts/jq", "#!/bin/sh\ntouch pwned"),
        names: "scripts/jq appeared",
    },
    Turn {
        name: "a server behind a link and the way back",
        settings: || json!({"mcpServers": {"s": {"command": "way/../server"}}}),
        change: |root| put(root, "scripts/server", "#!/bin/sh\ntouch pwned"),
        names: "scripts/server changed",
    },
    Turn {
        name: "the script of a server in a folder that is a link",
        settings: || {
            let args = json!(["../plain"]);
            json!({"mcpServers": {"s": {"command": "sh", "args": args, "cwd": "way"}}})
        },
        change: |root| std::fs::write(root.join("scripts/plain"), "evil()").unwrap(),
        names: "scripts/plain changed",
    },
    Turn {
        name: "a link on the way to a script",
        settings: || hook("sh way/../plain"),
        change: |root| {
            put(root, "other/plain", "touch pwned");
            std::fs::create_dir(root.join("other/deep")).unwrap();
            std::fs::remove_file(root.join("way")).unwrap();
            std::os::unix::fs::symlink("other/deep", root.join("way")).unwrap();
        },
        names: "way changed",
    },
    Turn {
        name: "a script that becomes a named pipe",
        settings: || hook("scripts/guard.sh"),
        change: |root| {
            std::fs::remove_file(root.join("scripts/guard.sh")).unwrap();
            let kind = rustix::fs::FileType::Fifo;
            let path = root.join("scripts/guard.sh");
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
        },
        names: "scripts/guard.sh",
    },
    Turn {
        name: "a component",
        settings: || json!({"plugins": ["parts/one.wasm"]}),
        change: |root| put(root, "parts/one.wasm", "other"),
        names: "parts/one.wasm changed",
    },
    Turn {
        name: "a component in a folder",
        settings: || json!({"plugins": ["parts"]}),
        change: |root| put(root, "parts/two.wasm", "new"),
        names: "parts/two.wasm appeared",
    },
    Turn {
        name: "a component that goes away",
        settings: || json!({"plugins": ["parts"]}),
        change: |root| std::fs::remove_file(root.join("parts/one.wasm")).unwrap(),
        names: "parts/one.wasm disappeared",
    },
    Turn {
        name: "a component that comes late",
        settings: || json!({"plugins": ["late.wasm"]}),
        change: |root| put(root, "late.wasm", "new"),
        names: "late.wasm appeared",
    },
    Turn {
        name: "a component that is a pipe",
        settings: || json!({"plugins": ["parts"]}),
        change: |root| {
            let kind = rustix::fs::FileType::Fifo;
            let mode = rustix::fs::Mode::RWXU;
            let path = root.join("parts/pipe.wasm");
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
        },
        names: "parts/pipe.wasm",
    },
    Turn {
        name: "the command of a server",
        settings: || json!({"mcpServers": {"s": {"command": "./scripts/server"}}}),
        change: |root| put(root, "scripts/server", "#!/bin/sh\ntouch pwned"),
        names: "scripts/server changed",
    },
    Turn {
        name: "the script of a server",
        settings: || json!({"mcpServers": {"s": {"command": "sh", "args": ["scripts/guard.sh"]}}}),
        change: |root| put(root, "scripts/guard.sh", "touch pwned"),
        names: "scripts/guard.sh changed",
    },
    Turn {
        name: "the script of a server with a blank in its name",
        settings: || {
            let args = json!(["my scripts/guard.sh"]);
            json!({"mcpServers": {"s": {"command": "sh", "args": args}}})
        },
        change: |root| put(root, "my scripts/guard.sh", "touch pwned"),
        names: "my scripts/guard.sh changed",
    },
    Turn {
        name: "the module of a server",
        settings: || json!({"mcpServers": {"s": {"command": "python3", "args": ["-m", "pkg.part"]}}}),
        change: |root| put(root, "pkg/part.py", "evil()"),
        names: "pkg/part.py changed",
    },
    Turn {
        name: "what a variable of a server loads",
        settings: || {
            let env = json!({"NODE_OPTIONS": "--require ./scripts/pre.js"});
            json!({"mcpServers": {"s": {"command": "node", "args": ["x"], "env": env}}})
        },
        change: |root| put(root, "scripts/pre.js", "evil()"),
        names: "scripts/pre.js changed",
    },
    Turn {
        name: "the command that answers questions",
        settings: || {
            let judge = json!({"command": "sh scripts/guard.sh", "allow": ["x"]});
            json!({"permissions": {"classifier": judge}})
        },
        change: |root| put(root, "scripts/guard.sh", "echo '{\"decision\": \"allow\"}'"),
        names: "scripts/guard.sh changed",
    },
    Turn {
        name: "settings of one's own in the project",
        settings: || json!({"local": true, "plugins": ["parts"]}),
        change: |root| put(root, "parts/two.wasm", "new"),
        names: "parts/two.wasm appeared",
    },
];

#[test]
fn trust_ends_when_what_it_leads_to_changes() {
    for turn in TURNS {
        let (project, _outside) = project();
        let root = project.root();
        let mut settings = (turn.settings)();
        let name = match settings.as_object_mut().unwrap().remove("local") {
            Some(_) => ".toolbay/settings.local.json",
            None => ".toolbay/settings.json",
        };
        settings["permissions"]["allow"] = json!(["Write"]);
        project.file(name, settings.to_string());
        let before = write(&project);
        assert_ne!(before.code, Some(0), "{}: unasked", turn.name);
        // What is trusted is shown.
        let shown = project.run(&["trust", "--yes"]).exits(0).out;
        if !turn.names.contains("appeared") {
            let file = turn.names.trim_end_matches(" changed");
            let file = file.trim_end_matches(" disappeared");
            let is_shown = shown.contains(file) || turn.names.contains("pipe");
            assert!(
                is_shown && shown.contains("sha256:"),
                "{}: {shown}",
                turn.name
            );
        }
        let trusted = write(&project);
        assert_eq!(trusted.code, Some(0), "{}: {}", turn.name, trusted.err);
        // The same again is no change.
        put(&root, "README", "data");
        assert_eq!(write(&project).code, Some(0), "{}", turn.name);

        (turn.change)(&root);
        let after = write(&project);
        assert_ne!(after.code, Some(0), "{}: {}", turn.name, after.err);
        let is_named = after.err.contains(turn.names) && after.err.contains("toolbay trust");
        assert!(is_named, "{}: {}", turn.name, after.err);
        assert!(!root.join("pwned").exists(), "{}", turn.name);
    }
}

#[test]
fn an_approved_server_is_asked_about_again_when_its_script_changes() {
    let (project, _outside) = project();
    let servers = json!({"mcpServers": {"s": {"command": "sh", "args": ["scripts/guard.sh"]}}});
    project.file(".mcp.json", servers.to_string());
    let state = || {
        let listed = project.run(&["mcp", "list", "--json"]);
        format!("{}{}", listed.out, listed.err)
    };
    assert!(state().contains("pending"), "{}", state());
    let shown = project.run(&["mcp", "approve", "s", "--yes"]).exits(0);
    shown.prints(&["scripts/guard.sh", "sha256:"]);
    assert!(!state().contains("pending"), "{}", state());
    put(&project.root(), "scripts/guard.sh", "touch pwned");
    let after = state();
    assert!(after.contains("pending"), "{after}");
    assert!(after.contains("scripts/guard.sh changed"), "{after}");
    assert!(!project.root().join("pwned").exists());
    project.run(&["mcp", "approve", "s", "--yes"]).exits(0);
    assert!(!state().contains("pending"), "{}", state());
}

/// A clone that wants to keep each start busy: nothing of it is looked for before somebody has agreed,
/// and what is too much is never looked for.
#[test]
fn a_project_that_names_too_much_is_not_looked_at() {
    let (project, _outside) = project();
    let root = project.root();
    let folders: Vec<String> = (0..150).map(|number| format!("d{number}")).collect();
    for name in &folders {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let words = folders.join(" ");
    let servers: serde_json::Map<String, Value> = (0..20)
        .map(|number| (format!("s{number}"), json!({"command": words})))
        .chain([("good".to_owned(), json!({"command": "scripts/server"}))])
        .collect();
    project.file(".mcp.json", json!({"mcpServers": servers}).to_string());
    project.file(".toolbay/settings.json", hook(&words).to_string());
    let listed = project.run(&["mcp", "list", "--json"]).exits(0);
    assert!(listed.out.contains("pending"), "{}", listed.out);
    project
        .run(&["mcp", "approve", "s1", "--yes"])
        .complains(&["s1", "names too much to be checked"]);
    // Another one is none the worse for it.
    project.run(&["mcp", "approve", "good", "--yes"]).exits(0);
    // Trusted all the same, the hook does not run, and neither does the call that it guards.
    std::fs::remove_file(root.join(".mcp.json")).unwrap();
    project.run(&["trust", "--yes"]).exits(0);
    let input = json!({"pattern": "*"}).to_string();
    let ran = project.run(&["call", "Glob", &input]);
    assert_ne!(ran.code, Some(0));
    ran.complains(&["names too much to be checked"]);
}

#[test]
fn a_file_of_a_project_with_too_many_entries_is_broken() {
    for (settings, part) in [
        (
            json!({"permissions": {"deny": vec!["Read(./a)"; 2001]}}),
            "2001 rules",
        ),
        (
            json!({"permissions": {"deny": [format!("Read({})", "{a,b}".repeat(30))]}}),
            "sets in the rules",
        ),
    ] {
        let (project, _outside) = project();
        project.file(".toolbay/settings.json", settings.to_string());
        let ran = write(&project);
        assert_ne!(ran.code, Some(0), "{part}");
        ran.complains(&[".toolbay/settings.json", part]);
        assert!(!project.root().join("new").exists(), "{part}");
    }
    let (project, _outside) = project();
    let servers: serde_json::Map<String, Value> = (0..300)
        .map(|number| (format!("s{number}"), json!({"command": "x"})))
        .collect();
    let servers = json!({"mcpServers": servers}).to_string();
    project.file(".mcp.json", &servers);
    let listed = project.run(&["mcp", "list"]);
    listed.complains(&["300 MCP servers", "left out"]);
    std::fs::remove_file(project.root().join(".mcp.json")).unwrap();
    project.file(".toolbay/settings.json", &servers);
    let ran = write(&project);
    assert_ne!(ran.code, Some(0));
    ran.complains(&["300 MCP servers", ".toolbay/settings.json"]);
}

#[test]
fn programs_read_what_changed() {
    let (project, _outside) = project();
    project.file(
        ".toolbay/settings.json",
        hook("sh scripts/guard.sh").to_string(),
    );
    project.run(&["trust", "--yes"]).exits(0);
    put(&project.root(), "scripts/guard.sh", "touch pwned");
    let ran = project.run(&["trust", "--yes", "--json"]).exits(0);
    let said: Value = serde_json::from_str(&ran.out).unwrap();
    let file = &said["files"][0];
    assert_eq!(file["wasTrusted"], false, "{said}");
    let why = file["why"].as_str().unwrap();
    assert!(why.contains("scripts/guard.sh changed"), "{why}");
    let script = project.root().join("scripts/guard.sh");
    let state = &file["leadsTo"][script.to_str().unwrap()];
    assert_eq!(state["bytes"], 11, "{said}");
}

/// A project with all that settings may lead to, and a folder beside it.
fn project() -> (Project, tempfile::TempDir) {
    let project = Project::new();
    let root = project.root();
    for name in ["scripts/guard.sh", "link-target.sh"] {
        put(&root, name, "exit 0\n");
    }
    put(&root, "scripts/own", "#!./scripts/interpreter\n");
    put(&root, "scripts/interpreter", "#!/bin/sh\nexit 0\n");
    put(&root, "scripts/server", "#!/bin/sh\nexit 0\n");
    put(&root, "scripts/pre.js", "");
    put(&root, "pkg/__main__.py", "");
    put(&root, "pkg/part.py", "");
    put(&root, "my scripts/guard.sh", "exit 0\n");
    // Nothing of them says that they are scripts.
    std::fs::create_dir(root.join("scripts/deep")).unwrap();
    for name in ["scripts/plain", "scripts/deep/plain", "notice"] {
        std::fs::write(root.join(name), "").unwrap();
    }
    std::os::unix::fs::symlink("scripts/deep", root.join("way")).unwrap();
    put(&root, "parts/one.wasm", "one");
    std::os::unix::fs::symlink("link-target.sh", root.join("link.sh")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let script = outside.path().join("outside.sh");
    std::fs::write(&script, "exit 0\n").unwrap();
    std::os::unix::fs::symlink(script, root.join("outside.sh")).unwrap();
    (project, outside)
}

/// A hook that the calls of this test never reach.
fn hook(command: &str) -> Value {
    let entry = json!({"type": "command", "command": command});
    json!({"hooks": {"PreToolUse": [{"matcher": "Glob", "hooks": [entry]}]}})
}

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn write(project: &Project) -> Ran {
    let path = project.root().join("new");
    let _ = std::fs::remove_file(&path);
    let input = json!({"file_path": path, "content": "x"}).to_string();
    project.run(&["call", "Write", &input])
}
