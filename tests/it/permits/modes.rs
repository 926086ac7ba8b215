//! A greedy component whose host is an ordinary user, in projects with folders and files that
//! lack permission bits.
//!
//! The other tests may run as root, to whom these bits mean nothing. Here the real program runs as
//! a user who owns the project, and what each try achieves is compared, in both directions, with
//! what the permit says *and* the bits allow. What the kernel refuses must fail, nothing else may
//! become possible by it, and the program must neither hang nor panic. The contents are compared
//! at the end. `TOOLBAY_PERMIT_CASES` sets the number of cases, `TOOLBAY_PERMIT_SEED` runs one.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use toolbay_policy::Zone;
use toolbay_tests::bay::snapshot;
use toolbay_tests::guests;

use super::power::{Numbers, Power, cases};
use crate::program::{Ran, finish, not_run, start};

/// The number of an ordinary user that owns nothing on any system.
const NOBODY: u32 = 65534;
const READ: u32 = 4;
const WRITE: u32 = 2;
const SEARCH: u32 = 1;

const FOLDERS: &[&str] = &[
    "src",
    "src/deep",
    "docs",
    "docs/empty",
    "sub",
    ".git",
    "secret",
];
const FILES: &[&str] = &[
    "README.md",
    "src/a.rs",
    "src/deep/b.rs",
    "docs/x.md",
    "sub/c.txt",
    ".git/config",
    "secret/k.pem",
];
const FOLDER_MODES: [u32; 7] = [0o755, 0o755, 0o755, 0o000, 0o311, 0o555, 0o111];
const FILE_MODES: [u32; 6] = [0o644, 0o644, 0o644, 0o000, 0o444, 0o200];

/// The user as whom the program runs, with a folder that holds what this user needs.
struct Ordinary {
    top: tempfile::TempDir,
    /// Given if somebody else has to become this user.
    user: Option<u32>,
}

