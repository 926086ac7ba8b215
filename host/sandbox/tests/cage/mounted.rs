//! What another process mounts while a command runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::world::{ALONE, KINDS, User, World, is_root, left_out, not_run};

/// Waits until everything is mounted, then tries to read (`r`) and to write (`w`) each path.
const TRIES: &str = r#"
import os, sys, time
project = os.environ["PROJECT"]
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.01)
for word in sys.argv[1:]:
    try:
        with open(word[1:], {"r": "r", "w": "r+"}[word[0]]) as file:
            file.read(1) if word[0] == "r" else file.write("evil")
    except OSError:
        continue
    print(word[0] + os.path.relpath(word[1:], project))
"#;

/// Mounts that go away when this is dropped.
struct Mounts(Vec<PathBuf>);

impl Mounts {
    fn add(&mut self, words: &[&str], place: &Path) {
        let done = Command::new("mount").args(words).arg(place).status();
        assert!(done.unwrap().success(), "mount {words:?}");
        self.0.push(place.to_owned());
    }

    fn bind(&mut self, what: &Path, place: &Path) {
        self.add(&["--bind", what.to_str().unwrap()], place);
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        for place in self.0.iter().rev() {
            let _ = Command::new("umount").arg("-l").arg(place).status();
        }
    }
}

/// What a command could do after the mounts, or nothing where there is no such cage.
fn done(kind: &str, user: User) -> Option<String> {
    let below = std::env::temp_dir().join(format!("cage-shared-{}", std::process::id()));
    fs::create_dir_all(&below).unwrap();
    let mut mounts = Mounts(Vec::new());
    // Mounts in a shared one reach every namespace that does not keep them out.
    mounts.add(&["-t", "tmpfs", "-o", "mode=755", "none"], &below);
    let mut shared = Command::new("mount");
    let shared = shared.arg("--make-shared").arg(&below).status();
    assert!(shared.unwrap().success());
    let world = World::new(&below, user, "mounted");
    let (project, beside) = (world.project(), world.path("host-tmp"));
    for folder in ["secret", "hooks", "outside", ".vscode"] {
        fs::create_dir(project.join(folder)).unwrap();
    }
    for (file, text) in [
        ("plain", "mine"),
        (".vscode/tasks.json", "mine"),
        (".git/hooks/pre-commit", "mine"),
    ] {
        fs::write(project.join(file), text).unwrap();
    }
    for file in ["ssh/id_rsa", "vscode/tasks.json"] {
        fs::create_dir_all(beside.join(file).parent().unwrap()).unwrap();
        fs::write(beside.join(file), "mine").unwrap();
    }
    world.own(&project);
    world.own(&beside);
    let word = |kind: &str, path: PathBuf| format!("{kind}{}", path.display());
    let words = [
        word("w", project.join("plain")),
        word("r", world.path("home/.ssh/id_rsa")),
        word("w", project.join(".vscode/tasks.json")),
        word("w", project.join(".git/hooks/pre-commit")),
        word("r", project.join("secret/id_rsa")),
        word("w", project.join("hooks/pre-commit")),
        word("w", project.join("outside/existing")),
    ];
    let mut command = vec!["python3", "-c", TRIES];
    command.extend(words.iter().map(String::as_str));
    let mut cage = world.cage(kind, "workspace", &[], &command);
    let running = cage.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    while !project.join("ready").exists() && running.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Where what is closed can be reached by another path.
    mounts.bind(&world.path("home/.ssh"), &project.join("secret"));
    mounts.bind(&project.join(".git/hooks"), &project.join("hooks"));
    mounts.bind(&world.path("outside"), &project.join("outside"));
    // Where something else is to be found by a closed path.
    mounts.bind(&beside.join("ssh"), &world.path("home/.ssh"));
    mounts.bind(&beside.join("vscode"), &project.join(".vscode"));
    fs::write(project.join("go"), "").unwrap();
    let output = running.wait_with_output().unwrap();
    drop(mounts);
    let _ = fs::remove_dir(&below);
    if output.status.code() == Some(99) {
        left_out(kind, user, String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).replace('\n', " "))
}

#[test]
fn a_mount_that_is_made_while_a_command_runs_opens_no_closed_path() {
    // No other test may see the mounts, and leave them in a namespace.
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    if !is_root() {
        return not_run("mounts while a command runs (needs root)");
    }
    for user in User::all() {
        for kind in KINDS {
            let Some(done) = done(kind, user) else {
                continue;
            };
            let wanted = match kind {
                // Closed paths stay closed; what is mounted at an open place is open. `Cage::lacks` says so of
                // one, and bubblewrap lets mounts of the host in.
                "degraded" | "bubblewrap" => {
                    "wplain rsecret/id_rsa whooks/pre-commit woutside/existing "
                }
                _ => "wplain ",
            };
            assert_eq!(done, wanted, "{kind}, {}", user.name());
        }
    }
}
