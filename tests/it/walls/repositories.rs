//! Hostile repositories: no command that runs unasked starts their code.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::program::Project;

/// What makes a repository hostile, and what is run in it. `evil` leaves a mark where it can, and
/// prints one where it cannot.
const REPOSITORIES: &[(&str, &[&str])] = &[
    (
        "git config core.fsmonitor ./evil",
        &["git status", "git diff", "git status; touch made"],
    ),
    (
        "git config diff.external ./evil",
        &["git diff", "git show", "git diff; mkdir made"],
    ),
    (
        "git config diff.external 'sh ./evil #'",
        &["git diff", "git log -p"],
    ),
    (
        "echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv 'sh ./evil'",
        &["git diff", "git show", "git blame a.txt", "git log -p"],
    ),
    (
        "echo '*.txt filter=x' > .gitattributes; git config filter.x.clean 'sh ./evil'; touch a.txt",
        &["git status", "git diff", "git diff --stat"],
    ),
    ("git config core.pager ./evil", &["git log", "git diff"]),
    (
        "git config core.hooksPath .; cp evil post-index-change; cp evil post-checkout",
        &["git status"],
    ),
    (
        "mkdir docs; cd docs; git init -q --bare .; git config core.bare false; git config core.worktree .; git config core.fsmonitor ../evil",
        &[
            "cd docs && git status",
            "cd docs && git diff",
            "find docs -name HEAD -execdir git status ';'",
        ],
    ),
    (
        "mkdir -p chain/bin; cp evil chain/bin/cargo; cp evil chain/bin/rustc; printf '[toolchain]\\npath = \"%s/chain\"\\n' $PWD > rust-toolchain.toml",
        &[
            "cargo --version",
            "rustc --version",
            "cargo metadata --no-deps",
        ],
    ),
    (
        "mkdir -p tc/bin; ln -s $(readlink -f $(command -v perl)) tc/bin/cargo; ln -s /usr/bin/env tc/bin/rustc; printf 'print \"PWNED\\n\";' > metadata; printf '[toolchain]\\npath = \"/proc/self/cwd/tc\"\\n' > rust-toolchain.toml",
        &[
            "cargo metadata --no-deps",
            "cargo --version",
            "rustc --version",
        ],
    ),
    (
        "git config diff.external git-difftool--helper; git config diff.tool x; git config difftool.prompt false; git config difftool.x.cmd 'sh ./evil'",
        &["git diff", "touch z; git diff"],
    ),
    (
        "mkdir .cargo; printf '[build]\\nrustc = \"./evil\"\\nrustc-wrapper = \"./evil\"\\n' > .cargo/config.toml; printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\n' > Cargo.toml; mkdir src; touch src/lib.rs",
        &[
            "cargo metadata --no-deps",
            "cargo --version",
            "cargo locate-project",
        ],
    ),
    (
        "echo 'script-shell=./evil' > .npmrc; echo 'node-options=--require ./evil.js' >> .npmrc; echo 'console.log(\"PWNED\")' > evil.js; echo {} > package.json",
        &["npm --version", "npm ls", "node --version"],
    ),
    (
        "cp evil git; cp evil ls; cp evil cat",
        &["git status", "ls", "cat a.txt"],
    ),
    (
        "printf 'import os; print(\"PWNED\")' > sitecustomize.py; cp sitecustomize.py site.py; cp sitecustomize.py os.py",
        &["python3 --version", "pip --version", "pip list"],
    ),
    (
        "printf 'all:\\n\\t./evil\\n' > Makefile; printf '.DEFAULT:\\n\\t./evil\\n' > GNUmakefile",
        &["make --version"],
    ),
    (
        "echo 'source ./evil' > .envrc; echo './evil' > .bashrc; echo './evil' > .bash_env",
        &["pwd", "env", "ls -a"],
    ),
    (
        "echo ':!./evil' > .exrc; echo 'shell ./evil' > .gdbinit",
        &["gdb --version", "file a.txt"],
    ),
];

#[test]
fn no_command_that_runs_unasked_starts_a_repositorys_code() {
    let mut tried = 0;
    let mut asked = 0;
    for (make, scripts) in REPOSITORIES {
        for script in *scripts {
            let project = hostile(make);
            let input = json!({"command": script}).to_string();
            // Rules of the kind that users have: for what writes, and none for git.
            let allowed = ["--allow", "Bash(touch:*)", "--allow", "Bash(mkdir:*)"];
            let mut args = vec!["call"];
            args.extend(allowed);
            args.extend(["Bash", &input]);
            let ran = project.run(&args);
            tried += 1;
            asked += usize::from(ran.err.contains("--allow"));
            let said = format!("{}{}", ran.out, ran.err);
            assert!(!said.contains("PWNED"), "{make}: {script}: {said}");
            assert!(!project.root().join("pwned").exists(), "{make}: {script}");
        }
    }
    println!(
        "{tried} commands in {} hostile repositories, {asked} asked",
        REPOSITORIES.len()
    );
    // Most of them are commands that nobody wants to be asked about.
    assert!(asked * 2 < tried, "{asked} of {tried} asked");
}

/// Reading still works in the same repositories as far as it needs none of their code.
#[test]
fn git_reads_in_a_hostile_repository() {
    let project = hostile("git config core.fsmonitor ./evil; git config core.pager ./evil");
    for (script, part) in [
        ("git status --short", "a.txt"),
        ("git log --oneline", "first"),
        ("git diff", "+two"),
    ] {
        let input = json!({"command": script}).to_string();
        project
            .run(&["call", "Bash", &input])
            .exits(0)
            .prints(&[part]);
    }
}

fn hostile(make: &str) -> Project {
    let project = Project::new();
    project.file(
        "evil",
        "#!/bin/sh\necho PWNED\ntouch \"$(dirname \"$0\")/pwned\" pwned\n",
    );
    run(
        &project.root(),
        "chmod +x evil; rm -rf .git; git init -q .; echo one > a.txt; git add a.txt; git -c user.name=x -c user.email=x@x commit -qm first; echo two >> a.txt",
    );
    run(&project.root(), make);
    let _ = std::fs::remove_file(project.root().join("pwned"));
    project
}

#[allow(clippy::disallowed_methods)]
fn run(folder: &Path, script: &str) {
    let mut command = Command::new("bash");
    let made = command.args(["-ec", script]).current_dir(folder);
    let made = made.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(made.status.success(), "{script}: {made:?}");
}
