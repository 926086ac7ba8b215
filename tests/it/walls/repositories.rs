//! Hostile repositories: no command that runs unasked starts their code.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::program::Project;

mod git;
mod tools;

/// What makes a repository hostile, and what is run in it. `evil` leaves a mark where it can, and
/// prints one where it cannot.
type Hostile = (&'static str, &'static [&'static str]);

/// Commands that run what files of a repository say, with tools that this machine need not have:
/// each has to be asked about.
const ASKED: &[&str] = &[
    "just",
    "just --list",
    "just --evaluate",
    "cmake .",
    "cmake --build .",
    "cmake --preset x",
    "ninja",
    "meson setup b",
    "bazel query //...",
    "buck2 targets //...",
    "scons -c",
    "make",
    "make -n",
    "make -p",
    "gmake",
    "direnv allow",
    "direnv exec . ls",
    "direnv export bash",
    "mise exec -- ls",
    "mise run x",
    "mise env",
    "asdf exec ls",
    "asdf reshim",
    "rbenv exec ruby -v",
    "pyenv exec python -V",
    "nvm use",
    "npm test",
    "npm run x",
    "npm install",
    "npx eslint .",
    "pnpm install",
    "pnpm exec x",
    "yarn",
    "yarn run x",
    "bun run x",
    "deno task x",
    "node x.js",
    "python3 x.py",
    "python3 -m pip install .",
    "pytest",
    "pytest --collect-only",
    "tox -l",
    "nox -l",
    "poetry run x",
    "pipenv run x",
    "uv run x",
    "hatch run x",
    "pre-commit run",
    "lefthook run pre-commit",
    "ruby x.rb",
    "rake -T",
    "bundle exec x",
    "bundle install",
    "mvn compile",
    "gradle tasks",
    "./gradlew --version",
    "sbt about",
    "lein deps",
    "mix compile",
    "rebar3 tree",
    "cabal build",
    "stack build",
    "composer install",
    "go run .",
    "go generate",
    "go test",
    "go vet",
    "cargo build",
    "cargo run",
    "cargo xtask",
    "cargo clippy",
    "dotnet build",
    "swift build",
    "zig build",
    "vagrant status",
    "terraform init",
    "terraform plan",
    "terraform validate",
    "terraform show",
    "terraform output",
    "terragrunt plan",
    "tofu plan",
    "pulumi preview",
    "ansible-playbook x.yml",
    "ansible-inventory --list",
    "helm template .",
    "skaffold build",
    "tilt up",
    "docker build .",
    "docker compose up",
    "docker login",
    "vim a.txt",
    "vim -c q a.txt",
    "nvim --headless",
    "ex a.txt",
    "emacs --batch",
    "gdb ./a",
    "gdb -batch -ex quit",
    "lldb ./a",
    "sqlite3 x.db .tables",
    "psql -f x.sql",
    "irb",
    "tmux source-file x",
    "screen -c x",
    "source .envrc",
    ". ./.env",
    "bash -l",
    "zsh -i -c ls",
    "eval \"$(direnv hook bash)\"",
    "RIPGREP_CONFIG_PATH=.ripgreprc rg x",
    "PYTHONSTARTUP=x.py python3 -V",
    "BASH_ENV=x ls",
    "LESSOPEN='|./x %s' less a.txt",
    "curl -K .curlrc",
    "wget --config=.wgetrc --version",
    "rg --pre ./x one",
    "GIT_EXTERNAL_DIFF=./x git diff",
    "git -c core.pager=./x log",
];

#[test]
fn what_runs_a_repositorys_files_is_asked_about() {
    let project = Project::new();
    let questions = ASKED
        .iter()
        .map(|script| json!({"id": script, "command": script}));
    let questions: Vec<String> = questions.map(|question| question.to_string()).collect();
    let input = questions.join("\n");
    let ran = project.run_with_input(&["shell", "check", "--jsonl"], input.as_bytes());
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), ASKED.len(), "{ran:?}");
    let is_unasked = |answer: &&Value| answer["read_only"] != json!(false);
    let unasked: Vec<&Value> = answers.iter().filter(is_unasked).collect();
    assert!(unasked.is_empty(), "{unasked:?}");
}

#[test]
fn no_command_that_runs_unasked_starts_a_repositorys_code() {
    let repositories: Vec<&Hostile> = git::CASES.iter().chain(tools::CASES).collect();
    let next = AtomicUsize::new(0);
    let results: Vec<Tried> = std::thread::scope(|scope| {
        let work = || {
            let mut all = Vec::new();
            while let Some(case) = repositories.get(next.fetch_add(1, Ordering::Relaxed)) {
                all.extend(tried(case));
            }
            all
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| worker.join().unwrap());
        results.flatten().collect()
    });
    let hits: Vec<&String> = results.iter().filter_map(|one| one.hit.as_ref()).collect();
    assert!(hits.is_empty(), "{}: {hits:#?}", hits.len());
    let asked = results.iter().filter(|one| one.is_asked).count();
    let tried = results.len();
    println!(
        "{tried} commands in {} hostile repositories, {asked} asked",
        repositories.len()
    );
    // Most of them are commands that nobody wants to be asked about.
    assert!(asked * 2 < tried, "{asked} of {tried} asked");
}

/// What came of one command.
struct Tried {
    is_asked: bool,
    /// What was seen, where the repository's code ran.
    hit: Option<String>,
}

/// Each command waits for processes most of its time.
const WORKERS: usize = 4;

fn tried((make, scripts): &Hostile) -> Vec<Tried> {
    let project = hostile(make);
    let run = |script: &&str| {
        let input = json!({"command": script}).to_string();
        // Rules of the kind that users have: for what writes, and none for git.
        let allowed = ["--allow", "Bash(touch:*)", "--allow", "Bash(mkdir:*)"];
        let mut args = vec!["call"];
        args.extend(allowed);
        args.extend(["Bash", &input]);
        let ran = project.run(&args);
        let said = format!("{}{}", ran.out, ran.err);
        let mark = std::fs::remove_file(project.root().join("pwned"));
        let has_run = said.contains("PWNED") || mark.is_ok();
        Tried {
            is_asked: ran.err.contains("--allow"),
            hit: has_run.then(|| format!("{make}: {script}: {said}")),
        }
    };
    scripts.iter().map(run).collect()
}

/// It keeps a folder of notes in the user's home, unless it is told not to; these commands run
/// unasked because they are, and because their cage cannot write.
#[test]
fn terraform_leaves_nothing_behind_when_it_is_only_asked() {
    let project = Project::new();
    let home = project.user_settings();
    let home = home.ancestors().nth(2).unwrap();
    project.file("main.tf", "terraform {\n}\n");
    for script in [
        "terraform version",
        "terraform -version",
        "terraform fmt -check",
        "terraform workspace show",
    ] {
        let input = json!({"command": script}).to_string();
        let ran = project.run(&["call", "Bash", &input]);
        println!("{script}: {:?}", ran.code);
        for left in [home.join(".terraform.d"), project.root().join(".terraform")] {
            assert!(!left.exists(), "{script}: {ran:?}");
        }
    }
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
