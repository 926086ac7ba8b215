//! A command that was narrowed to zones changes exactly them.
//!
//! A greedy script tries every change to everything in a tree made at random; afterwards what
//! changed is compared with what the zones say. `TOOLBAY_CAGE_MANY` sets the number of trees.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use toolbay_sandbox::cage::CageZone;

use crate::endings::times;
use crate::world::{ALONE, KINDS, User, World, is_root, left_out, names};

const GREEDY: &str = include_str!("greedy.py");

/// What the helper program answers when there is no cage.
const NO_CAGE: i32 = 99;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

const FOLDERS: [&[u8]; 10] = [
    b"src",
    b"a b",
    b"\xff\"\n $(x)",
    b".GitHub",
    b".Vscode",
    b".HUSKY",
    b"deep",
    b"repository",
    b"\xc3\xbc",
    b".claude",
];
const FILES: [&[u8]; 6] = [
    b"one",
    b"two\xfe",
    b".Mcp.json",
    b".ENVRC",
    b"-rf",
    b".gitlab-ci.yml",
];

struct Tree {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

/// Folders, files, links in and out, repositories, second names, folders that nobody may enter.
fn grow(world: &World, numbers: &mut Numbers) -> Tree {
    world.fresh_project();
    let (project, outside) = (world.project(), world.path("outside"));
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("folder/file"), "outside\n").unwrap();
    let mut tree = Tree {
        folders: vec![project.clone()],
        files: vec![],
    };
    for _ in 0..14 {
        let folder = numbers.pick(&tree.folders);
        let folder = folder.join(OsStr::from_bytes(numbers.pick(&FOLDERS[..])));
        if fs::create_dir(&folder).is_ok() {
            tree.folders.push(folder);
        }
    }
    for _ in 0..24 {
        let file = numbers.pick(&tree.folders);
        let file = file.join(OsStr::from_bytes(numbers.pick(&FILES[..])));
        if file.exists() {
            continue;
        }
        let text = format!("{}\n", tree.files.len());
        match numbers.below(6) {
            0 if !tree.files.is_empty() => {
                fs::hard_link(numbers.pick(&tree.files), &file).unwrap();
            }
            0 => fs::hard_link(outside.join("existing"), &file).unwrap(),
            _ => fs::write(&file, text).unwrap(),
        }
        tree.files.push(file);
    }
    for number in 0..6 {
        let target = match number {
            0 => outside.clone(),
            1 => outside.join("existing"),
            2 => PathBuf::from("../outside/folder"),
            3 => PathBuf::from("nowhere"),
            4 => numbers.pick(&tree.folders),
            _ => numbers.pick(&tree.files),
        };
        let name = ["in", ".Agents", "way"][numbers.below(3)];
        let _ = symlink(target, numbers.pick(&tree.folders).join(name));
    }
    let repository = numbers.pick(&tree.folders).join(".git");
    fs::create_dir_all(repository.join("hooks")).unwrap();
    fs::write(repository.join("config"), "[core]\n\tbare = false\n").unwrap();
    fs::write(repository.join("hooks/pre-push"), "true\n").unwrap();
    tree.files.push(repository.join("config"));
    tree.folders.push(repository);
    let locked = numbers.pick(&tree.folders).join("locked");
    if fs::create_dir(&locked).is_ok() {
        fs::write(locked.join("file"), "locked\n").unwrap();
        tree.folders.push(locked.clone());
    }
    world.own(&project);
    world.own(&outside);
    let mode = if is_root() {
        numbers.pick(&[0, 0o555])
    } else {
        0o555
    };
    if locked.is_dir() {
        fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    }
    tree
}

fn choose(tree: &Tree, numbers: &mut Numbers) -> Vec<CageZone> {
    let count = numbers.below(5);
    let zones = (0..count).map(|_| match numbers.below(3) {
        0 => CageZone::Folder(numbers.pick(&tree.folders)),
        1 => CageZone::File(numbers.pick(&tree.files)),
        _ => {
            let name = numbers.pick(&[&b"new"[..], b".Mcp.Json", b".env", b"n\xff"]);
            let mut folder = numbers.pick(&tree.folders);
            if folder.ends_with("locked") {
                folder = tree.folders[0].clone();
            }
            CageZone::File(folder.join(OsStr::from_bytes(name)))
        }
    });
    zones.collect()
}

/// All that tells whether something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    identity: (u64, u64),
    mode: u32,
    owner: u32,
    /// Of files and links: folders change with what is in them.
    modified: (i64, i64),
    content: Vec<u8>,
}

pub type Snapshot = BTreeMap<PathBuf, Seen>;

pub fn snapshot(tops: &[PathBuf]) -> Snapshot {
    let mut all = Snapshot::new();
    let mut open = tops.to_vec();
    while let Some(path) = open.pop() {
        let found = path.symlink_metadata().unwrap();
        let kind = found.file_type();
        let content = if kind.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .as_bytes()
                .to_vec()
        } else if kind.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if kind.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let modified = match kind.is_dir() {
            true => (0, 0),
            false => (found.mtime(), found.mtime_nsec()),
        };
        let seen = Seen {
            identity: (found.dev(), found.ino()),
            mode: found.mode(),
            owner: found.uid(),
            modified,
            content,
        };
        all.insert(path, seen);
    }
    all
}

