//! The process that replaces files and folders of a project while a call runs.
//!
//! It is this test binary once more, told by a variable what to do; it ends when its input is
//! closed. Everything that it puts in place was made in a folder of its own first, and everything
//! that it takes away goes there, so that each change is one step: a rename, or an exchange of two
//! names. It never gives a forbidden file another name, with one exception ([`Swap::Denied`]).

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat, renameat_with};
use serde::{Deserialize, Serialize};

/// What every file that a swap puts in place holds.
pub const PERMITTED: &str = "permitted";
/// What a file that a rule denies holds, as long as it keeps its denied name: a number follows.
pub const KEPT: &str = "kept-";
/// The same for one that gets a permitted name.
pub const MOVED: &str = "moved-";
/// The names in a folder that a swap puts in place: those that the forbidden folders have too.
pub const IN_FOLDERS: &[&str] = &[
    "a.rs",
    "config",
    "k.pem",
    "out.txt",
    "deep/b.rs",
    "hooks/run",
];

const WORK: &str = "TOOLBAY_SWAPS";

/// One thing to replace, again and again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Swap {
    /// A file, by a link to the target, and back.
    File { name: PathBuf, target: PathBuf },
    /// A folder, by a link to the target, and back.
    Folder { name: PathBuf, target: PathBuf },
    /// A folder gets another name, and a new one takes its place.
    Parked { name: PathBuf, parked: PathBuf },
    /// A file that a rule denies by its name is written anew; every second one then gets a
    /// permitted name, by which it may be read.
    Denied { name: PathBuf, moved: PathBuf },
}

#[derive(Serialize, Deserialize)]
struct Work {
    own: PathBuf,
    swaps: Vec<Swap>,
}

/// The running process.
pub struct Swapper {
    child: Child,
    own: tempfile::TempDir,
}

impl Swapper {
    /// Starts it, and waits until everything was replaced once.
    pub fn start(swaps: &[Swap]) -> Self {
        let own = tempfile::tempdir().unwrap();
        let work = Work {
            own: own.path().canonicalize().unwrap(),
            swaps: swaps.to_vec(),
        };
        let this = std::env::current_exe().unwrap();
        let child = crate::program::start(&this)
            .args(["--exact", "permits::swaps::swaps_what_its_parent_says"])
            .env(WORK, serde_json::to_string(&work).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let swapper = Self { child, own };
        let started = Instant::now();
        while !swapper.own.path().join("ready").exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "no swapper");
            std::thread::sleep(Duration::from_millis(1));
        }
        swapper
    }

    /// Ends it; answers how many times it replaced everything.
    pub fn finish(mut self) -> u64 {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        let rounds = fs::read_to_string(self.own.path().join("rounds")).unwrap();
        rounds.parse().unwrap()
    }
}

/// The process's own folder, and a number for each thing in it.
struct Workshop {
    own: PathBuf,
    made: u64,
}

impl Workshop {
    fn next(&mut self) -> PathBuf {
        self.made += 1;
        self.own.join(self.made.to_string())
    }

    fn file(&mut self, content: &str) -> PathBuf {
        let path = self.next();
        fs::write(&path, content).unwrap();
        path
    }

    fn link(&mut self, target: &Path) -> PathBuf {
        let path = self.next();
        symlink(target, &path).unwrap();
        path
    }

    fn folder(&mut self) -> PathBuf {
        let path = self.next();
        for name in IN_FOLDERS {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, PERMITTED).unwrap();
        }
        path
    }

    /// Puts something in the place of a name, in one step, and takes away what was there.
    fn put(&mut self, new: &Path, name: &Path) {
        let Some((folder, name)) = within(name) else {
            return discard(new);
        };
        match renameat_with(CWD, new, &folder, name, RenameFlags::EXCHANGE) {
            Ok(()) => discard(new),
            // The component has removed it, or the folder above; the next round makes it anew.
            Err(_) => {
                let _ = renameat(CWD, new, &folder, name);
            }
        }
    }

    /// Does one half of a swap: to what is forbidden in even rounds, and back in odd ones.
    fn swap(&mut self, swap: &Swap, round: u64) {
        let is_back = round % 2 == 1;
        match swap {
            Swap::File { name, target } => {
                let new = match is_back {
                    true => self.file(PERMITTED),
                    false => self.link(target),
                };
                self.put(&new, name);
            }
            Swap::Folder { name, target } => {
                let new = match is_back {
                    true => self.folder(),
                    false => self.link(target),
                };
                self.put(&new, name);
            }
            Swap::Parked { name, parked } => {
                let (new, old) = (self.folder(), self.next());
                if fs::rename(parked, &old).is_ok() {
                    discard(&old);
                }
                let _ = fs::rename(name, parked);
                self.put(&new, name);
            }
            Swap::Denied { name, moved } => {
                let kind = if is_back { KEPT } else { MOVED };
                let new = self.file(&format!("{kind}{round}"));
                fs::rename(&new, name).unwrap();
                if !is_back {
                    std::thread::yield_now();
                    if let Some((folder, moved)) = within(moved) {
                        let _ = renameat(CWD, name, &folder, moved);
                    }
                }
            }
        }
    }
}

/// The folder of a name, and the name in it. None while the folder is one of this process's own
/// links: what it puts in place must not land in what is forbidden.
fn within(path: &Path) -> Option<(OwnedFd, &OsStr)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, path.parent()?, flags, Mode::empty()).ok()?;
    Some((folder, path.file_name()?))
}

/// Removes what nobody needs any more. The component may still hold a folder open and put
/// something into it; then it stays until the end.
fn discard(path: &Path) {
    let _ = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => panic!("{error}"),
    };
}

/// No test of its own: what the process does. Without its variable it has nothing to do.
// The variable is how its parent tells it.
#[allow(clippy::disallowed_methods)]
#[test]
fn swaps_what_its_parent_says() {
    let Ok(work) = std::env::var(WORK) else {
        return;
    };
    let work: Work = serde_json::from_str(&work).unwrap();
    let ends = Arc::new(AtomicBool::new(false));
    let seen = ends.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        seen.store(true, Ordering::Relaxed);
    });
    let mut workshop = Workshop {
        own: work.own.clone(),
        made: 0,
    };
    let mut round = 0;
    while !ends.load(Ordering::Relaxed) {
        for swap in &work.swaps {
            workshop.swap(swap, round);
        }
        round += 1;
        if round == 2 {
            fs::write(work.own.join("ready"), "").unwrap();
        }
    }
    fs::write(work.own.join("rounds"), round.to_string()).unwrap();
}
