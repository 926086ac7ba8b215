//! The cases in `tests/cases`: what must fail in a cage, and what must not.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::world::{KINDS, User, World, is_root};

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
        println!("LEFT OUT: {kind} as {}: {}", user.name(), why.trim());
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
        println!(
            "LEFT OUT: a folder outside of /tmp (needs root and {})",
            other.display()
        );
    }
    all
}

#[test]
fn every_case_holds_in_a_full_cage() {
    let mut missed = Vec::new();
    for kind in &KINDS[..2] {
        for user in User::all() {
            for below in places() {
                missed.extend(run(below, kind, user));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A degraded cage has holes; the ones here are those that `Cage::lacks` speaks of.
const KNOWN_HOLES: &[&str] = &[];

#[test]
fn a_degraded_cage_misses_only_what_it_says() {
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
