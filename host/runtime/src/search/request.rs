//! What is asked of the engine and what it answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The path rules of a call.
pub trait Fence: Send + Sync {
    /// Whether the file at this absolute, real path may be read.
    fn may_read(&self, path: &Path) -> bool;
}

/// Which files are looked at.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The folder or file to search: absolute, real, inside `base`.
    pub root: PathBuf,
    /// The granted folder or file: absolute and real. Nothing outside is opened.
    pub base: PathBuf,
    /// Gitignore-style globs counted from `root`; `!` in front excludes.
    pub globs: Vec<String>,
    /// Names from [`type_names`](super::type_names).
    pub types: Vec<String>,
    /// Whether dot-files are looked at.
    pub hidden: bool,
    /// Whether files that ignore-files name are looked at.
    pub ignored: bool,
}

/// A flag that ends a search soon after it is raised. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Raises the flag.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag was raised.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// In which order files are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the bytes of the path.
    Path,
    /// Newest first; files of the same millisecond by path.
    Newest,
}

/// A file that was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    pub modified_ms: u64,
    pub size: u64,
}

/// A part of all files; `total` counts all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub total: u64,
    pub truncated: bool,
    /// What a bound left out, in sentences.
    pub notes: Vec<String>,
}

/// What is searched for.
#[derive(Debug, Clone, Default)]
pub struct Pattern {
    /// Rust regex syntax.
    pub regex: String,
    pub ignore_case: bool,
    /// Whether a match may span lines; then `.` matches a line end too.
    pub multiline: bool,
}

/// What is wanted of each file that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// That it matches.
    Paths,
    /// How often: matching lines, or matches when they span lines.
    Counts,
    /// The matching lines with as many around them.
    Lines { before: usize, after: usize },
}

/// Which part of the answer is wanted: files for paths and counts, lines for
/// lines.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub skip: u64,
    /// 0 = no limit.
    pub limit: u64,
    /// Most bytes of paths and lines to keep. The first entry is always kept,
    /// cut to fit, so that a reader who pages on makes progress.
    pub max_bytes: usize,
}

/// A line of a file, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    pub text: String,
    pub is_match: bool,
}

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub path: String,
    pub modified_ms: u64,
    /// 1 for paths; the whole count for counts; matching lines of this page for
    /// lines.
    pub count: u64,
    pub lines: Vec<Line>,
}

/// Hits in order of their paths; `truncated` says that there are entries behind
/// the window, or that its only line had to be cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub hits: Vec<Hit>,
    pub truncated: bool,
    /// What a bound left out, in sentences.
    pub notes: Vec<String>,
}
