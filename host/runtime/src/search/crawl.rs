//! Goes through a tree of folders on several threads.
//!
//! The folder that was found last is looked through next, so that few wait at a time. Names are
//! judged as the kernel hands them out: a folder with a million of them needs no list of them, and
//! a search that is stopped ends within it.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Stop;
use super::ignored::{Level, Present};

/// So many names are read before the first is judged: an ignore-file among them judges the others.
/// In a larger folder the ignore-files are looked for by name.
const AHEAD: usize = 1_024;

/// How much may be found, and wait to be looked through, in one search: a few million files.
const MOST_HELD: usize = 512 << 20;
/// What holding a path costs beside its letters.
const HOLDING: usize = 96;

/// A file that was found.
pub(super) struct FoundFile<'a> {
    pub path: PathBuf,
    entry: Option<&'a DirEntry>,
}

impl FoundFile<'_> {
    pub(super) fn alone(path: PathBuf) -> Self {
        Self { path, entry: None }
    }

    /// Its own metadata, should a link have taken its place.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        match self.entry {
            Some(entry) => entry.metadata(),
            None => self.path.symlink_metadata(),
        }
    }
}

/// Who decides what is looked at.
pub(super) trait Judge: Sync {
    /// The level of a folder that is about to be looked through.
    fn enter(&self, above: &Arc<Level>, folder: &Path, present: Present) -> Arc<Level>;
    fn takes(&self, level: &Level, path: &Path, is_folder: bool) -> bool;
}

struct Folder {
    path: PathBuf,
    above: Arc<Level>,
}

/// What the threads share.
pub(super) struct Crawl<'a, J> {
    judge: &'a J,
    stop: &'a Stop,
    state: Mutex<Waiting>,
    changed: Condvar,
    held: AtomicUsize,
}

struct Waiting {
    folders: Vec<Folder>,
    /// Threads that look through a folder, and may find further ones.
    busy: usize,
}

impl<'a, J: Judge> Crawl<'a, J> {
    pub(super) fn new(judge: &'a J, stop: &'a Stop, start: &Path, above: Arc<Level>) -> Self {
        let path = start.to_owned();
        Self {
            judge,
            stop,
            state: Mutex::new(Waiting {
                folders: vec![Folder { path, above }],
                busy: 0,
            }),
            changed: Condvar::new(),
            held: AtomicUsize::new(start.as_os_str().len() + HOLDING),
        }
    }

    /// Whether more was found than may be held; then the crawl has ended early.
    pub(super) fn is_too_much(&self) -> bool {
        self.held.load(Ordering::Relaxed) > MOST_HELD
    }

    /// Looks through folders until none is left; each file goes to `keep`.
    pub(super) fn work(&self, mut keep: impl FnMut(FoundFile<'_>)) {
        while let Some(folder) = self.next() {
            // A folder that cannot be read is left out, as `--no-messages` does.
            let _ = self.look_through(&folder, &mut keep);
            let mut state = self.lock();
            state.busy -= 1;
            if state.busy == 0 || self.is_over() {
                self.changed.notify_all();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stop.is_stopped() || self.is_too_much()
    }

    fn next(&self) -> Option<Folder> {
        let mut state = self.lock();
        loop {
            if self.is_over() {
                self.changed.notify_all();
                return None;
            }
            if let Some(folder) = state.folders.pop() {
                state.busy += 1;
                self.held
                    .fetch_sub(folder.path.as_os_str().len() + HOLDING, Ordering::Relaxed);
                return Some(folder);
            }
            if state.busy == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn look_through(
        &self,
        folder: &Folder,
        keep: &mut impl FnMut(FoundFile<'_>),
    ) -> io::Result<()> {
        let mut names = std::fs::read_dir(&folder.path)?;
        let mut ahead = Vec::new();
        let mut present = Present::default();
        // A name that cannot be read is left out like a folder that cannot.
        for entry in names.by_ref().flatten() {
            present.note(&entry.file_name());
            ahead.push(entry);
            if ahead.len() == AHEAD {
                present = Present::UNKNOWN;
                break;
            }
        }
        let level = self.judge.enter(&folder.above, &folder.path, present);
        let mut below = Vec::new();
        for entry in ahead.into_iter().chain(names.flatten()) {
            if self.is_over() {
                return Ok(());
            }
            self.look_at(folder, &level, &entry, &mut below, keep);
        }
        if !below.is_empty() {
            self.lock().folders.append(&mut below);
            self.changed.notify_all();
        }
        Ok(())
    }

    fn look_at(
        &self,
        folder: &Folder,
        level: &Arc<Level>,
        entry: &DirEntry,
        below: &mut Vec<Folder>,
        keep: &mut impl FnMut(FoundFile<'_>),
    ) {
        let Ok(kind) = entry.file_type() else { return };
        if !kind.is_file() && !kind.is_dir() {
            return;
        }
        let path = folder.path.join(entry.file_name());
        if !self.judge.takes(level, &path, kind.is_dir()) {
            return;
        }
        self.held
            .fetch_add(path.as_os_str().len() + HOLDING, Ordering::Relaxed);
        if kind.is_dir() {
            let above = level.clone();
            below.push(Folder { path, above });
        } else {
            let entry = Some(entry);
            keep(FoundFile { path, entry });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
