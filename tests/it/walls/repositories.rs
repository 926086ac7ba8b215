//! Hostile repositories: no command that runs unasked starts their code.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::program::{Project, not_run};

mod control;
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
    "cmake --list-presets",
    "ninja",
    "ninja -n",
    "meson setup b",
    "meson introspect",
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
    let results: Vec<Outcome> = std::thread::scope(|scope| {
        let work = || {
            let mut all = Vec::new();
            while let Some(case) = repositories.get(next.fetch_add(1, Ordering::Relaxed)) {
                all.push(Outcome {
                    make: case.0,
                    tried: tried(case),
                    attack: control::attacks(case),
                });
            }
            all
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| worker.join().unwrap());
        results.flatten().collect()
    });
    let all = || results.iter().flat_map(|one| &one.tried);
    let hits: Vec<&String> = all().filter_map(|one| one.hit.as_ref()).collect();
    assert!(hits.is_empty(), "{}: {hits:#?}", hits.len());
    let (mut counting, mut silent) = (0, Vec::new());
    for one in &results {
        let missing: Vec<&str> = one.tried.iter().filter_map(|one| one.missing).collect();
        match &one.attack {
            _ if missing.len() == one.tried.len() => {
                not_run(&format!("{}: no {}", one.make, missing.join(", ")));
            }
            Ok(()) => counting += 1,
            Err(_) if control::LATER.iter().any(|part| one.make.contains(part)) => {}
            Err(said) if said.contains("not found") => not_run(said),
            Err(said) => silent.push(said),
        }
    }
    let (asked, tried) = (all().filter(|one| one.is_asked).count(), all().count());
    println!(
        "{tried} commands in {counting} of {} hostile repositories, {asked} asked",
        repositories.len()
    );
    assert!(silent.is_empty(), "these attack nothing: {silent:#?}");
    assert!(counting >= FEWEST, "{counting} repositories that attack");
    // Most of them are commands that nobody wants to be asked about.
    assert!(asked * 2 < tried, "{asked} of {tried} asked");
}

/// So many attack where nothing protects, and are held.
const FEWEST: usize = 60;

/// What came of one repository.
struct Outcome {
    make: &'static str,
    tried: Vec<Tried>,
    /// What was seen where its code does not run although nothing protects.
    attack: Result<(), String>,
}

/// What came of one command.
struct Tried {
    is_asked: bool,
    /// Its first word, where there is no such program.
    missing: Option<&'static str>,
    /// What was seen, where the repository's code ran.
    hit: Option<String>,
}

/// Each command waits for processes most of its time.
const WORKERS: usize = 4;

fn tried((make, scripts): &Hostile) -> Vec<Tried> {
    let project = hostile(make);
    let path = control::path_for(make);
    let run = |script: &&'static str| {
        let input = json!({"command": script}).to_string();
        // Rules of the kind that users have: for what writes, and none for git.
        let allowed = ["--allow", "Bash(touch:*)", "--allow", "Bash(mkdir:*)"];
        let mut args = vec!["call"];
        args.extend(allowed);
        args.extend(["Bash", &input]);
        let ran = project.run_with_variables(&args, &[("PATH", &path)]);
        let said = format!("{}{}", ran.out, ran.err);
        let mark = std::fs::remove_file(project.root().join("pwned"));
        let has_run = said.contains("PWNED") || mark.is_ok();
        let is_missing = ran.code == Some(127) || said.contains("Exit code 127");
        Tried {
            is_asked: ran.err.contains("--allow"),
            missing: is_missing.then(|| script.split(' ').next().unwrap_or(script)),
            hit: has_run.then(|| format!("{make}: {script}: {said}")),
        }
    };
    scripts.iter().map(run).collect()
}

/// It keeps notes where it is asked and in the user's home: these commands run unasked because the
/// cage in which they do cannot write.
#[test]
fn terraform_leaves_nothing_behind_when_it_is_only_asked() {
    let project = Project::new();
    let home = project.user_settings();
    let home = home.ancestors().nth(2).unwrap();
    project.file("main.tf", "terraform {\n}\n");
    let path = control::path_for("");
    let notes = [home.join(".terraform.d"), project.root().join(".terraform")];
    for script in [
        "terraform version",
        "terraform -version",
        "terraform fmt -check",
        "terraform workspace show",
    ] {
        let input = json!({"command": script}).to_string();
        let ran = project.run_with_variables(&["call", "Bash", &input], &[("PATH", &path)]);
        let ran = ran.exits(0).prints(&["Terraform v1.0"]);
        for left in &notes {
            assert!(!left.exists(), "{script}: {ran:?}");
        }
    }
    // The stand-in does write where it may.
    run_with_path(&project.root(), "terraform version", &path);
    assert!(notes[1].exists());
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

/// A second wall beside the doorman: what only looks like a repository is none, and nothing is
/// fetched. Repositories that are meant are read as ever.
#[test]
fn git_reads_repositories_that_are_meant_and_fetches_nothing() {
    for (make, script, part) in [
        (
            "git worktree add -q tree",
            "git worktree list; git log --format=%s",
            "first",
        ),
        (
            "git clone -q --bare . docs; rm -rf .git; git -C docs worktree add -q ../tree; mv tree/.git .; git worktree repair 2>/dev/null",
            "git log --format=%s; git status --short",
            "first",
        ),
        (
            "git init -q --separate-git-dir=control .",
            "git log --format=%s; git diff --stat",
            "first",
        ),
        (
            "git clone -q --bare . b; rm -rf .git; mv b/* .",
            "git log --format=%s",
            "safe.bareRepository",
        ),
        (
            "git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.url .; \
             rm -f .git/objects/$(git rev-parse HEAD:a.txt | sed 's,..,&/,')",
            "git show",
            "lazy fetching disabled",
        ),
    ] {
        let project = hostile(make);
        let input = json!({"command": script}).to_string();
        let ran = project.run(&["call", "Bash", &input]);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(part), "{make}: {said}");
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

fn run(folder: &Path, script: &str) {
    run_with_path(folder, script, Path::new("/usr/local/bin:/usr/bin:/bin"));
}

#[allow(clippy::disallowed_methods)]
fn run_with_path(folder: &Path, script: &str, path: &Path) {
    let mut command = Command::new("bash");
    command.env("PATH", path).env("HOME", folder);
    let made = command.args(["-ec", script]).current_dir(folder);
    let made = made.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(made.status.success(), "{script}: {made:?}");
}
