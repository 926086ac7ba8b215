//! Rules about names that are links: what they close stays closed by every name that leads there.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::program::{Project, Ran};

const KEY: &str = "KEY-IN-FILE";

fn call(project: &Project, rules: &[&str], tool: &str, input: &Value) -> Ran {
    let input = input.to_string();
    let mut args = vec!["call", tool, input.as_str()];
    for rule in rules {
        args.extend(["--deny", rule]);
    }
    project.run(&args)
}

#[track_caller]
fn assert_closed(ran: &Ran, what: &str) {
    assert_eq!(ran.code, Some(1), "{what}: {ran:?}");
    assert!(
        !ran.out.contains(KEY) && !ran.err.contains(KEY),
        "{what}: {ran:?}"
    );
}

/// `.env` and `one` lead to `conf/prod`, `secret` to the folder `real`, `far` over `secret` to a file in it.
fn linked() -> Project {
    let project = Project::new();
    project.file("conf/prod", KEY);
    project.file("real/deep/a", KEY);
    project.file("open", KEY);
    for (target, link) in [
        ("conf/prod", ".env"),
        (".env", "one"),
        ("real", "secret"),
        ("secret/deep/a", "far"),
    ] {
        symlink(target, project.root().join(link)).unwrap();
    }
    project
}

#[test]
fn a_name_that_is_a_link_is_closed_by_its_name() {
    let project = linked();
    let root = project.root();
    let absolute = format!("Read(/{}/.env)", root.display());
    for rule in [
        "Read(.env)",
        "Read(./.env)",
        "Read(**/.env)",
        "Read(.e*)",
        &absolute,
    ] {
        for name in [".env", "one", "./conf/../.env"] {
            let ran = call(&project, &[rule], "Read", &json!({"file_path": name}));
            assert_closed(&ran, &format!("{rule} {name}"));
            let grep = json!({"pattern": "KEY", "path": name, "output_mode": "content"});
            let ran = call(&project, &[rule], "Grep", &grep);
            assert_closed(&ran, &format!("{rule}: grep {name}"));
        }
        let open = call(&project, &[rule], "Read", &json!({"file_path": "open"}));
        open.exits(0).prints(&[KEY]);
    }
    // A rule that names a path is about the file there.
    for rule in ["Read(./.env)", &absolute] {
        let ran = call(
            &project,
            &[rule],
            "Read",
            &json!({"file_path": "conf/prod"}),
        );
        assert_closed(&ran, rule);
    }
}

#[test]
fn a_folder_that_is_a_link_is_closed_by_each_of_its_names() {
    let project = linked();
    for rule in [
        "Read(./secret/**)",
        "Read(./secret)",
        "Read(./secret/*/a)",
        "Read(**/secret/**)",
    ] {
        for name in ["secret/deep/a", "far"] {
            let ran = call(&project, &[rule], "Read", &json!({"file_path": name}));
            assert_closed(&ran, &format!("{rule} {name}"));
        }
        if rule.starts_with("Read(./") {
            let ran = call(
                &project,
                &[rule],
                "Read",
                &json!({"file_path": "real/deep/a"}),
            );
            assert_closed(&ran, rule);
            let grep = json!({"pattern": "KEY", "path": ".", "output_mode": "content"});
            let found = call(&project, &[rule], "Grep", &grep).exits(0);
            assert!(!found.out.contains("deep"), "{found:?}");
            found.prints(&["open"]);
        }
    }
    for rule in ["Edit(./secret/**)", "Edit(**/secret/**)"] {
        for name in ["secret/new", "secret/deep/new"] {
            let input = json!({"file_path": name, "content": "x"}).to_string();
            let args = [
                "call",
                "Write",
                &input,
                "--deny",
                rule,
                "--permission-mode",
                "acceptEdits",
            ];
            let ran = project.run(&args);
            assert_closed(&ran, &format!("{rule} {name}"));
            assert!(!project.root().join(name).exists(), "{rule} {name}");
        }
    }
}

