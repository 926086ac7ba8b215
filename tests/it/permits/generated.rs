//! Generated projects, permits and rules, and a component that tries everything with every path.
//!
//! What a call may do is written down here a second time, as plainly as possible, and compared with
//! what the component achieved and with what the question said: more is an escape, less is a
//! promise that does not hold. `TOOLBAY_PERMIT_CASES` sets the number of cases,
//! `TOOLBAY_PERMIT_SEED` runs a single one.

#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolbay_contract::Tool;
use toolbay_dispatch::path_subject;
use toolbay_policy::{
    Access, Anchors, Behavior, Checker, Claims, KnownTool, Mode, SubjectKind, Zone,
};
use toolbay_tests::bay::{Running, TestBay, snapshot};
use toolbay_tests::guests;

use super::power::{Agreeing, Numbers, Power, at, cases, real};

const FILES: &[&str] = &[
    "README.md",
    "src/a.rs",
    "src/deep/b.rs",
    "docs/x.md",
    ".env",
    "secret/k.pem",
    ".git/config",
    ".git/hooks/pre-commit",
    ".mcp.json",
    ".vscode/tasks.json",
    "sub/.git/config",
    "sub/.GitHub/ci.yml",
    "sub/c.txt",
    "odd name\n*?.txt",
    "ünï.txt",
];
const EMPTY_FOLDERS: &[&str] = &["empty", "docs/empty", "sub/.idea"];
const NEW: &[&str] = &[
    "new.txt",
    "src/new.rs",
    "docs/.envrc",
    ".husky",
    ".Git2",
    "secret/new",
];
const NEW_DEEP: &[&str] = &["made/x.txt", "made/deep/y.txt", "docs/.zed/z"];
/// Links, and where they lead.
const LINKS: &[(&str, &str)] = &[
    ("link-in", "src"),
    ("link-git", ".git"),
    ("docs/link-file", "../.git/config"),
    ("link-out", "OUTSIDE"),
];
const THROUGH_LINKS: &[&str] = &[
    "link-in/a.rs",
    "link-git/config",
    "docs/link-file",
    "link-out/out.txt",
    "link-out/new.txt",
];

/// All tries, each with what the specification says of it.
fn tries(power: &Power, outside: &Path, deep: bool) -> Vec<(Value, bool)> {
    let root = &power.root;
    let mut all = Vec::new();
    let mut push = |what: &str, path: &Path, to: Option<&Path>, wanted: bool| {
        all.push((
            json!({"what": what, "path": path, "to": to.unwrap_or(path)}),
            wanted,
        ));
    };
    let existing: Vec<PathBuf> = FILES
        .iter()
        .chain(THROUGH_LINKS)
        .map(|name| root.join(name))
        .chain([outside.join("out.txt"), PathBuf::from("/etc/hostname")])
        .filter(|path| path.exists())
        .collect();
    for path in &existing {
        let lies = real(path);
        let (reads, writes) = (power.reads(&lies), power.writes(&lies));
        push("read", path, None, reads);
        push("append", path, None, writes);
        push("truncate", path, None, reads && writes);
        push("touch", path, None, reads && writes);
        // A name is changed in its own folder: links to folders elsewhere are not followed there,
        // whatever is granted.
        let is_reached =
            real(path.parent().unwrap()).starts_with(root) || path.starts_with(outside);
        if !path.is_symlink() && is_reached {
            push("remove", path, None, reads && power.writes(&at(path)));
            let to = root.join("renamed.txt");
            let both = power.writes(&at(path)) && power.writes(&to);
            push("rename", path, Some(&to), both);
            push("link", path, Some(&to), both);
        }
    }
    for name in NEW.iter().chain(&["link-out/new.txt", "link-git/new"]) {
        let path = root.join(name);
        let writes = power.writes(&at(&path));
        // Through that link a file could be made and not removed again.
        if !(name.starts_with("link-out") && writes) {
            push("create", &path, None, writes);
        }
    }
    for name in EMPTY_FOLDERS {
        let path = root.join(name);
        push("list", &path, None, power.reads(&path));
        push("remove-folder", &path, None, power.writes(&path));
    }
    for (old, new) in [("src", "src2"), ("sub", "sub2"), ("docs", "src/docs")] {
        let (old, new) = (root.join(old), root.join(new));
        push("rename", &old, Some(&new), power.moves(&old, &new));
    }
    // These leave folders behind, so that only one of the two kinds is tried.
    for name in NEW_DEEP.iter().filter(|_| deep) {
        let path = root.join(name);
        push("replace", &path, None, power.writes(&path));
    }
    for name in ["made", "docs/.zed", "other", ".husky"] {
        let path = root.join(name);
        if !deep {
            push("make-folder", &path, None, power.makes(&path));
        }
    }
    all
}

