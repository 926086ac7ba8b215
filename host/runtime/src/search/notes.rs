//! What a search did not do in full, in sentences for its result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::shown;

/// So many are named; a result has room for a few, and the rest is counted.
const MOST_NAMED: usize = 2;

/// A longer name is shown by its end.
const MOST_OF_NAME: usize = 60;

/// Gathered by all threads of one search. Each path is named once.
#[derive(Debug)]
pub(super) struct Notes {
    /// Paths are shown from here.
    root: PathBuf,
    found: Mutex<BTreeMap<PathBuf, String>>,
}

impl Notes {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            found: Mutex::new(BTreeMap::new()),
        }
    }

    /// Adds what a sentence says about a path.
    pub(super) fn add(&self, path: &Path, what: impl Into<String>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.entry(path.to_owned()).or_insert_with(|| what.into());
    }

    /// The sentences, in the order of the paths.
    pub(super) fn sentences(&self) -> Vec<String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sentences: Vec<String> = found
            .iter()
            .take(MOST_NAMED)
            .map(|(path, what)| format!("`{}` {what}.", self.name(path)))
            .collect();
        match found.len().saturating_sub(MOST_NAMED) {
            0 => {}
            1 => sentences.push("The same or the like holds for 1 other file.".to_owned()),
            more => sentences.push(format!(
                "The same or the like holds for {more} other files."
            )),
        }
        sentences
    }

    fn name(&self, path: &Path) -> String {
        // What is searched may be a file itself, of which nothing is left below the root.
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let path = match below.as_os_str().is_empty() {
            true => path.file_name().map_or(path, Path::new),
            false => below,
        };
        let name = shown(path);
        match name.char_indices().rev().nth(MOST_OF_NAME) {
            None => name,
            Some((at, _)) => format!("…{}", name.get(at..).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_searched_alone_has_its_name() {
        for (root, path, wanted) in [
            ("/r/a.txt", "/r/a.txt", "`a.txt` is long."),
            ("/r", "/r", "`r` is long."),
            ("/", "/", "`/` is long."),
            ("/r", "/r/s/a.txt", "`s/a.txt` is long."),
        ] {
            let notes = Notes::new(Path::new(root));
            notes.add(Path::new(path), "is long");
            assert_eq!(notes.sentences(), [wanted], "{root}");
        }
    }

    #[test]
    fn a_few_are_named_and_the_others_counted() {
        let notes = Notes::new(Path::new("/r"));
        assert!(notes.sentences().is_empty());
        notes.add(Path::new("/r/b"), "is a pipe");
        notes.add(Path::new("/r/b"), "is named once");
        notes.add(&Path::new("/r").join("a".repeat(500)), "is long");
        notes.add(Path::new("/other"), "lies above");
        let sentences = notes.sentences();
        assert_eq!(sentences.len(), 3, "{sentences:?}");
        assert_eq!(sentences[0], "`/other` lies above.");
        assert!(sentences[1].starts_with("`…aaa") && sentences[1].len() < 100);
        assert!(sentences[2].contains("1 other file"), "{sentences:?}");
    }
}
