//! Notices when a file that the model has read is changed by something else.
//!
//! Looks at times and sizes, not at contents: it runs after every call that may
//! write. A false alarm costs the model a sentence; tools that edit compare
//! contents before they write.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are watched; the ones read longest ago are forgotten first.
const MOST_FILES: usize = 500;
/// Files that a note names.
const MOST_NAMED: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: (i64, i64),
    inode: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Watch {
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    /// When each was last seen, counted in sights.
    seen: HashMap<PathBuf, (u64, Option<Stamp>)>,
    sights: u64,
}

impl Watch {
    /// The model has seen this file as it is now.
    pub(crate) fn saw(&self, path: &Path) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.sights += 1;
        let sight = files.sights;
        files.seen.insert(path.to_path_buf(), (sight, stamp(path)));
        if files.seen.len() > MOST_FILES {
            let oldest = files.seen.iter().min_by_key(|(_, (sight, _))| *sight);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                files.seen.remove(&path);
            }
        }
    }

    /// A sentence about files that have changed and are none of the call's own, told
    /// once for each change.
    pub(crate) fn changed_by_others(&self, own: &[&str]) -> Option<String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (path, (_, known)) in &mut files.seen {
            let now = stamp(path);
            if now != *known && !own.iter().any(|own| Path::new(own) == path) {
                *known = now;
                changed.push(path.display().to_string());
            }
        }
        if changed.is_empty() {
            return None;
        }
        changed.sort();
        let more = changed.len().saturating_sub(MOST_NAMED);
        changed.truncate(MOST_NAMED);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "(Changed on disk since you read it: {}{more}. Read it again before you rely on it.)",
            changed.join(", ")
        ))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some(Stamp {
        length: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        inode: metadata.ino(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_by_others_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        for path in [&a, &b] {
            std::fs::write(path, "one").unwrap();
        }
        let watch = Watch::default();
        watch.saw(&a);
        watch.saw(&b);
        assert_eq!(watch.changed_by_others(&[]), None);
        std::fs::write(&a, "three").unwrap();
        std::fs::remove_file(&b).unwrap();
        let own = a.display().to_string();
        let note = watch.changed_by_others(&[&own]).unwrap();
        assert!(note.contains(&b.display().to_string()) && !note.contains(&own));
        let note = watch.changed_by_others(&[]).unwrap();
        assert!(note.contains(&own), "{note}");
        assert_eq!(watch.changed_by_others(&[]), None);
    }

    #[test]
    fn only_so_many_are_watched_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::default();
        for number in 0..=MOST_FILES {
            let path = folder.path().join(format!("{number:04}"));
            std::fs::write(&path, "").unwrap();
            watch.saw(&path);
        }
        let files = watch.files.lock().unwrap().seen.len();
        assert_eq!(files, MOST_FILES);
        std::fs::remove_dir_all(folder.path()).unwrap();
        let note = watch.changed_by_others(&[]).unwrap();
        assert!(note.contains("and 495 more"), "{note}");
        assert!(!note.contains("0000"), "the oldest was forgotten: {note}");
    }
}
