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

/// Runs all cases and returns those that do not hold; nothing where there is no such cage.
fn run(below: &Path, kind: &str, user: User) -> Option<Vec<String>> {
    let world = World::new(
        below,
        user,
        &format!("{kind}-{}", user.name().replace(' ', "-")),
    );
    let trial = world.caged(kind, "workspace", &[], "true");
    if trial.status.code() == Some(NO_CAGE) {
        let why = String::from_utf8_lossy(&trial.stderr);
        left_out(kind, user, why.trim());
        return None;
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
    Some(missed)
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
                    all.filter_map(|(kind, below)| run(below, kind, user))
                        .flatten()
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

/// For whom a case does not hold.
#[derive(PartialEq)]
enum Holes {
    All,
    Root,
    Ordinary,
}

impl Holes {
    fn has(&self, user: User) -> bool {
        match self {
            Self::All => true,
            Self::Root => user.name() == "root",
            Self::Ordinary => user.name() != "root",
        }
    }
}

/// A degraded cage has holes; the ones here are those that `Cage::lacks` speaks of.
const KNOWN_HOLES: &[(&str, Holes)] = &[
    // Command lines and numbers of other processes can be seen.
    ("esc-read-secrets-017", Holes::All),
    ("own-process-016", Holes::All),
    // An ordinary user cannot empty the bounding set; without new privileges it is idle.
    ("esc-privilege-026", Holes::Ordinary),
    // Folders for temporary files are the disk's own.
    ("own-limits-003", Holes::All),
    ("own-limits-004", Holes::All),
    // The kernel says that user 0 could write, and refuses when it tries.
    ("own-outside-018", Holes::Root),
    // No loopback, no shared memory.
    ("own-usability-019", Holes::All),
    ("own-usability-020", Holes::All),
    ("own-usability-021", Holes::All),
    // No System V memory and semaphores.
    ("own-shared-012", Holes::All),
];

#[test]
fn a_degraded_cage_misses_what_it_says_and_nothing_else() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let mut wrong = Vec::new();
    for user in User::all() {
        let Some(missed) = run(Path::new("/tmp"), "degraded", user) else {
            continue;
        };
        let id = |hole: &str| hole.split(':').next().unwrap().to_owned();
        let ids: Vec<String> = missed.iter().map(|hole| id(hole)).collect();
        let known = KNOWN_HOLES.iter().filter(|(_, holes)| holes.has(user));
        let known: Vec<&str> = known.map(|(id, _)| *id).collect();
        for hole in &missed {
            println!("degraded as {} misses {hole}", user.name());
            if !known.contains(&id(hole).as_str()) {
                wrong.push(format!("{}: {hole}", user.name()));
            }
        }
        let closed = known.iter().filter(|id| !ids.iter().any(|one| one == *id));
        for id in closed.filter(|id| is_open_outside(id, user)) {
            wrong.push(format!("{}: {id} is no hole any more", user.name()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a case says anything on this machine: what nobody can do here, a cage need not keep from.
fn is_open_outside(id: &str, user: User) -> bool {
    let all = FILES.iter().flat_map(|(_, text)| cases(text));
    let case = { all }
        .find(|case| case.id == id)
        .expect("a case of that name");
    let world = World::new(Path::new("/tmp"), user, "outside");
    let words = ["/bin/bash", "-c", case.command.as_str()];
    let mut command = world.outside(&words);
    let output = command.output().unwrap();
    if case.check.is_some() {
        panic!("{id}: a hole with a check cannot be tried outside");
    }
    let is_open = !case.must_fail || output.status.success();
    if !is_open {
        println!("{id} says nothing here as {}", user.name());
    }
    is_open
}
