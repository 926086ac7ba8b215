//! Which files a command names, in all the ways that people and attackers write it.

mod shells;

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

fn found(project: &Path, home: &Path, command: &str) -> Vec<String> {
    let entry = json!({"type": "command", "command": command});
    let hooks = Hooks::parse(&json!({"PreToolUse": [{"hooks": [entry]}]}), "a.json").unwrap();
    let files = hooks.files_in(project, Some(home));
    let names = files.iter().map(|file| file.strip_prefix(project).unwrap());
    names
        .map(|name| name.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_files_that_a_hook_runs_are_found_however_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("work");
    for file in [
        "s/g.sh",
        "real.py",
        "main.rs",
        "bin/guard",
        "pkg/__main__.py",
        "t/g.js",
        "plain",
        "my hooks/spaced.py",
        "hooks/gua,rd.py",
        "hooks/guard.py",
        "hooks/plain",
        "hooks/guard.tcl",
        "hooks/guard.sed",
    ] {
        let file = project.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.join("bin/guard"), mode.clone()).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, project.join(name)).unwrap();
    link("real.py", "two.py");
    link("two.py", "one.py");
    link("s", "folder");
    let script = |name: &str, line: &str| {
        std::fs::write(project.join(name), format!("#!{line}\nx")).unwrap();
        std::fs::set_permissions(project.join(name), mode.clone()).unwrap();
    };
    script("env-run.py", "/usr/bin/env -S ./t/interpreter -u");
    script("own-run", " tools/later");
    std::fs::write(project.join("t/interpreter"), "").unwrap();
    let absolute = format!("{}/s/g.sh", project.display());
    let spaced = format!("python3 \"{}/my hooks/spaced.py\"", project.display());
    let any_python = &["hooks", "hooks/gua,rd.py", "hooks/guard.py"][..];
    for (command, wanted) in [
        ("\"$CLAUDE_PROJECT_DIR\"/s/g.sh", &["s/g.sh"][..]),
        ("\"${CLAUDE_PROJECT_DIR:?}\"/s/g.sh --strict", &["s/g.sh"]),
        ("\"${CLAUDE_PROJECT_DIR%/}\"/s/g.sh", &["s/g.sh"]),
        ("\"$(pwd)\"/s/g.sh", &["s/g.sh"]),
        (&absolute, &["s/g.sh"]),
        ("$HOME/work/s/g.sh", &["s/g.sh"]),
        ("~/work/s/g.sh", &["s/g.sh"]),
        ("s/../s/./g.sh", &["s/g.sh"]),
        ("D=s; \"$D\"/g.sh", &["s/g.sh"]),
        ("cd s && ./g.sh", &["s/g.sh"]),
        ("cd \"$CLAUDE_PROJECT_DIR/s\" && sh g.sh", &["s/g.sh"]),
        ("bash -c \"cd s && ./g.sh\"", &["s/g.sh"]),
        (
            "LOG=1 timeout -s KILL 5 bash -o pipefail s/g.sh main.rs",
            &["main.rs", "s/g.sh"],
        ),
        ("flock l bin/guard", &["bin/guard"]),
        ("cat | xargs -0 ./bin/guard", &["bin/guard"]),
        ("python3.11 plain", &["plain"]),
        ("python3 -m pkg", &["pkg/__main__.py"]),
        ("node t/g", &["t/g.js"]),
        ("python3 -u one.py", &["one.py", "real.py", "two.py"]),
        ("./folder/g.sh", &["folder", "s/g.sh"]),
        ("sh later.sh", &["later.sh"]),
        ("bin/later", &["bin/later"]),
        ("./env-run.py", &["env-run.py", "t/interpreter"]),
        ("./own-run", &["own-run", "tools/later"]),
        // Names that hold what separates words elsewhere.
        (&spaced, &["my hooks/spaced.py"]),
        (
            "python3 \"$CLAUDE_PROJECT_DIR/my hooks/spaced.py\"",
            &["my hooks/spaced.py"],
        ),
        ("python3 my\\ hooks/spaced.py", &["my hooks/spaced.py"]),
        (
            "sh -c 'python3 \"my hooks/spaced.py\"'",
            &["my hooks/spaced.py"],
        ),
        ("python3 hooks/gua,rd.py", &["hooks/gua,rd.py"]),
        ("python3 $'hooks/gu\\x61rd.py'", &["hooks/guard.py"]),
        // Modules, and interpreters of all kinds.
        ("python3 -m hooks.guard", &["hooks/guard.py"]),
        ("python3 -Im hooks.guard", &["hooks/guard.py"]),
        ("python3 -mhooks.guard", &["hooks/guard.py"]),
        ("tclsh hooks/guard.tcl", &["hooks/guard.tcl"]),
        ("sed -n -f hooks/guard.sed", &["hooks/guard.sed"]),
        ("sed -nfhooks/plain", &["hooks/plain"]),
        ("Rscript hooks/plain", &["hooks/plain"]),
        ("osascript hooks/plain", &["hooks/plain"]),
        ("nix eval -f hooks/plain", &["hooks/plain"]),
        ("dotnet script hooks/later.csx", &["hooks/later.csx"]),
        ("go run hooks/later.go", &["hooks/later.go"]),
        // Whatever way it takes to the interpreter.
        ("sh -e -u -f -C hooks/plain", &["hooks/plain"]),
        ("sh < hooks/plain", &["hooks/plain"]),
        ("cat hooks/plain | sh", &["hooks/plain"]),
        ("eval \"$(cat hooks/plain)\"", &["hooks/plain"]),
        (
            "sh <<E\n. \"$CLAUDE_PROJECT_DIR\"/hooks/plain\nE",
            &["hooks/plain"],
        ),
        // Patterns: the folder, so that nothing is added.
        ("python3 hooks/g*.py", any_python),
        (
            "for g in hooks/*.py; do python3 \"$g\" || exit $?; done",
            any_python,
        ),
        ("sh -c 'exec python3 hooks/g*.py'", any_python),
        ("python3 hooks/\"$G\".py", any_python),
        ("python3 hooks/{gua,guard}.py", any_python),
        (
            "python3 \"$G\".py",
            &["env-run.py", "one.py", "real.py", "t/interpreter", "two.py"],
        ),
        ("G=guard; python3 hooks/${G}.py", &["hooks/guard.py"]),
        (
            "D=hooks; F=$D/guard; python3 \"$F\".py",
            &["hooks/guard.py"],
        ),
        // Compared with, or for a program that reads patterns itself.
        ("case $f in hooks/*) exit 2;; esac; cat | jq .x", &[]),
        ("[[ $f == hooks/* ]] && exit 2; find . -name 'hooks/*'", &[]),
        // What is only read stays open, and what is not the project's is the user's matter.
        ("grep -q main.rs && test -d s", &[]),
        ("/usr/bin/true", &[]),
        ("eslint s", &[]),
    ] {
        let wanted: Vec<String> = wanted.iter().map(|file| (*file).to_owned()).collect();
        let mut found = found(&project, &home, command);
        // Scripts that are not there, in other folders, are closed as well.
        found.retain(|file| project.join(file).exists() || wanted.contains(file));
        assert_eq!(found, wanted, "{command}");
    }
}

