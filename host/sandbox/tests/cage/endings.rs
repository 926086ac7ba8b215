//! Nothing is left of a command: not after a thousand, not when its host is killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::world::{ALONE, User, World};

/// How often; CI does with less than a long run wants.
pub fn times(few: usize) -> usize {
    #[allow(clippy::disallowed_methods)]
    let many = std::env::var("TOOLBAY_CAGE_MANY").ok();
    many.and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    mounts: usize,
    cgroups: usize,
    files_in_tmp: usize,
    open_files: usize,
}

fn counts() -> Counts {
    let groups = fs::read_to_string("/proc/cgroups").unwrap();
    Counts {
        mounts: fs::read_to_string("/proc/self/mountinfo")
            .unwrap()
            .lines()
            .count(),
        cgroups: groups
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().nth(2)?.parse::<usize>().ok())
            .sum(),
        files_in_tmp: left_in_tmp(),
        open_files: fs::read_dir("/proc/self/fd").unwrap().count(),
    }
}

fn left_in_tmp() -> usize {
    let names = fs::read_dir("/tmp").unwrap();
    names
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.starts_with("toolbay-cage-"))
        .count()
}

/// Processes whose command line holds a word.
fn processes_with(word: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(word))
        .count()
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().filter_map(Result::ok) {
            found.insert(entry.path().to_string_lossy().into_owned());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

fn waits_until(is_so: impl Fn() -> bool) -> bool {
    let patience = Instant::now() + Duration::from_secs(20);
    while Instant::now() < patience {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    is_so()
}

#[test]
fn commands_in_a_row_leak_nothing() {
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    for user in User::all() {
        let world = World::new(Path::new("/tmp"), user, "row");
        let before = counts();
        let names = names_in(&world.project());
        let many = times(25);
        // Nobody else on this machine sleeps as long.
        let time = format!("100000.{}", std::process::id());
        let script = format!("sleep {time} & true");
        for _ in 0..many {
            let ended = world.caged("namespaces", "workspace", &[], &script);
            assert!(ended.status.success(), "{ended:?}");
        }
        let after = counts();
        println!(
            "{many} in a row as {}: {before:?} before, {after:?} after",
            user.name()
        );
        assert_eq!(before.mounts, after.mounts);
        // Others on this machine may let go of some meanwhile.
        assert!(after.cgroups <= before.cgroups);
        assert_eq!(before.files_in_tmp, after.files_in_tmp);
        assert_eq!(processes_with(&format!("sleep\x00{time}")), 0);
        assert_eq!(names, names_in(&world.project()));
    }
}

#[test]
fn a_hundred_commands_at_once_behave() {
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "hundred");
    let mut all: Vec<_> = (0..100)
        .map(|number| {
            let script = format!(
                "echo {number} > \"$TMPDIR/mine\"; sleep 0.2; cat \"$TMPDIR/mine\"; exit 7"
            );
            let mut cage = world.cage(
                "namespaces",
                "workspace",
                &[],
                &["/bin/bash", "-c", &script],
            );
            cage.stdout(Stdio::piped()).stderr(Stdio::piped());
            (number, cage.spawn().unwrap())
        })
        .collect();
    for (number, child) in all.drain(..) {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(said, number.to_string(), "{output:?}");
        assert_eq!(output.status.code(), Some(7));
    }
}

#[test]
fn a_killed_host_leaves_neither_processes_nor_mounts_nor_files() {
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    for kind in ["namespaces", "degraded"] {
        for user in User::all() {
            kill_hosts(kind, user);
        }
    }
}

fn kill_hosts(kind: &str, user: User) {
    let world = World::new(Path::new("/tmp"), user, &format!("kill-{kind}"));
    let before = counts();
    let names = names_in(&world.project());
    let word = format!("7{}1", std::process::id());
    let script = format!("(setsid sleep {word} &); trap '' TERM; sleep {word}");
    let many = times(12).min(200);
    for round in 0..many {
        let mut host = world
            .cage(kind, "workspace", &[], &["/bin/bash", "-c", &script])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Anywhere between the first step and a command that runs.
        thread::sleep(Duration::from_micros((round as u64 * 7919) % 120_000));
        host.kill().unwrap();
        host.wait().unwrap();
    }
    let sleeps = || processes_with(&format!("sleep\0{word}"));
    let helpers = || processes_with("--toolbay-cage-helper");
    assert!(
        waits_until(|| sleeps() == 0),
        "{} commands live on",
        sleeps()
    );
    println!(
        "{kind} as {}: {many} hosts killed, {} commands and {} mounts left, {} new files",
        user.name(),
        sleeps(),
        counts().mounts - before.mounts,
        names_in(&world.project()).difference(&names).count()
    );
    assert_eq!(counts().mounts, before.mounts);
    assert_eq!(names_in(&world.project()), names);
    assert!(
        waits_until(|| left_in_tmp() == 0),
        "folders are left in /tmp"
    );
    // Other tests run cages beside this one; theirs end too.
    assert!(
        waits_until(|| helpers() == 0),
        "{} helpers live on",
        helpers()
    );
}

#[test]
fn time_output_and_memory_are_bounded() {
    let _turn = ALONE.write().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "bounds");
    for (options, script, says) in [
        (&["--time", "300"][..], "sleep 1000", "TimedOut"),
        (&[][..], "yes", "Flooded"),
        (
            &["--memory", "200000000"][..],
            "for i in 1 2 3; do python3 -c 'import time;x=bytearray(99<<20);time.sleep(30)' & done; wait",
            "OutOfMemory",
        ),
    ] {
        let output = world
            .cage(
                "namespaces",
                "workspace",
                options,
                &["/bin/bash", "-c", script],
            )
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(says), "{script}: {told}");
    }
}