impl Ordinary {
    /// None if this process can neither be an ordinary user nor start one.
    fn new() -> Option<Self> {
        let top = tempfile::tempdir().unwrap();
        let is_root = fs::metadata(top.path()).unwrap().uid() == 0;
        let user = is_root.then_some(NOBODY);
        let ordinary = Self { top, user };
        fs::set_permissions(ordinary.top.path(), Permissions::from_mode(0o755)).unwrap();
        // The build's own folder may be closed to others.
        fs::copy(toolbay_tests::program(), ordinary.path("toolbay")).unwrap();
        fs::write(ordinary.path("greedy.wasm"), guests::GREEDY).unwrap();
        for name in ["home", "beside"] {
            fs::create_dir(ordinary.path(name)).unwrap();
            ordinary.own(&ordinary.path(name));
        }
        fs::write(ordinary.path("beside/out.txt"), "content").unwrap();
        let mut tried = start("true".as_ref());
        let can_start = ordinary.becomes(&mut tried).status().is_ok();
        can_start.then_some(ordinary)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn own(&self, path: &Path) {
        lchown(path, self.user, self.user).unwrap();
    }

    fn becomes<'a>(&self, command: &'a mut std::process::Command) -> &'a mut std::process::Command {
        match self.user {
            Some(user) => command.uid(user).gid(user),
            None => command,
        }
    }

    fn call(&self, root: &Path, deny: &[&str], input: &Value) -> Ran {
        let mut args = vec!["call", "--json", "--grant", "Greedy", "--allow", "Greedy"];
        for rule in deny {
            args.extend(["--deny", rule]);
        }
        let (plugin, input) = (self.path("greedy.wasm"), input.to_string());
        args.extend(["--plugin", plugin.to_str().unwrap(), "Greedy", &input]);
        let mut command = start(&self.path("toolbay"));
        command
            .args(&args)
            .current_dir(root)
            .env("HOME", self.path("home"))
            .env("TOOLBAY_MANAGED_SETTINGS", self.path("home/managed.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finish(self.becomes(&mut command).spawn().unwrap(), b"", &args)
    }
}

/// What a call may do, by the permit and by the bits.
struct Bits {
    power: Power,
    modes: BTreeMap<PathBuf, u32>,
}

impl Bits {
    fn has(&self, path: &Path, bits: u32) -> bool {
        let mode = self.modes.get(path).copied().unwrap_or(0o755);
        (mode >> 6) & bits == bits
    }

    /// Whether the kernel finds the path.
    fn finds(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.all(|folder| self.has(folder, SEARCH))
    }

    /// Whether the kernel lets the name be made and removed.
    fn names(&self, path: &Path) -> bool {
        self.finds(path) && self.has(path.parent().unwrap(), WRITE)
    }

    fn reads(&self, path: &Path) -> bool {
        self.power.reads(path) && self.finds(path) && self.has(path, READ)
    }

    fn writes(&self, path: &Path) -> bool {
        self.power.writes(path) && self.finds(path) && self.has(path, WRITE)
    }

    fn changes(&self, path: &Path) -> bool {
        self.power.writes(path) && self.names(path)
    }

    /// Whether a folder may be renamed: the host looks at everything below it first, and the kernel
    /// wants to write the folder itself if it gets another parent.
    fn moves(&self, old: &Path, new: &Path) -> bool {
        let mut folders = self.modes.keys().filter(|path| path.starts_with(old));
        let is_seen = folders.all(|path| !path.is_dir() || self.has(path, READ | SEARCH));
        let is_near = old.parent() == new.parent();
        self.changes(old)
            && self.changes(new)
            && is_seen
            && (is_near || self.has(old, WRITE))
            && self.power.moves(old, new)
    }

    /// All tries, each with what must come of it. Tries that make something anew, with other bits,
    /// come last.
    fn tries(&self, beside: &Path) -> Vec<(Value, bool)> {
        let root = &self.power.root;
        let mut all = Vec::new();
        let mut push = |what: &str, path: &Path, to: &Path, wanted: bool| {
            all.push((json!({"what": what, "path": path, "to": to}), wanted));
        };
        let files: Vec<PathBuf> = FILES.iter().map(|name| root.join(name)).collect();
        let folders: Vec<PathBuf> = FOLDERS.iter().map(|name| root.join(name)).collect();
        for path in &files {
            push("read", path, path, self.reads(path));
            push("append", path, path, self.writes(path));
            push(
                "truncate",
                path,
                path,
                self.reads(path) && self.writes(path),
            );
            // The owner may set times without a bit for writing.
            let touches = self.reads(path) && self.power.writes(path);
            push("touch", path, path, touches);
            let looks = self.power.reads(path) && self.finds(path);
            push("size", path, path, looks);
            for to in [root.join("renamed.txt"), root.join("docs/renamed.txt")] {
                let renames = self.changes(path) && self.changes(&to);
                push("rename", path, &to, renames);
                let is_linked = self.power.writes(path) && self.finds(path) && self.changes(&to);
                push("link", path, &to, is_linked);
            }
        }
        for path in &folders {
            let lists = self.reads(path) && self.has(path, SEARCH);
            push("list", path, path, lists);
            let new = path.join("new.txt");
            push("create", &new, &new, self.changes(&new));
            let new = path.join("made");
            push("make-folder", &new, &new, self.changes(&new));
        }
        for (old, new) in [("src", "src2"), ("sub", "sub2"), ("sub", "docs/sub")] {
            let (old, new) = (root.join(old), root.join(new));
            push("rename", &old, &new, self.moves(&old, &new));
        }
        for path in [beside.join("out.txt"), PathBuf::from("/etc/shadow")] {
            push("read", &path, &path, false);
            push("append", &path, &path, false);
        }
        let empty = root.join("docs/empty");
        push("remove-folder", &empty, &empty, self.changes(&empty));
        for path in &files {
            let removes = self.reads(path) && self.changes(path);
            push("remove", path, path, removes);
        }
        all
    }
}

/// Runs a case; how many tries worked and how many the bits alone forbade, if it was permitted.
fn check(seed: u64, ordinary: &Ordinary) -> Option<(usize, usize)> {
    let mut numbers = Numbers::of(seed);
    let root = ordinary.path(&format!("project-{seed}"));
    let all: Vec<PathBuf> = FOLDERS
        .iter()
        .chain(FILES)
        .map(|name| root.join(name))
        .collect();
    fs::create_dir(&root).unwrap();
    ordinary.own(&root);
    let mut modes = BTreeMap::new();
    for (number, path) in all.iter().enumerate() {
        if number < FOLDERS.len() {
            fs::create_dir(path).unwrap();
            modes.insert(
                path.clone(),
                FOLDER_MODES[numbers.below(FOLDER_MODES.len())],
            );
        } else {
            fs::write(path, "content").unwrap();
            modes.insert(path.clone(), FILE_MODES[numbers.below(FILE_MODES.len())]);
        }
        ordinary.own(path);
    }
    let mut deny = Vec::new();
    if numbers.chance(30) {
        deny.push("Read(./secret/**)");
    }
    let subjects = match numbers.pick(&["", "", "src", "docs", "sub", "src/a.rs", "src/deep/b.rs"])
    {
        "" => Vec::new(),
        name => vec![root.join(name)],
    };
    let octal = modes
        .iter()
        .map(|(path, mode)| format!("{} {mode:o}", path.display()));
    let octal: Vec<String> = octal.collect();
    let told = format!("seed {seed}, deny {deny:?}, subjects {subjects:?}, {octal:?}");
    let zone = match subjects.first() {
        None => Zone::Folder(root.clone()),
        Some(path) if path.is_dir() => Zone::Folder(path.clone()),
        Some(path) => Zone::File(path.clone()),
    };
    let power = Power {
        root: root.clone(),
        zones: vec![zone],
        read_only: false,
        deny: deny.clone(),
    };
    let bits = Bits { power, modes };
    let (tries, wanted): (Vec<Value>, Vec<bool>) =
        bits.tries(&ordinary.path("beside")).into_iter().unzip();
    let without = Bits {
        modes: BTreeMap::new(),
        power: bits.power,
    };
    let permitted: Vec<(Value, bool)> = without.tries(&ordinary.path("beside"));
    let bits = Bits {
        power: without.power,
        ..bits
    };

    let before = snapshot(&root);
    // The lowest first: above them nothing can be found any more, unless by root.
    for path in all.iter().rev() {
        fs::set_permissions(path, Permissions::from_mode(bits.modes[path])).unwrap();
    }
    let input = json!({"subjects": subjects, "tries": tries});
    let ran = ordinary.call(&root, &deny, &input);
    for path in &all {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, Permissions::from_mode(mode)).expect(&told);
    }
    assert_eq!(snapshot(&root), before, "{told}");
    assert!(!ran.err.contains("panicked"), "{told}: {ran:?}");
    if ran.code != Some(0) {
        // Where the subject leads is hidden from this user, too.
        let is_found = subjects.iter().all(|path| bits.finds(path));
        assert!(!is_found, "{told}: {ran:?}");
        return None;
    }
    let result = ran.json();
    let worked = result["structured"]["worked"].as_array().unwrap();
    for ((one, worked), wanted) in tries.iter().zip(worked).zip(&wanted) {
        let is_right = worked.as_bool() == Some(*wanted);
        assert!(is_right, "wanted {wanted}: {one}: {told}");
    }
    let by_bits = permitted.iter().zip(&wanted);
    let by_bits = by_bits.filter(|((_, permitted), wanted)| *permitted && !**wanted);
    let achieved = wanted.iter().filter(|wanted| **wanted).count();
    Some((achieved, by_bits.count()))
}

#[test]
fn an_ordinary_users_call_achieves_what_its_permit_and_the_bits_allow() {
    let Some(ordinary) = Ordinary::new() else {
        return not_run("calls by an ordinary user: this one cannot start another user's");
    };
    if let Ok(seed) = std::env::var("TOOLBAY_PERMIT_SEED") {
        check(seed.parse().unwrap(), &ordinary);
        return;
    }
    let cases = cases(40);
    let all: Vec<_> = (1..=cases)
        .filter_map(|seed| check(seed, &ordinary))
        .collect();
    let achieved: usize = all.iter().map(|(achieved, _)| achieved).sum();
    let refused: usize = all.iter().map(|(_, refused)| refused).sum();
    println!(
        "{} of {cases} calls ran; {achieved} tries worked, and {refused} that were permitted \
         failed for want of a bit",
        all.len()
    );
    // A test in which nothing works, or no bit matters, would prove nothing.
    assert!(all.len() as u64 * 2 > cases && achieved > 10 * all.len());
    assert!(refused > 5 * all.len(), "{refused}");
}