/// What people have in their settings.
#[test]
fn what_a_usual_hook_works_on_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("work");
    for file in [
        "src/app.c",
        "src/main.rs",
        "notes.db",
        "hooks/guard.sh",
        "README",
        "web/a.css",
    ] {
        let file = project.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    for (command, wanted) in [
        (
            "jq -r .tool_input.file_path | xargs prettier --check",
            &[][..],
        ),
        (
            "jq -r '.tool_input.file_path' | { read -r f; prettier --write \"$f\"; }",
            &[],
        ),
        ("prettier --check 'src/**/*.c' web/*.css {src,web}/*", &[]),
        (
            "f=$(jq -r .tool_input.file_path); case \"$f\" in *.rs) rustfmt \"$f\";; src/*) ;; esac",
            &[],
        ),
        (
            "f=$(cat); base=\"${f##*/}\"; ext=\"${base#*.}\"; [ \"$ext\" = rs ] && cargo clippy",
            &[],
        ),
        ("echo \"$USER looks at main.rs in src\" >>notes.db", &[]),
        (
            "git diff --name-only | grep -q '^src/' && cargo test --lib",
            &[],
        ),
        ("[[ \"$(cat)\" == *src/* ]] && exit 2; exit 0", &[]),
        ("find src -name '*.c' -exec clang-format -i {} +", &[]),
        ("ls src/* | xargs -I{} grep -H TODO src/{}", &[]),
        ("cd src && grep -rn TODO . --include '*.c'", &[]),
        (
            "out=\"$CLAUDE_PROJECT_DIR/.cache/log\"; mkdir -p \"${out%/*}\"; date >>\"$out\"",
            &[],
        ),
        ("sh hooks/guard.sh", &["hooks/guard.sh"]),
        (
            "cd \"$CLAUDE_PROJECT_DIR\" || exit 2; exec sh hooks/guard.sh \"$@\"",
            &["hooks/guard.sh"],
        ),
        (
            "f=$(jq -r .file); bash \"${CLAUDE_PROJECT_DIR}/hooks/guard.sh\" \"${f%.*}\" \"$f\"",
            &["hooks/guard.sh"],
        ),
        (
            "timeout 5 ./hooks/guard.sh --db notes.db",
            &["hooks/guard.sh"],
        ),
    ] {
        let mut found = found(&project, &home, command);
        found.retain(|file| project.join(file).exists());
        assert_eq!(found, wanted, "{command}");
    }
}

