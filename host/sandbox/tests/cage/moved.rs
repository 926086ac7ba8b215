//! What is moved in, out or away: by the command, and by other processes while it runs.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::world::{ALONE, KINDS, User, World, left_out};

/// What would put a file where a pattern closes it, or take one from there, with its folder.
const MOVES: [&str; 10] = [
    "mkdir x; echo evil > x/a.json; mv x conf",
    "mkdir -p x/deep; echo evil > x/deep/a.json; mv x conf",
    "mkdir x; echo evil > x/a.json; mkdir conf; mv -T x conf",
    "mkdir x conf; echo evil > x/a.json; mv -T conf y; mv -T x conf",
    "mkdir x; echo evil > x/a.json; ln -s x conf",
    "mkdir -p conf x; echo evil > x/a.json; ln -s ../x conf/deep",
    "mkdir x; echo evil > x/a.json; mkdir conf; python3 -c 'import ctypes; exit(ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\"conf\", 2) != 0)'",
    "mkdir -p x/settings/y; echo evil > x/settings/y/b.yml; mv x/settings/y z; mkdir x/settings/q; mv z x/settings/q/y; false",
    "mkdir -p x; echo evil > x/b.yml; mkdir settings; mv x settings/x",
    "mv made taken",
];

#[test]
fn no_folder_carries_a_file_across_what_a_pattern_closes() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let options = [
        "--deny-like",
        "conf/*.json",
        "--deny-like",
        "conf/**/*.json",
        "--deny-like",
        "**/settings/*/*.yml",
        "--deny-like",
        "made/*.key",
    ];
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "carried");
            for script in MOVES {
                world.fresh_project();
                let project = world.project();
                fs::create_dir(project.join("made")).unwrap();
                fs::write(project.join("made/a.key"), "mine").unwrap();
                world.own(&project);
                let output = world.caged(kind, "workspace", &options, &format!("set -e; {script}"));
                if output.status.code() == Some(99) {
                    left_out(kind, user, String::from_utf8_lossy(&output.stderr).trim());
                    break;
                }
                let who = user.name();
                assert!(
                    !output.status.success(),
                    "{kind} {who}: {script}: {output:?}"
                );
                for closed in ["conf/a.json", "conf/deep/a.json", "settings/x/b.yml"] {
                    assert!(!project.join(closed).exists(), "{kind} {who}: {script}");
                }
                assert!(
                    project.join("made/a.key").exists(),
                    "{kind} {who}: {script}"
                );
            }
            // What no pattern is about moves as ever.
            world.fresh_project();
            let script = "set -e; mkdir -p x/y; echo 1 > x/y/b.yml; echo 1 > x/a.json; mv x z; mv z/y settings; \
                          ln -s z link; mkdir conf; echo 1 > conf/a.txt; mv conf elsewhere";
            let output = world.caged(kind, "workspace", &options, script);
            assert!(output.status.success(), "{kind}: {output:?}");
        }
    }
}

/// Goes into a folder, waits until it was moved away, and makes and writes names there that other
/// places have.
const MOVED_AWAY: &str = r#"
import os, sys, time
project = os.environ["PROJECT"]
os.chdir("d")
inner = os.open("s", os.O_PATH)
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.01)
for name in sys.argv[1:]:
    for what, act in [
        ("made a folder", lambda: os.mkdir(name)),
        ("made a file", lambda: os.open(name, os.O_CREAT | os.O_WRONLY)),
        ("made one further down", lambda: os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=inner)),
        ("made a nameless one", lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY)),
        ("wrote", lambda: os.truncate("old", 0)),
        ("moved", lambda: os.rename("old", name)),
        ("removed", lambda: os.unlink("old")),
    ]:
        try:
            act()
            print(what, name)
        except OSError:
            pass
"#;

#[test]
fn a_folder_that_another_process_moves_out_of_the_roots_is_closed() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "away");
            let project = world.project();
            fs::create_dir_all(project.join("d/s")).unwrap();
            fs::write(project.join("d/old"), "mine").unwrap();
            world.own(&project);
            let root = project.strip_prefix("/").unwrap();
            let root = root
                .components()
                .next()
                .unwrap()
                .as_os_str()
                .to_str()
                .unwrap();
            let command = ["python3", "-c", MOVED_AWAY, "tmp", "project", "dev", root];
            let mut cage = world.cage(kind, "workspace", &[], &command);
            let running = cage.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut running = running.spawn().unwrap();
            while !project.join("ready").exists() && running.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            let away = world.path("host-tmp/.git");
            fs::rename(project.join("d"), &away).unwrap();
            fs::write(project.join("go"), "").unwrap();
            let output = running.wait_with_output().unwrap();
            if output.status.code() == Some(99) {
                left_out(kind, user, String::from_utf8_lossy(&output.stderr).trim());
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said, "", "{kind} {}", user.name());
            assert!(output.status.success(), "{kind}: {output:?}");
            let mut left: Vec<_> = fs::read_dir(&away)
                .unwrap()
                .map(|one| one.unwrap().file_name())
                .collect();
            left.sort();
            assert_eq!(left, ["old", "s"], "{kind}");
            assert_eq!(fs::read_to_string(away.join("old")).unwrap(), "mine");
            assert_eq!(fs::read_dir(away.join("s")).unwrap().count(), 0, "{kind}");
        }
    }
}