fn build(root: &Path, outside: &Path) {
    let write = |path: PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "content").unwrap();
    };
    for name in FILES {
        write(root.join(name));
    }
    write(outside.join("out.txt"));
    for name in EMPTY_FOLDERS {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    for (name, target) in LINKS {
        let target = match *target {
            "OUTSIDE" => outside.to_owned(),
            target => target.into(),
        };
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }
}

/// What a call names, of which some lie outside or above.
fn subject(numbers: &mut Numbers, root: &Path, outside: &Path) -> PathBuf {
    match numbers.below(10) {
        0 => root.to_owned(),
        1 => root.join(numbers.pick(&["src", "docs", "sub", ".git", "secret", "empty"])),
        2 => root.join(numbers.pick(THROUGH_LINKS)),
        3 => root.join(numbers.pick(NEW)),
        4 => root.join(numbers.pick(NEW_DEEP)),
        5 => outside.join(numbers.pick(&["out.txt", "other.txt", "."])),
        6 => root.join(numbers.pick(&["link-in", "link-out", ".."])),
        _ => root.join(numbers.pick(FILES)),
    }
}

struct Case {
    running: Running,
    asked: Arc<Agreeing>,
    power: Power,
    input: Value,
    wanted: Vec<bool>,
    told: String,
    outside: tempfile::TempDir,
}

async fn case(seed: u64) -> Case {
    let mut numbers = Numbers::of(seed);
    let outside = tempfile::tempdir().unwrap();
    let beyond = outside.path().canonicalize().unwrap();
    let asked = Arc::new(Agreeing::default());
    let modes = [Mode::Default, Mode::AcceptEdits, Mode::Bypass];
    let mode = modes[numbers.below(modes.len())];
    let mut bay = TestBay::new()
        .asks(asked.clone())
        .mode(mode)
        .guest(guests::GREEDY)
        .await;
    let root = bay.root();
    build(&root, &beyond);
    let mut told = format!("seed {seed}, {mode}");
    for allow in ["Greedy", "Greedy(./**)", "Greedy(./src/**)", "Greedy(.git)"] {
        if numbers.chance(20) {
            bay = bay.allow(allow);
            told += &format!(", allow {allow}");
        }
    }
    let mut deny = Vec::new();
    for rule in ["Read(.env)", "Read(./secret/**)", "Edit(*.rs)"] {
        if numbers.chance(25) {
            bay = bay.deny(rule);
            deny.push(rule);
            told += &format!(", deny {rule}");
        }
    }
    let mut subjects = Vec::new();
    for _ in 0..numbers.pick(&[&0, &1, &1, &1, &2]).to_owned() {
        subjects.push(subject(&mut numbers, &root, &beyond));
    }
    let read_only = numbers.chance(20);
    told += &format!(", subjects {subjects:?}, read-only {read_only}");
    let mut zones: Vec<Zone> = subjects
        .iter()
        .map(|path| match real(path) {
            path if path.is_dir() => Zone::Folder(path),
            path => Zone::File(path),
        })
        .collect();
    if zones.is_empty() {
        zones.push(Zone::Folder(root.clone()));
    }
    zones.sort();
    zones.dedup();
    let power = Power {
        root,
        zones,
        read_only,
        deny,
    };
    let (tries, wanted): (Vec<Value>, Vec<bool>) = tries(&power, &beyond, numbers.chance(50))
        .into_iter()
        .unzip();
    let input = json!({"subjects": subjects, "claims_read_only": read_only, "tries": tries});
    Case {
        running: bay.start(),
        asked,
        power,
        input,
        wanted,
        told,
        outside,
    }
}

