//! Everything that a command could change, as it is now: files, processes, sockets, names.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is there, by its name, and in what state.
pub type Snapshot = BTreeMap<String, String>;

/// Where the cage keeps its files.
pub struct Cage {
    folder: PathBuf,
}

impl Cage {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// All files that can be written, and what the kernel keeps.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot::new();
        let device = std::fs::metadata(&self.folder).map_or(0, |data| data.dev());
        for part in ["root", "upper"] {
            let walk = Walk {
                root: &self.folder.join(part),
                device,
                is_layer: part == "upper",
            };
            walk.folder(walk.root, &mut all);
        }
        sockets(&mut all);
        for file in [
            "sys/kernel/hostname",
            "sysvipc/shm",
            "sysvipc/sem",
            "sysvipc/msg",
        ] {
            let text = std::fs::read_to_string(Path::new("/proc").join(file)).unwrap_or_default();
            all.insert(file.to_owned(), text);
        }
        all
    }
}

/// Files below a folder that lie on the same device: other mounts have their upper layer, or are
/// the kernel's.
struct Walk<'a> {
    root: &'a Path,
    device: u64,
    /// It holds what was changed of the system's files, and what was only opened to be changed.
    is_layer: bool,
}

impl Walk<'_> {
    fn folder(&self, folder: &Path, all: &mut Snapshot) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(data) = std::fs::symlink_metadata(&path) else {
                continue;
            };
            if data.dev() != self.device {
                continue;
            }
            let name = path.strip_prefix(self.root).unwrap_or(&path);
            let below = Path::new("/").join(name);
            let state = state(&path, &data);
            let is_copy = self.is_layer
                && std::fs::symlink_metadata(&below)
                    .is_ok_and(|data| self::state(&below, &data) == state);
            if !is_copy {
                let times = format!(", touched {}.{:09}", data.ctime(), data.ctime_nsec());
                let state = match below.to_str() {
                    // Its own times tell of files that are gone again (`tac` makes one).
                    Some("/tmp") if !self.is_layer => format!("mode {:o}", data.mode()),
                    _ => state + &times,
                };
                all.insert(below.display().to_string(), state);
            }
            if data.is_dir() {
                self.folder(&path, all);
            }
        }
    }
}

/// What a file is and holds.
fn state(path: &Path, data: &Metadata) -> String {
    let content = if data.is_file() {
        hash(&std::fs::read(path).unwrap_or_default())
    } else if data.is_symlink() {
        let target = std::fs::read_link(path).unwrap_or_default();
        hash(target.as_os_str().as_encoded_bytes())
    } else {
        0
    };
    // The size of a folder is the file system's business.
    let size = if data.is_dir() { 0 } else { data.size() };
    format!(
        "mode {:o}, owner {}:{}, {size} bytes, changed {}.{:09}, content {content:x}",
        data.mode(),
        data.uid(),
        data.gid(),
        data.mtime(),
        data.mtime_nsec(),
    )
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Open and listening sockets. One that only waits for its end is none any more.
fn sockets(all: &mut Snapshot) {
    for table in [
        "tcp", "tcp6", "udp", "udp6", "raw", "raw6", "unix", "packet",
    ] {
        let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_waiting = fields.get(3) == Some(&"06") && table.starts_with("tcp");
            if !is_waiting {
                let name = format!(
                    "socket {table} {}",
                    fields.get(1..3).unwrap_or_default().join(" ")
                );
                all.insert(name, String::new());
            }
        }
    }
}

/// The processes of the namespace: number, name, and whether it runs and how fast.
pub fn processes() -> BTreeMap<u32, String> {
    let mut all = BTreeMap::new();
    let entries = std::fs::read_dir("/proc").expect("/proc");
    for entry in entries.flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let (name, rest) = stat.rsplit_once(')').unwrap_or((&stat, ""));
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let state = fields.first().copied().unwrap_or("?");
        if matches!(state, "Z" | "X") {
            continue;
        }
        let stopped = matches!(state, "T" | "t");
        let nice = fields.get(16).copied().unwrap_or("?");
        let name = name.split_once('(').map_or("", |(_, name)| name);
        all.insert(id, format!("{name}, nice {nice}, stopped {stopped}"));
    }
    all
}

/// What is different, in words.
pub fn difference<K: Ord + std::fmt::Display>(
    before: &BTreeMap<K, String>,
    after: &BTreeMap<K, String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, state) in before {
        match after.get(name) {
            None => found.push(format!("{name} is gone")),
            Some(now) if now != state => found.push(format!("{name}: {state} -> {now}")),
            Some(_) => {}
        }
    }
    for (name, state) in after {
        if !before.contains_key(name) {
            found.push(format!("{name} is new: {state}"));
        }
    }
    found
}
