//! A greedy component, and another process that replaces files and folders under it.
//!
//! The call is decided first: the swaps begin while the question waits for its answer, so that the
//! zones in the question are those of the project as it was. From then on, names of the project
//! become links to what is forbidden, and files and folders again, as fast as the system can. With
//! that under way nobody can say what a try must achieve; what is compared is what it must not:
//!
//! - Whatever lies outside of the zones, is protected or is denied by a rule is the same at the
//!   end, byte by byte and name by name. Only what lies at or below a name that the other process
//!   replaces is left out.
//! - No try works that no state of the project permits: neither the path itself nor any place to
//!   which the links of the other process may lead it.
//! - No content, name, size or link target of a denied or outside file was seen. Each is unique,
//!   so that seeing it once is enough.
//!
//! Rules go by names: a denied file that the other process renames to a permitted name may be read
//! there. Such files (`moved-…`) are marked apart from those that keep their denied name
//! (`kept-…`), which nobody may have seen.
//!
//! So that this proves something, the tries must have worked where they may, and the fence must
//! have refused some through the links. `TOOLBAY_PERMIT_CASES` sets the number of cases,
//! `TOOLBAY_PERMIT_SEED` runs a single one.

#![allow(clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbay_contract::BoxFuture;
use toolbay_dispatch::{Answer, Approver, PermissionQuestion};
use toolbay_policy::{Access, Zone};
use toolbay_tests::bay::{TestBay, snapshot};
use toolbay_tests::guests;

use super::power::{Numbers, Power, cases};
use super::swaps::{IN_FOLDERS, KEPT, MOVED, PERMITTED, Swap, Swapper};

/// How often the component tries everything in one case.
const ROUNDS: usize = 25;
/// Files of the project that may be read, some of them protected.
const READABLE: &[&str] = &[
    "README.md",
    "docs/x.md",
    "src/keep.txt",
    ".git/config",
    ".git/hooks/run",
    ".git/deep/b.rs",
    ".vscode/tasks.json",
];
/// Files that a rule denies; the last name of each exists in swapped folders too.
const DENIED: &[&str] = &["secret/k.pem", "secret/config", "secret/deep/b.rs"];
/// Tries with one path.
const SINGLE: &[&str] = &[
    "read", "size", "target", "list", "append", "truncate", "touch", "create", "replace", "remove",
];

/// What a denied or outside file holds: unique, and of a length that no other file has.
fn forbidden(name: &str, number: usize) -> String {
    format!("forbidden {name} {}", "x".repeat(500 + 37 * number))
}

/// Starts the swaps when it is asked, and says yes once.
struct StartsSwaps {
    swaps: Vec<Swap>,
    started: Mutex<Option<(Swapper, Vec<Zone>)>>,
}

impl Approver for StartsSwaps {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        let mut started = self.started.lock().unwrap();
        let answer = match &*started {
            // The project has changed, and this is a question about another one.
            Some(_) => Answer::No {
                reason: "once is enough".into(),
            },
            None => {
                let zones = match &question.granted.access {
                    Access::ReadOnly => Vec::new(),
                    Access::ReadWrite { zones } => zones.iter().cloned().collect(),
                };
                *started = Some((Swapper::start(&self.swaps), zones));
                Answer::Yes
            }
        };
        Box::pin(async { answer })
    }
}

/// Everything that is forbidden, and what of it would be seen.
fn build(root: &Path, outside: &Path) -> BTreeSet<String> {
    let write = |path: PathBuf, content: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    for name in READABLE {
        write(root.join(name), "readable");
    }
    for name in IN_FOLDERS {
        write(root.join("src").join(name), PERMITTED);
        write(root.join("src/inner").join(name), PERMITTED);
    }
    write(root.join("src/moved.txt"), PERMITTED);
    write(root.join(".env"), &format!("{KEPT}0"));
    let mut secrets = BTreeSet::new();
    let denied = DENIED.iter().map(|name| root.join(name));
    let beyond = ["out.txt", "config", "deep/b.rs"].map(|name| outside.join(name));
    for (number, path) in denied.chain(beyond).enumerate() {
        let content = forbidden(&path.to_string_lossy(), number);
        secrets.insert(format!("size {}", content.len()));
        write(path, &content);
        secrets.insert(content);
    }
    for folder in [root.join("secret"), outside.to_owned()] {
        let name = format!("name-in-{}", folder.file_name().unwrap().to_string_lossy());
        write(folder.join(&name), "");
        secrets.insert(name);
        let target = format!("target-in-{}", folder.display());
        std::os::unix::fs::symlink(&target, folder.join("link")).unwrap();
        secrets.insert(target);
    }
    secrets
}