/// A program of its own in the cage opens what no rule can see in its text.
#[test]
fn a_program_in_the_cage_reads_nothing_over_a_link_that_a_rule_closes() {
    let project = linked();
    for (rule, names) in [
        ("Read(.env)", &[".env", "one", "conf/prod"][..]),
        ("Read(.e*)", &[".env", "one", "conf/prod"]),
        ("Read(**/secret/**)", &["secret/deep/a", "far"]),
        (
            "Read(./secret/**)",
            &["secret/deep/a", "far", "real/deep/a"],
        ),
    ] {
        for name in names {
            let script = format!("n={name}; python3 -c \"print(open('$n').read())\"");
            let input = json!({"command": script}).to_string();
            let ran = project.run(&["call", "Bash", &input, "--allow", "Bash", "--deny", rule]);
            assert!(!ran.out.contains(KEY), "{rule} {name}: {ran:?}");
        }
        let input = json!({"command": "n=open; python3 -c \"print(open('$n').read())\""});
        let input = input.to_string();
        let ran = project.run(&["call", "Bash", &input, "--allow", "Bash", "--deny", rule]);
        ran.exits(0).prints(&[KEY]);
    }
}

/// A protected name stays one, wherever it leads.
#[test]
fn a_protected_name_that_is_a_link_needs_a_rule_that_names_it() {
    let project = Project::new();
    project.file("scripts/env", "old");
    symlink("scripts/env", project.root().join(".envrc")).unwrap();
    let write = |name: &str| json!({"file_path": name, "content": "new"}).to_string();
    let read = || fs::read_to_string(project.root().join("scripts/env")).unwrap();
    for more in [
        &["--permission-mode", "acceptEdits"][..],
        &["--allow", "Write(./**)", "--allow", "Edit(./**)"],
    ] {
        let run = |args: &[&str]| project.run(&[args, &["--session", "s"], more].concat());
        run(&["call", "Read", r#"{"file_path": ".envrc"}"#]).exits(0);
        let ran = run(&["call", "Write", &write(".envrc")]);
        assert_eq!(ran.code, Some(1), "{more:?}: {ran:?}");
        assert_eq!(read(), "old", "{more:?}");
    }
    let named = [
        "--session",
        "s",
        "--allow",
        "Write(./.envrc)",
        "--allow",
        "Write(./scripts/**)",
    ];
    let write = write(".envrc");
    let ran = project.run(&[&["call", "Write", &write][..], &named].concat());
    ran.exits(0);
    assert_eq!(read(), "new");
}

/// The home folder is often behind a link: `/home` on another disk.
#[test]
fn rules_and_own_files_hold_where_the_home_folder_is_behind_a_link() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().canonicalize().unwrap();
    for (file, text) in [
        (".ssh/id", KEY),
        (".local/state/toolbay/trust.json", "{}"),
        (".cache/toolbay/compiled/x", "old"),
        ("a.txt", KEY),
    ] {
        let file = base.join("real").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::create_dir(base.join("homes")).unwrap();
    symlink(base.join("real"), base.join("homes/me")).unwrap();
    let home = base.join("homes/me");
    let (state, cache) = (home.join(".local/state"), home.join(".cache"));
    let variables = [
        ("HOME", home.as_path()),
        ("XDG_STATE_HOME", &state),
        ("XDG_CACHE_HOME", &cache),
    ];
    let real = |name: &str| base.join("real").join(name);
    let cwd = base.join("real");
    let run = |args: &[&str]| {
        let here = ["--cwd", cwd.to_str().unwrap()];
        project.run_with_variables(&[args, &here].concat(), &variables)
    };
    for name in ["real/.ssh/id", "homes/me/.ssh/id"] {
        let read = json!({"file_path": base.join(name)}).to_string();
        let ran = run(&[
            "call",
            "Read",
            &read,
            "--allow",
            "Read",
            "--deny",
            "Read(~/.ssh/**)",
        ]);
        assert_closed(&ran, name);
    }
    for name in [
        ".local/state/toolbay/trust.json",
        ".cache/toolbay/compiled/x",
    ] {
        let write = json!({"file_path": real(name), "content": "evil"}).to_string();
        let ran = run(&[
            "call",
            "Write",
            &write,
            "--allow",
            "Write",
            "--session",
            "s",
        ]);
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
        assert!(
            !fs::read_to_string(real(name)).unwrap().contains("evil"),
            "{name}"
        );
    }
    let read = json!({"file_path": real(".local/state/toolbay/trust.json")}).to_string();
    assert_eq!(
        run(&["call", "Read", &read, "--allow", "Read"]).code,
        Some(1)
    );
    let read = json!({"file_path": real("a.txt")}).to_string();
    run(&["call", "Read", &read]).exits(0).prints(&[KEY]);
}