#[test]
fn a_script_that_is_nowhere_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("work");
    std::fs::create_dir_all(project.join("s")).unwrap();
    for file in ["s/there.py", "s/tool"] {
        std::fs::write(project.join(file), "").unwrap();
    }
    for (command, wanted) in [
        ("node gone.js", Some("gone.js")),
        (
            "python3 -u \"$CLAUDE_PROJECT_DIR\"/s/gone.py --strict",
            Some("/s/gone.py"),
        ),
        ("cat | sh s/gone", Some("s/gone")),
        ("LOG=1 bash -e $HOME/gone.sh", Some("/gone.sh")),
        ("python3 s/there.py", None),
        ("cd s && python3 there.py", None),
        (
            "python3 \"${CLAUDE_PROJECT_DIR:?}\"/s/there.py gone.txt",
            None,
        ),
        ("sh s/tool", None),
        ("node s/there", None),
        // Somewhere else, which is not known here.
        ("python3 \"$TOOLS\"/gone.py", None),
        ("grep -q gone && exit 1", None),
        ("jq .tool_name", None),
        ("make lint", None),
        ("/usr/bin/false", None),
    ] {
        let found = missing_script(command, &project, Some(&home));
        assert_eq!(found.as_deref(), wanted, "{command}");
    }
}

