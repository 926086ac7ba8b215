//! Reads the lines of one ignore-file, within bounds.
//!
//! Whoever made the repository made its ignore-files, and a search reads them unasked. So nothing
//! but a regular file is read, no link leads to one elsewhere, and what is over the bounds is left
//! out and named in the result.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use toolbay_contract::regular_file;

use super::super::Fence;
use super::super::notes::Notes;
use crate::filesystem::path_of;

/// Most bytes of one file. The longest that people wrote have some ten thousand.
const MOST_BYTES: u64 = 1 << 20;
/// Most patterns of one file: ten times what people wrote, and some ten megabytes.
const MOST_PATTERNS: usize = 10_000;
/// Most of them with wildcards, each of which may become an automaton of its own, with a cache for
/// each thread: some tens of kilobytes.
const MOST_WILD: usize = 2_000;
/// Most bytes of the patterns with wildcards: each byte is a state that every name is held against.
const MOST_WILD_BYTES: usize = 64 << 10;
/// Most patterns of all files of a search, and most of them with wildcards. Large repositories have
/// thousands of ignore-files with a dozen patterns each.
const MOST_IN_ALL: usize = 100_000;
const MOST_WILD_IN_ALL: usize = 10_000;
/// No path is longer, so that no longer pattern matches.
const LONGEST: usize = 4_096;
/// Braces lie in each other, and the compiler of patterns goes down with them.
const MOST_BRACES: usize = 64;

/// The byte order mark that editors put before UTF-8.
const MARK: &str = "\u{feff}";

/// What the ignore-files of one search may still take, and what to say of those that were cut.
pub(super) struct Sources<'a> {
    /// The granted folder.
    base: &'a Path,
    fence: &'a dyn Fence,
    notes: &'a Notes,
    patterns: AtomicUsize,
    wild: AtomicUsize,
}

/// Where an ignore-file may lie in truth, if a link stands in its place.
#[derive(Clone, Copy)]
pub(super) enum Links<'a> {
    /// In this folder or in the granted one.
    Inside(&'a Path),
    /// Anywhere: the user or git says where it is.
    Anywhere,
}

impl<'a> Sources<'a> {
    pub(super) fn new(base: &'a Path, fence: &'a dyn Fence, notes: &'a Notes) -> Self {
        Self {
            base,
            fence,
            notes,
            patterns: AtomicUsize::new(MOST_IN_ALL),
            wild: AtomicUsize::new(MOST_WILD_IN_ALL),
        }
    }

    /// The patterns of a file, for paths below `folder`. One that is not there has none.
    pub(super) fn read(&self, folder: &Path, path: &Path, links: Links<'_>) -> Gitignore {
        let Some((text, is_cut)) = self.text(path, links) else {
            return Gitignore::empty();
        };
        let mut builder = GitignoreBuilder::new(folder);
        let mut taken = Taken::default();
        for (number, line) in lines(&text).enumerate() {
            let line = match number {
                0 => line.trim_start_matches(MARK),
                _ => line,
            };
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            if let Err(why) = taken.take(line, self) {
                self.notes.add(path, why);
                if taken.is_full() {
                    break;
                }
                continue;
            }
            // A pattern that does not parse is left out, as in ripgrep.
            let _ = builder.add_line(None, line);
        }
        if is_cut {
            let note = "is larger than 1 MiB; what follows after that was not applied";
            self.notes.add(path, note);
        }
        builder.build().unwrap_or_else(|_| {
            let note = "has patterns that are too complex together; none of them was applied";
            self.notes.add(path, note);
            Gitignore::empty()
        })
    }

    /// The beginning of a file up to the last whole line, and whether there is more.
    fn text(&self, path: &Path, links: Links<'_>) -> Option<(Vec<u8>, bool)> {
        let file = match regular_file::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                if !path.is_dir() {
                    self.notes
                        .add(path, "is not a regular file; it was not applied");
                }
                return None;
            }
            Err(_) => return None,
        };
        if let Links::Inside(folder) = links {
            let real = path_of(&file).ok()?;
            let inside = real.starts_with(folder) || real.starts_with(self.base);
            if real != path && !(inside && self.fence.may_read(&real)) {
                let note = "is a link that leads out of the project; it was not applied";
                self.notes.add(path, note);
                return None;
            }
        }
        let (mut bytes, is_cut) = regular_file::start_of(&file, MOST_BYTES).ok()?;
        if is_cut {
            let whole = memchr::memrchr(b'\n', &bytes).unwrap_or(0);
            bytes.truncate(whole);
        }
        Some((bytes, is_cut))
    }
}

/// The first line of a small regular file.
pub(super) fn first_line(path: &Path) -> Option<String> {
    let file = regular_file::open(path).ok()?;
    let (bytes, _) = regular_file::start_of(&file, LONGEST as u64).ok()?;
    lines(&bytes).next().map(str::to_owned)
}

/// The file of patterns that the user's git applies everywhere.
pub(super) fn global() -> Option<PathBuf> {
    ignore::gitignore::gitconfig_excludes_path()
}

/// The lines until one that is not UTF-8, which ends the file for ripgrep.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .map_while(|line| std::str::from_utf8(line).ok())
}

/// What was taken of one file.
#[derive(Default)]
struct Taken {
    patterns: usize,
    wild: usize,
    wild_bytes: usize,
    full: bool,
}

impl Taken {
    /// Takes a pattern, or says why it is left out.
    fn take(&mut self, line: &str, sources: &Sources<'_>) -> Result<(), &'static str> {
        if line.len() > LONGEST || line.matches('{').count() > MOST_BRACES {
            return Err("has patterns that are too long or too deep; they were not applied");
        }
        let is_wild = is_wild(line);
        if self.patterns == MOST_PATTERNS {
            self.full = true;
            return Err("has more than 10,000 patterns; only the first 10,000 were applied");
        }
        if is_wild && (self.wild == MOST_WILD || self.wild_bytes + line.len() > MOST_WILD_BYTES) {
            return Err(
                "has more than 2,000 patterns with wildcards, or 64 KiB of them; the others were \
                 not applied",
            );
        }
        let in_all = spend(&sources.patterns) && (!is_wild || spend(&sources.wild));
        if !in_all {
            return Err(
                "was not applied in full: all ignore-files together have more than 100,000 \
                 patterns, or 10,000 with wildcards",
            );
        }
        self.patterns += 1;
        if is_wild {
            self.wild += 1;
            self.wild_bytes += line.len();
        }
        Ok(())
    }

    /// Whether no further pattern can be taken.
    fn is_full(&self) -> bool {
        self.full
    }
}

/// Whether a pattern takes an automaton. Names and endings such as `*.log` are looked up.
fn is_wild(line: &str) -> bool {
    let line = line.trim_start_matches('!');
    let ending = line
        .strip_prefix("*.")
        .filter(|ending| !ending.contains('.'));
    ending.unwrap_or(line).contains(['*', '?', '[', '{'])
}

fn spend(budget: &AtomicUsize) -> bool {
    budget
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        })
        .is_ok()
}