/// Whether a zone opens a path, apart from what is closed.
fn is_open(zone: &CageZone, path: &Path) -> bool {
    match zone {
        CageZone::File(file) => path == file,
        CageZone::Folder(folder) => path.strip_prefix(folder).is_ok_and(|inside| {
            !inside.iter().any(|name| {
                let name = name.to_string_lossy().to_lowercase();
                let names = names();
                let mut all = names.always.iter().chain(&names.but_for_git);
                all.any(|one| *one == name)
            })
        }),
    }
}

/// What changed that should not have, and zones in which nothing did.
fn differences(before: &Snapshot, after: &Snapshot, zones: &[CageZone]) -> Vec<String> {
    let may_change = |path: &Path| zones.iter().any(|zone| is_open(zone, path));
    // A file has one content, whatever its names.
    let shared: BTreeSet<(u64, u64)> = before
        .iter()
        .filter(|(path, seen)| may_change(path) && seen.mode & 0o170_000 == 0o100_000)
        .map(|(_, seen)| seen.identity)
        .collect();
    let mut wrong = Vec::new();
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let (old, new) = (before.get(path), after.get(path));
        if old == new {
            continue;
        }
        let is_same = old.map(|seen| seen.identity) == new.map(|seen| seen.identity);
        let is_zone = zones.iter().any(|zone| zone.path() == path);
        let is_right = match (old, new) {
            (Some(old), Some(_)) if is_same && shared.contains(&old.identity) => true,
            // A zone itself stays, unless it lies in another one.
            (Some(_), _) if is_zone && !is_same => {
                let mut others = zones.iter().filter(|zone| zone.path() != path);
                others.any(|zone| is_open(zone, path))
            }
            _ => may_change(path),
        };
        if !is_right {
            wrong.push(format!("{path:?} changed from {old:?} to {new:?}"));
        }
    }
    for zone in zones {
        let changed = match zone {
            CageZone::File(file) => match (before.get(file), after.get(file)) {
                (Some(old), Some(new)) => old.content != new.content,
                (None, Some(new)) => !new.content.is_empty(),
                // Only in another zone could it be removed.
                (_, None) => zones
                    .iter()
                    .any(|other| other != zone && is_open(other, file)),
            },
            CageZone::Folder(folder) => after.contains_key(&folder.join("last")),
        };
        if !changed {
            wrong.push(format!("nothing was changed in {zone:?}"));
        }
    }
    wrong
}

fn options(zones: &[CageZone]) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for zone in zones {
        all.push(match zone {
            CageZone::File(_) => "--zone-file".into(),
            CageZone::Folder(_) => "--zone".into(),
        });
        all.push(zone.path().into());
    }
    all
}

/// Runs one random tree; `None` where this machine has no such cage.
fn run(world: &World, kind: &str, seed: usize) -> Option<Vec<String>> {
    let mut numbers =
        Numbers(0x9e37_79b9_7f4a_7c15 ^ (seed as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
    let tree = grow(world, &mut numbers);
    let mut zones = choose(&tree, &mut numbers);
    let mut command: Vec<OsString> = vec!["python3".into(), "-c".into(), GREEDY.into()];
    command.extend(zones.iter().map(|zone| zone.path().into()));
    let mut options = options(&zones);
    if zones.is_empty() {
        // One that is closed is none.
        let folder = tree.folders[tree.folders.len() / 2].clone();
        options.extend(["--zone".into(), folder.clone().into()]);
        options.extend(["--protect".into(), folder.into()]);
    }
    let tops = [world.project(), world.path("outside")];
    let before = snapshot(&tops);
    let output = world
        .cage_of(kind, "workspace", &options, &command)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(NO_CAGE) && told.contains("no cage as strong") {
        return None;
    }
    if output.stdout != b"done\n" {
        return Some(vec![format!("{zones:?}: {} {told}", output.status)]);
    }
    let after = snapshot(&tops);
    zones.dedup();
    let wrong = differences(&before, &after, &zones);
    let wrong = wrong.into_iter();
    Some(
        wrong
            .map(|what| format!("seed {seed}, {zones:?}: {what}"))
            .collect(),
    )
}

#[test]
fn a_greedy_command_changes_its_zones_and_nothing_else() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let many = times(6);
    let mut wrong = Vec::new();
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "greedy");
            let mut count = 0;
            for seed in 0..many {
                let Some(found) = run(&world, kind, seed) else {
                    left_out(kind, user, "no such cage can be built here");
                    break;
                };
                count += 1;
                let found = found.into_iter();
                wrong.extend(found.map(|what| format!("{kind} as {}: {what}", user.name())));
            }
            println!("{kind} as {}: {count} random trees and zones", user.name());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