/// What the other process replaces in this case.
fn swaps(numbers: &mut Numbers, root: &Path, outside: &Path) -> Vec<Swap> {
    let folders = [
        PathBuf::from(".git"),
        PathBuf::from("secret"),
        root.join(".git"),
        root.join("secret"),
        outside.to_owned(),
    ];
    let files = [
        root.join(".env"),
        root.join("secret/k.pem"),
        root.join(".git/config"),
        outside.join("out.txt"),
        PathBuf::from("../.env"),
        PathBuf::from("../.git/config"),
        PathBuf::from("../secret/k.pem"),
    ];
    let mut all = Vec::new();
    for name in ["src/a.rs", "src/config"] {
        let target = files[numbers.below(files.len())].clone();
        let name = root.join(name);
        all.push(Swap::File { name, target });
    }
    let target = match folders[numbers.below(folders.len())].clone() {
        target if target.is_relative() => Path::new("..").join(target),
        target => target,
    };
    let name = root.join("src/inner");
    all.push(Swap::Folder { name, target });
    match numbers.below(3) {
        0 => all.push(Swap::Folder {
            name: root.join("src"),
            target: folders[numbers.below(folders.len())].clone(),
        }),
        1 => all.push(Swap::Parked {
            name: root.join("src"),
            parked: root.join("parked"),
        }),
        _ => {}
    }
    if numbers.chance(50) {
        all.push(Swap::Denied {
            name: root.join(".env"),
            moved: root.join("src/moved.txt"),
        });
    }
    all
}

/// Every name that the other process gives to other things, with the places that it may lead to.
fn leads(swaps: &[Swap]) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut all = BTreeMap::<PathBuf, Vec<PathBuf>>::new();
    for swap in swaps {
        let (name, place) = match swap {
            Swap::File { name, target } | Swap::Folder { name, target } => {
                let folder = name.parent().unwrap();
                let place = match target.strip_prefix("..") {
                    Ok(above) => folder.parent().unwrap().join(above),
                    Err(_) => folder.join(target),
                };
                (name, place)
            }
            Swap::Parked { name, parked } => {
                all.entry(parked.clone()).or_default();
                (name, parked.clone())
            }
            Swap::Denied { name, moved } => {
                all.entry(moved.clone()).or_default();
                (name, moved.clone())
            }
        };
        all.entry(name.clone()).or_default().push(place);
    }
    all
}

/// All places where a path may lie while the swaps go on.
fn places(path: &Path, leads: &BTreeMap<PathBuf, Vec<PathBuf>>) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if all.insert(path.clone()) {
            for (name, targets) in leads {
                if let Ok(below) = path.strip_prefix(name) {
                    open.extend(targets.iter().map(|target| match below == Path::new("") {
                        true => target.clone(),
                        false => target.join(below),
                    }));
                }
            }
        }
    }
    all
}

fn tries(root: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    let mut paths: Vec<PathBuf> = ["", "src", "src/inner", "parked", ".git", "secret"]
        .iter()
        .flat_map(|folder| {
            IN_FOLDERS
                .iter()
                .map(move |name| root.join(folder).join(name))
        })
        .collect();
    paths.extend([".env", "src", "src/inner", "secret", "parked"].map(|name| root.join(name)));
    let more = [
        "src/new.txt",
        "src/inner/new.txt",
        "src/inner/link",
        "src/link",
        "src/moved.txt",
    ];
    paths.extend(more.map(|name| root.join(name)));
    for path in &paths {
        for what in SINGLE {
            all.push(json!({"what": what, "path": path}));
        }
        let to = root.join("src/inner").join(path.file_name().unwrap());
        for to in [to, root.join("src/elsewhere.txt")] {
            for what in ["rename", "link"] {
                all.push(json!({"what": what, "path": path, "to": to}));
            }
        }
        all.push(json!({"what": "make-folder", "path": path}));
        all.push(json!({"what": "remove-folder", "path": path}));
    }
    all
}

/// Whether some state of the project permits the try.
fn is_possible(one: &Value, power: &Power, leads: &BTreeMap<PathBuf, Vec<PathBuf>>) -> bool {
    let at = |key: &str| places(Path::new(one[key].as_str().unwrap()), leads);
    let writes = |key: &str| at(key).iter().any(|path| power.writes(path));
    match one["what"].as_str().unwrap() {
        "read" | "size" | "target" | "list" => at("path").iter().any(|path| power.reads(path)),
        "rename" | "link" => writes("path") && writes("to"),
        "make-folder" => at("path").iter().any(|path| power.makes(path)),
        _ => writes("path"),
    }
}

/// What the cases achieved together.
#[derive(Default)]
struct Tally {
    permitted: u64,
    refused: u64,
    rounds: u64,
    hits: u64,
    worked: BTreeMap<String, u64>,
    has_seen_permitted: bool,
    has_seen_moved: bool,
}

