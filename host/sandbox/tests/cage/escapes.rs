//! The cases in `tests/cases`: what must fail in a cage, and what must not.

use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::world::{ALONE, KINDS, User, World, is_root, left_out, not_run};

const FILES: [(&str, &str); 2] = [
    ("shared", include_str!("../cases/shared.jsonl")),
    ("own", include_str!("../cases/own.jsonl")),
];

/// What the helper program answers when there is no cage.
const NO_CAGE: i32 = 99;

struct Case {
    id: String,
    command: String,
    must_fail: bool,
    check: Option<String>,
}

fn cases(text: &str) -> Vec<Case> {
    text.lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| case[key].as_str().map(str::to_owned);
            Case {
                id: text("id").unwrap(),
                command: text("command").unwrap(),
                must_fail: match case["must"].as_str().unwrap() {
                    "fail" => true,
                    "succeed" => false,
                    other => panic!("{other}"),
                },
                check: text("check"),
            }
        })
        .collect()
}

/// Why a case does not hold, or `None`.
fn broken(world: &World, kind: &str, case: &Case) -> Option<String> {
    world.fresh_project();
    let output = world.caged(kind, "workspace", &[], &case.command);
    let told = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code() == Some(NO_CAGE) {
        return Some(format!("no cage: {}", told()));
    }
    let had_effect = match &case.check {
        Some(check) => Command::new("/bin/bash")
            .args(["-c", check])
            .envs(world.variables())
            .status()
            .unwrap()
            .success(),
        None => output.status.success(),
    };
    match (case.must_fail, had_effect) {
        (true, true) => Some("had its effect".into()),
        (false, false) => Some(format!("does not work: {} {}", output.status, told())),
        (true, false) | (false, true) => None,
    }
}

/// Runs all cases and returns those that do not hold.
fn run(below: &Path, kind: &str, user: User) -> Vec<String> {
    let world = World::new(
        below,
        user,
        &format!("{kind}-{}", user.name().replace(' ', "-")),
    );
    let trial = world.caged(kind, "workspace", &[], "true");
    if trial.status.code() == Some(NO_CAGE) {
        let why = String::from_utf8_lossy(&trial.stderr);
        left_out(kind, user, why.trim());
        return Vec::new();
    }
    let mut missed = Vec::new();
    for (name, text) in FILES {
        let cases = cases(text);
        let broken: Vec<String> = cases
            .iter()
            .filter_map(|case| Some(format!("{}: {}", case.id, broken(&world, kind, case)?)))
            .collect();
        println!(
            "{kind} as {} below {}: {} of {} {name} cases hold",
            user.name(),
            below.display(),
            cases.len() - broken.len(),
            cases.len()
        );
        missed.extend(broken);
    }
    missed
}

/// Folders to try it in: one that every cage covers with its own, and one that it does not.
fn places() -> Vec<&'static Path> {
    let mut all = vec![Path::new("/tmp")];
    let other = Path::new("/srv");
    if is_root() && other.is_dir() {
        all.push(other);
    } else {
        let other = other.display();
        not_run(&format!(
            "a folder outside of /tmp (needs root and {other})"
        ));
    }
    all
}

#[test]
fn every_case_holds_in_a_full_cage() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let places = places();
    let mut missed = Vec::new();
    thread::scope(|scope| {
        let beside: Vec<_> = User::all()
            .into_iter()
            .map(|user| {
                let all = KINDS[..2]
                    .iter()
                    .flat_map(|kind| places.iter().map(move |below| (kind, below)));
                scope.spawn(move || {
                    all.flat_map(|(kind, below)| run(below, kind, user))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for one in beside {
            missed.extend(one.join().unwrap());
        }
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A degraded cage has holes; the ones here are those that `Cage::lacks` speaks of.
const KNOWN_HOLES: &[&str] = &[
    // Command lines and numbers of other processes can be seen.
    "esc-read-secrets-017",
    "own-process-016",
    // An ordinary user cannot empty the bounding set; without new privileges it is idle.
    "esc-privilege-026",
    // Folders for temporary files are the disk's own.
    "own-limits-003",
    "own-limits-004",
    // The kernel says that user 0 could write, and refuses when it tries.
    "own-outside-018",
    // Names in hidden folders can be listed.
    "own-outside-020",
    // No loopback, no shared memory.
    "own-usability-019",
    "own-usability-020",
    "own-usability-021",
    // No System V memory and semaphores.
    "own-shared-012",
];

#[test]
fn a_degraded_cage_misses_only_what_it_says() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let mut missed = Vec::new();
    for user in User::all() {
        for hole in run(Path::new("/tmp"), "degraded", user) {
            println!("degraded as {} misses {hole}", user.name());
            let id = hole.split(':').next().unwrap();
            if !KNOWN_HOLES.contains(&id) {
                missed.push(format!("{}: {hole}", user.name()));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
