//! The real program is killed at random moments while its commands run: nothing of them is left.
//!
//! Ten times in an ordinary run; `TOOLBAY_CAGE_MANY=200` for a long one.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::Project;

fn times() -> usize {
    #[allow(clippy::disallowed_methods)]
    let many = std::env::var("TOOLBAY_CAGE_MANY").ok();
    many.and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// The program under a name of its own, so that its helpers can be told from those of others.
struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::hard_link(toolbay_tests::program(), folder.path().join("toolbay")).unwrap();
        Self { folder }
    }

    #[allow(clippy::disallowed_methods)]
    fn start(&self, project: &Project, args: &[&str]) -> Child {
        Command::new(self.folder.path().join("toolbay"))
            .args(args)
            .env_clear()
            .envs(project.environment())
            .current_dir(project.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Processes that run it.
    fn alive(&self) -> usize {
        let folder = self.folder.path().canonicalize().unwrap();
        processes()
            .filter_map(|process| std::fs::read_link(process.join("exe")).ok())
            .filter(|program| program.starts_with(&folder))
            .count()
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.map(|entry| entry.path())
}

/// Processes that a command started, by how long they sleep.
fn marked(word: &str) -> usize {
    let wanted = format!("sleep\0{word}");
    processes()
        .filter_map(|process| std::fs::read(process.join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(&wanted))
        .count()
}

/// Mounts that everybody sees and that have to do with cages or this project.
fn mounts(root: &Path) -> usize {
    let all = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let root = root.display().to_string();
    let is_ours = |line: &&str| line.contains("toolbay-cage") || line.contains(&root);
    all.lines().filter(is_ours).count()
}

/// What is in the project beside the folder into which the commands write.
fn names(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path == root.join("out") {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(path.clone());
            }
            found.insert(path);
        }
    }
    found
}

/// Folders of helpers that are gone.
fn left_in_tmp() -> BTreeSet<String> {
    let names = std::fs::read_dir("/tmp").unwrap().flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let process = name.strip_prefix("toolbay-cage-");
            process.is_some_and(|id| !Path::new("/proc").join(id).exists())
        })
        .collect()
}

fn until(is_so: impl Fn() -> bool) -> bool {
    let patience = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        if Instant::now() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Commands that fork, daemonise, write, ignore signals and try what is closed.
fn commands(word: &str) -> [String; 3] {
    let busy = "while :; do echo x >> out/log; sleep 0.01; done";
    [
        format!("trap '' TERM HUP INT; setsid sleep {word} & (sleep {word} &); {busy}"),
        format!("(setsid sh -c 'sleep {word} & sleep {word}' &) ; nohup sleep {word}"),
        format!(
            "touch .bashrc .envrc; mkdir .vscode .git .toolbay; echo > .git/config; \
             echo x > $TMPDIR/x; sleep {word} & sleep {word}"
        ),
    ]
}

fn session(program: &Program, project: &Project, word: &str) -> Child {
    let mut child = program.start(project, &["run", "--allow", "Bash"]);
    let [waited, daemon, closed] = commands(word);
    let calls = [
        json!({"command": daemon, "run_in_background": true}),
        json!({"command": closed, "run_in_background": true}),
        json!({"command": waited}),
    ];
    let mut input = child.stdin.take().unwrap();
    for (at, call) in calls.iter().enumerate() {
        let line = json!({"type": "tool_use", "id": at.to_string(), "name": "Bash", "input": call});
        // One that is killed already reads nothing.
        let _ = writeln!(input, "{line}");
    }
    // Its end would be the end of the session.
    child.stdin = Some(input);
    child
}

fn one_command(program: &Program, project: &Project, word: &str, round: usize) -> Child {
    let all = commands(word);
    let script = &all[round / 2 % all.len()];
    program.start(project, &["sandbox", "run", "--", "bash", "-c", script])
}

#[test]
fn a_killed_program_leaves_neither_processes_nor_mounts_nor_files() {
    let program = Program::new();
    let project = Project::new();
    project.file("src/a.txt", "one\n");
    project.file("out/log", "");
    let root = project.root();
    let (before, tmp_before) = (names(&root), left_in_tmp());
    let word = format!("7{}.{}", std::process::id(), 4711);
    let many = times();
    let mut running = 0;
    for round in 0..many {
        let mut child = match round % 2 {
            0 => session(&program, &project, &word),
            _ => one_command(&program, &project, &word, round),
        };
        // Half of them somewhere on the way, half of them when commands run.
        let moment = Duration::from_micros((round as u64 * 7919 * 37) % 600_000);
        if round % 4 < 2 {
            std::thread::sleep(moment);
        } else {
            assert!(until(|| marked(&word) > 0), "no command ever ran");
            std::thread::sleep(moment / 4);
        }
        running += usize::from(marked(&word) > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            until(|| marked(&word) == 0),
            "round {round}: {} processes live on",
            marked(&word)
        );
    }
    assert!(until(|| program.alive() == 0), "helpers live on");
    let new_in_tmp = || left_in_tmp().difference(&tmp_before).count();
    until(|| new_in_tmp() == 0);
    let after = names(&root);
    println!(
        "{many} programs killed, {running} of them while commands ran: {} commands, {} helpers, \
         {} mounts, {} folders in /tmp, {} new files in the project",
        marked(&word),
        program.alive(),
        mounts(&root),
        new_in_tmp(),
        after.difference(&before).count(),
    );
    assert!(running >= many / 2, "only {running} were killed at work");
    assert_eq!(mounts(&root), 0);
    assert_eq!(new_in_tmp(), 0);
    assert_eq!(after, before);
}