async fn check(seed: u64, tally: &mut Tally) {
    let mut numbers = Numbers::of(seed);
    let outside = tempfile::tempdir().unwrap();
    let beyond = outside.path().canonicalize().unwrap();
    let mut bay = TestBay::new().guest(guests::GREEDY).await;
    let root = bay.root();
    let secrets = build(&root, &beyond);
    let deny = vec!["Read(.env)", "Read(./secret/**)"];
    for rule in &deny {
        bay = bay.deny(rule);
    }
    let swaps = swaps(&mut numbers, &root, &beyond);
    let subject = root.join(numbers.pick(&["", "src", "src", "src/inner", "src/a.rs"]));
    let told = format!("seed {seed}, subject {}, {swaps:?}", subject.display());
    let approver = Arc::new(StartsSwaps {
        swaps: swaps.clone(),
        started: Mutex::new(None),
    });
    let leads = leads(&swaps);
    let running = bay.asks(approver.clone()).start();
    let (before, before_beyond) = (snapshot(&root), snapshot(&beyond));
    let tries = tries(&root);
    let input = json!({
        "subjects": [subject], "tries": tries, "stays": true, "tells": true, "rounds": ROUNDS,
    });
    let result = running.call("Greedy", input).await;
    let (swapper, zones) = approver.started.lock().unwrap().take().expect(&told);
    tally.rounds += swapper.finish();
    let power = Power {
        root: root.clone(),
        zones,
        read_only: false,
        deny,
    };

    let is_compared = |name: &Path| {
        let path = root.join(name);
        !power.writes(&path) && !leads.keys().any(|swapped| path.starts_with(swapped))
    };
    let compared = |all: Vec<(PathBuf, Option<Vec<u8>>)>| -> Vec<_> {
        let all = all.into_iter();
        all.filter(|(name, _)| is_compared(name)).collect()
    };
    assert_eq!(compared(snapshot(&root)), compared(before), "{told}");
    assert_eq!(snapshot(&beyond), before_beyond, "{told}");
    // A denied file that is swapped holds what the other process wrote last.
    if let Ok(content) = std::fs::read_to_string(root.join(".env")) {
        let number = content.strip_prefix(KEPT).or(content.strip_prefix(MOVED));
        let is_whole = number.is_some_and(|number| number.parse::<u64>().is_ok());
        assert!(is_whole, "{content:?} in .env: {told}");
    }

    let refusals = running.refusals();
    let forbidden = [root.join(".git"), root.join("secret"), root.join(".env")];
    let is_hit = |path: &PathBuf| forbidden.iter().any(|folder| path.starts_with(folder));
    let hits = refusals
        .iter()
        .filter(|(_, path)| path.as_ref().is_some_and(is_hit));
    tally.hits += hits.count() as u64;
    let Some(report) = result.structured.as_deref().filter(|_| !result.is_error) else {
        tally.refused += 1;
        println!("refused: {told}: {}", result.text());
        return;
    };
    tally.permitted += 1;
    let report: Value = serde_json::from_str(report).unwrap();
    for (one, worked) in tries.iter().zip(report["worked"].as_array().unwrap()) {
        if worked.as_bool().unwrap() {
            assert!(is_possible(one, &power, &leads), "{one} worked: {told}");
            let what = one["what"].as_str().unwrap().to_owned();
            *tally.worked.entry(what).or_default() += 1;
        }
    }
    for seen in report["seen"].as_array().unwrap() {
        let seen = seen.as_str().unwrap();
        let is_secret = |secret: &String| seen == secret || seen.contains("forbidden");
        assert!(!secrets.iter().any(is_secret), "{seen} was seen: {told}");
        assert!(!seen.contains(KEPT), "{seen} was seen: {told}");
        tally.has_seen_permitted |= seen == PERMITTED;
        tally.has_seen_moved |= seen.contains(MOVED);
    }
}

#[tokio::test]
async fn nothing_forbidden_is_reached_while_another_process_swaps_files_and_folders() {
    let mut tally = Tally::default();
    if let Ok(seed) = std::env::var("TOOLBAY_PERMIT_SEED") {
        return check(seed.parse().unwrap(), &mut tally).await;
    }
    let cases = cases(12);
    for seed in 1..=cases {
        check(seed, &mut tally).await;
    }
    let Tally {
        permitted,
        refused,
        rounds,
        hits,
        worked,
        has_seen_permitted,
        has_seen_moved,
    } = tally;
    println!(
        "{permitted} calls ran and {refused} were refused while everything was swapped {rounds} \
         times; the fence refused {hits} tries at what is forbidden; tries that worked: {worked:?}"
    );
    // A test in which nothing works, or nothing is tried through a link, would prove nothing.
    assert!(permitted * 2 > cases && has_seen_permitted && has_seen_moved);
    assert!(rounds > 10 * cases && hits > 100 * cases);
    for what in [
        "read", "list", "append", "create", "remove", "rename", "link", "target",
    ] {
        assert!(worked.contains_key(what), "{what} never worked");
    }
}