#[test]
fn what_a_script_is_given_beside_itself_is_not_vouched_for() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    for file in [
        "guard.py",
        "notes.db",
        "plain",
        "my own.py",
        "README",
        "srvtxt",
    ] {
        std::fs::write(project.join(file), "").unwrap();
    }
    for (command, wanted) in [
        ("python3 guard.py notes.db", &["guard.py"][..]),
        ("python3 -u guard.py --notes=notes.db", &["guard.py"]),
        ("python3 plain", &["plain"]),
        ("sh -e plain notes.db", &["plain"]),
        ("bin/later", &[]),
        ("python3 'my own.py' notes.db", &["my own.py"]),
        // An option's value is no script.
        ("python3 -W README srvtxt", &["README", "srvtxt"]),
        ("sh -e -u -f -C srvtxt", &["srvtxt"]),
        ("sh -e -u -f -C srvtxt notes.db", &["srvtxt"]),
        ("python3 -W guard.py srvtxt", &["guard.py", "srvtxt"]),
        ("cat srvtxt | sh", &["srvtxt"]),
        ("sh -s < srvtxt", &["srvtxt"]),
        ("eval \"$(cat srvtxt)\"", &["srvtxt"]),
        ("sh -c \"$(cat srvtxt)\"", &["srvtxt"]),
        // Where a hook keeps what it has seen.
        ("python3 -c 'print(1)' >> notes.db", &[]),
        ("jq -r .x >> notes.db", &[]),
        ("cat notes.db | python3 guard.py", &["guard.py"]),
    ] {
        let ground = NameGround::of_project(&project, None);
        let form = CommandForm::Shell(command);
        let found =
            named_files(form, &ground, NamedFiles::Code, &mut LookBudget::default()).unwrap();
        let mut found: Vec<&str> = found
            .iter()
            .map(|file| file.strip_prefix(&project).unwrap().to_str().unwrap())
            .collect();
        found.retain(|file| project.join(file).exists());
        assert_eq!(found, wanted, "{command}");
    }
}

/// A program in quotes reads like the name of a file that is not there.
#[test]
fn a_text_that_is_too_long_for_a_name_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let part = "a".repeat(255);
    for (text, is_name) in [
        (format!("x/{part}"), true),
        (format!("x/{part}a"), false),
        ("a/".repeat(1500), true),
        ("a/".repeat(3000), false),
    ] {
        let found = found(&project, &project, &format!("python3 -c '{text}' guard.py"));
        assert!(found.contains(&"guard.py".to_owned()), "{found:?}");
        let text = text.trim_end_matches('/');
        let is_found = found.iter().any(|name| name == text);
        assert_eq!(is_found, is_name, "{:.300}", text);
        for name in found {
            let name = project.join(name);
            let looked = name.symlink_metadata().map_err(|error| error.kind());
            assert_eq!(looked.err(), Some(std::io::ErrorKind::NotFound), "{name:?}");
        }
    }
}

#[test]
fn what_names_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let folders: Vec<String> = (0..200).map(|number| format!("d{number}")).collect();
    for name in &folders {
        std::fs::create_dir(project.join(name)).unwrap();
    }
    let words = |count: usize| (0..count).map(|at| format!("a{at}/b ")).collect::<String>();
    let ground = NameGround::of_project(&project, None);
    for (command, wanted) in [
        (words(200_000), TooMuchNamed::Length),
        (words(6000), TooMuchNamed::Words),
        (folders.join(" "), TooMuchNamed::Folders),
        (
            format!("{} {}", words(2000), folders[..40].join(" ")),
            TooMuchNamed::Looks,
        ),
        ("$(".repeat(1000), TooMuchNamed::Depth),
    ] {
        for which in [NamedFiles::Code, NamedFiles::Closed] {
            let form = CommandForm::Shell(&command);
            let found = named_files(form, &ground, which, &mut LookBudget::default());
            assert_eq!(found, Err(wanted), "{:.40}", command);
        }
    }
    // What is well on its own is too much if there is much of it.
    let command = words(1000);
    let form = CommandForm::Shell(&command);
    let mut budget = LookBudget::default();
    let mut look = || named_files(form, &ground, NamedFiles::Code, &mut budget);
    assert!(look().is_ok());
    assert!((0..100).any(|_| look() == Err(TooMuchNamed::LooksOfFile)));
}

