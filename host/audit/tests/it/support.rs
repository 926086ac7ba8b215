//! Logs to work with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolbay_audit::{
    Actor, Against, Anchor, Clock, Key, Log, LogError, Options, Report, Rotation, Verdict,
    verify_against,
};
use toolbay_contract::{About, AuditEvent, Behavior, Called, Decided};

pub const CURRENT: &str = "audit.jsonl";
pub const HEAD: &str = "audit.head";

/// Goes on by a second each time it is asked.
#[derive(Default)]
pub struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> SystemTime {
        let ticks = self.0.fetch_add(1, Ordering::Relaxed);
        UNIX_EPOCH + Duration::from_secs(1_800_000_000 + ticks)
    }
}

pub struct World {
    _temporary: tempfile::TempDir,
    pub folder: PathBuf,
    /// Where the end is noted once more, if anywhere.
    pub anchor: Option<PathBuf>,
    pub key: Option<Key>,
    pub rotation: Rotation,
}

impl World {
    pub fn new(key: Option<Key>, max_bytes: u64, keep: usize) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self {
            folder: temporary.path().join("audit"),
            anchor: None,
            _temporary: temporary,
            key,
            rotation: Rotation { max_bytes, keep },
        }
    }

    /// One whose end is noted outside of its folder.
    pub fn anchored() -> Self {
        let mut world = Self::new(Some(key()), 4 << 10, 1000);
        let beside = world.folder.parent().unwrap().join("anchor");
        world.anchor = Some(beside.join("audit.head"));
        world
    }

    /// A log of some files.
    pub fn with_events(max_bytes: u64, events: u64) -> Self {
        let world = Self::new(Some(key()), max_bytes, 1000);
        world.write(0..events);
        world
    }

    pub fn options(&self) -> Options {
        let actor = Actor {
            uid: 1000,
            user: Some("anna".into()),
        };
        let mut options = Options::new(self.folder.clone(), "s-1", actor);
        options.key.clone_from(&self.key);
        options.anchor.clone_from(&self.anchor);
        options.rotation = self.rotation;
        options.clock = Arc::new(Ticks::default());
        options
    }

    pub fn open(&self) -> Log {
        Log::open(self.options()).unwrap()
    }

    pub fn write(&self, events: std::ops::Range<u64>) {
        let log = self.open();
        for number in events {
            log.record(&event(number)).unwrap();
        }
    }

    pub fn verify(&self) -> Report {
        self.verify_with(None).unwrap()
    }

    /// Against what was noted elsewhere, too.
    pub fn verify_with(&self, kept: Option<&Anchor>) -> Result<Report, LogError> {
        let against = Against {
            file: self.anchor.as_deref(),
            kept,
        };
        verify_against(&self.folder, self.key.as_ref(), against)
    }

    #[track_caller]
    pub fn assert_intact(&self) -> Report {
        let report = self.verify();
        assert_eq!(report.verdict, Verdict::Intact, "{:#?}", report.findings);
        report
    }

    #[track_caller]
    pub fn assert_tampered(&self, what: &str) -> Report {
        let report = self.verify();
        assert_eq!(report.verdict, Verdict::Tampered, "not found: {what}");
        report
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The files with lines, in the order of the chain.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".jsonl") && name != CURRENT)
            .collect();
        names.sort();
        if self.path(CURRENT).exists() {
            names.push(CURRENT.into());
        }
        names
    }

    /// All that is in the folder, to be put back.
    pub fn keep(&self) -> Kept {
        let read = |entry: fs::DirEntry| {
            let bytes = fs::read(entry.path()).unwrap();
            (entry.path(), bytes)
        };
        let entries = fs::read_dir(&self.folder).unwrap();
        Kept(entries.map(|entry| read(entry.unwrap())).collect())
    }
}

pub struct Kept(Vec<(PathBuf, Vec<u8>)>);

impl Kept {
    pub fn put_back(&self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (path, bytes) in &self.0 {
            fs::write(path, bytes).unwrap();
        }
    }
}

pub fn key() -> Key {
    Key::from_bytes([7; 32])
}

/// The lines of a file, each with its newline.
pub fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

/// Events of several kinds, by turns.
pub fn event(number: u64) -> AuditEvent {
    let call_id = format!("call-{number}");
    match number % 4 {
        0 => AuditEvent::Decided(Decided {
            caller: None,
            tool: "Look".into(),
            call_id,
            plugin: Some(format!("sha256:{}", "ab".repeat(32))),
            ruling: Behavior::Allow,
            by: "rule".into(),
            reason: "a rule allows it".into(),
            rule: Some("Look(./src/**)".into()),
            source: Some("user settings.json:4".into()),
            subjects: vec![About {
                kind: "path".into(),
                text: format!("/home/me/src/{number}.rs"),
            }],
            input: format!("{{\"file\":\"src/{number}.rs\",\"password\":\"hunter2\"}}"),
        }),
        1 => AuditEvent::Called(Called {
            tool: "Look".into(),
            call_id: format!("call-{}", number - 1),
            plugin: None,
            class: "done".into(),
            reason: None,
            limits: vec![("memory".into(), 1 << 28), ("deadline_ms".into(), 120_000)],
            bytes_in: 31,
            bytes_out: 1000 + number,
            micros: 412,
        }),
        2 => AuditEvent::PowerRefused {
            plugin: "Sneaky".into(),
            call_id,
            power: "filesystem".into(),
            detail: "writing was not granted".into(),
            path: Some("/home/me/.ssh/id".into()),
        },
        _ => AuditEvent::Decided(Decided {
            caller: None,
            tool: "Change".into(),
            call_id,
            plugin: None,
            ruling: Behavior::Deny,
            by: "rules".into(),
            reason: "the deny rule `Change(./.env)` forbids it".into(),
            rule: Some("Change(./.env)".into()),
            source: Some("project".into()),
            subjects: Vec::new(),
            input: "{}".into(),
        }),
    }
}

/// Numbers that look random and are the same in each run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}