/// What `policy explain` says of the call, and where it may write.
async fn explained(case: &Case) -> (Behavior, Vec<Zone>) {
    let reach = case.running.tools[0].reach().await.unwrap();
    let known = |_: &str, _: &Value| {
        Some(KnownTool {
            subjects: vec![(SubjectKind::Path, "/subjects".into())],
            claims: Claims {
                read_only: case.power.read_only,
                ..Claims::STRICT
            },
            reach,
        })
    };
    let policy = case.running.dispatch.rulebook().current();
    let anchors = Anchors {
        home: None,
        cwd: case.power.root.clone(),
        settings: case.power.root.clone(),
    };
    let checker = Checker::new((*policy).clone(), anchors, &known).with_paths(&path_subject);
    let request = checker.request(&policy, "Greedy", &case.input);
    let explanation = policy.explain(&request);
    (explanation.behavior, explanation.writes)
}

/// Runs a case; whether the call was permitted.
async fn check(seed: u64) -> bool {
    let case = case(seed).await;
    let (behavior, writes) = explained(&case).await;
    let root = case.power.root.clone();
    let before = (snapshot(&root), snapshot(case.outside.path()));
    let result = case.running.call("Greedy", case.input.clone()).await;
    for question in case.asked.0.lock().unwrap().iter() {
        let shown = match &question.granted.access {
            Access::ReadOnly => Vec::new(),
            Access::ReadWrite { zones } => zones.iter().cloned().collect(),
        };
        let zones = match case.power.read_only {
            true => Vec::new(),
            false => case.power.zones.clone(),
        };
        assert_eq!(shown, zones, "the question of {}", case.told);
    }
    let is_asked = !case.asked.0.lock().unwrap().is_empty();
    let happened = match (is_asked, result.is_error) {
        (true, _) => Behavior::Ask,
        (false, false) => Behavior::Allow,
        (false, true) => Behavior::Deny,
    };
    assert_eq!(behavior, happened, "{}", case.told);
    if behavior != Behavior::Deny && !case.power.read_only {
        assert_eq!(writes, case.power.zones, "{}", case.told);
    }
    let files = |all: Vec<(PathBuf, Option<Vec<u8>>)>| -> Vec<_> {
        let is_file = |(_, content): &(PathBuf, Option<Vec<u8>>)| content.is_some();
        all.into_iter().filter(is_file).collect()
    };
    let after = (snapshot(&root), snapshot(case.outside.path()));
    assert_eq!(files(before.0), files(after.0), "{}", case.told);
    assert_eq!(files(before.1), files(after.1), "{}", case.told);
    let Some(report) = result.structured.as_deref().filter(|_| !result.is_error) else {
        let above = |zone: &Zone| root != zone.path() && root.starts_with(zone.path());
        let closed = |zone: &Zone| case.power.is_closed(zone.path(), !case.power.read_only);
        let is_refusable = case
            .power
            .zones
            .iter()
            .any(|zone| above(zone) || closed(zone));
        assert!(is_refusable, "{}: {}", case.told, result.text());
        return false;
    };
    let report: Value = serde_json::from_str(report).unwrap();
    let tries = case.input["tries"].as_array().unwrap();
    let worked = report["worked"].as_array().unwrap();
    for ((one, worked), wanted) in tries.iter().zip(worked).zip(&case.wanted) {
        let is_right = worked.as_bool() == Some(*wanted);
        assert!(is_right, "{}: wanted {wanted}: {one}", case.told);
    }
    true
}

#[tokio::test]
async fn a_greedy_component_achieves_what_its_permit_says_and_no_more() {
    if let Ok(seed) = std::env::var("TOOLBAY_PERMIT_SEED") {
        check(seed.parse().unwrap()).await;
        return;
    }
    let cases = cases(300);
    let mut permitted = 0;
    for seed in 1..=cases {
        permitted += u64::from(check(seed).await);
    }
    println!("{permitted} of {cases} calls were permitted; each did what its permit says");
    // A test that refuses everything would prove nothing.
    assert!(permitted * 2 > cases, "{permitted} of {cases}");
}