/// Whatever the text is, it is read or refused in a moment: the bound is generous for a loaded machine.
#[test]
fn no_text_keeps_the_reader_busy() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(project.join("a/a/a/a")).unwrap();
    let ground = NameGround::of_project(&project, None);
    let many = |text: &str| text.repeat(60_000 / text.len());
    for text in [
        many("{a,b}"),
        many("{a,"),
        many("{"),
        many("["),
        many("[$x"),
        many("[[:a:]"),
        many("$("),
        many("${a-"),
        many("${a#${b%"),
        many("${a%x}"),
        many("\"${a:-"),
        many("'\"$'"),
        many("`"),
        many("a<<E\n"),
        many("$(a <<E\n"),
        many("A=("),
        many("@("),
        many("A=$A$A; "),
        many("A=$A$A/${A%x}; "),
        many("A+=a; "),
        many("sh $A "),
        many("A=a/b; sh ${A//x/y}*; "),
        many("cd a; "),
        many("cd ../a*; "),
        many("for f in a b; do sh $f$f; done; "),
        many("eval \"$A b\"; "),
        many("BASH_ENV=a/b PATH=a:b:c sh -f x; "),
        format!("F={}; sh ${{F%*}} ${{F#*a*a}}", "a/".repeat(300)),
        format!("F={}; sh ${{F//[a]/b}}", "a/".repeat(300)),
        format!("{}; sh {}", many("A=a B=b C=c; "), "$A$B$C".repeat(20)),
        format!("sh {}", "a*/".repeat(200)),
        format!("sh {}", "**/".repeat(50)),
    ] {
        let begin = std::time::Instant::now();
        let form = CommandForm::Shell(&text);
        let _ = named_files(
            form,
            &ground,
            NamedFiles::Closed,
            &mut LookBudget::default(),
        );
        let took = begin.elapsed();
        assert!(took.as_secs() < 60, "{took:?}: {text:.60}");
    }
}

#[test]
fn a_hook_that_names_too_much_never_runs_and_closes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let words: String = (0..6000).map(|at| format!("a{at} ")).collect();
    let entry = json!({"type": "command", "command": words});
    let hooks = Hooks::parse(&json!({"PreToolUse": [{"hooks": [entry]}]}), "a.json").unwrap();
    // Nobody has looked: everything is closed.
    assert_eq!(
        hooks.files_in(&project, None),
        std::slice::from_ref(&project)
    );
    let hooks = hooks
        .pinned(&NameGround::of_project(&project, None))
        .unwrap();
    assert!(hooks.files_in(&project, None).is_empty());
    let why = super::super::pins::changed(&hooks.all[0])
        .unwrap()
        .to_string();
    assert!(why.contains("names too much to be checked"), "{why}");
}

/// What came with the same clone was written by the same people.
#[test]
fn what_lies_above_a_project_in_its_repository_counts_for_a_clone() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().canonicalize().unwrap().join("repo");
    let project = repository.join("sub");
    for name in ["sub", ".git", "tools"] {
        std::fs::create_dir_all(repository.join(name)).unwrap();
    }
    let script = repository.join("tools/x.sh");
    std::fs::write(&script, "").unwrap();
    std::fs::write(folder.path().join("y.sh"), "").unwrap();
    for (command, wanted) in [
        ("sh ../tools/x.sh", true),
        ("cd .. && sh tools/x.sh", true),
        ("sh ../../y.sh", false),
    ] {
        let look = |ground: &NameGround| {
            let form = CommandForm::Shell(command);
            named_files(form, ground, NamedFiles::Code, &mut LookBudget::default()).unwrap()
        };
        let mut found = look(&NameGround::of_clone(&project, None));
        found.retain(|file| file.exists());
        assert_eq!(
            found.iter().any(|file| *file == script),
            wanted,
            "{command}"
        );
        assert!(
            found.iter().all(|file| file.starts_with(&repository)),
            "{command}"
        );
        let own = look(&NameGround::of_project(&project, None));
        assert!(
            own.iter().all(|file| file.starts_with(&project)),
            "{command}"
        );
    }
}
