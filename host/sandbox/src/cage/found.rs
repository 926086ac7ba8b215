//! What a search for protected names has met, and what it could not look through.

use std::io;
use std::path::{Path, PathBuf};

use super::guard::{Unsearched, UnsearchedReason};

/// What of the protected names exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// To be covered by read-only mounts.
    pub(crate) places: Vec<PathBuf>,
    /// Where those lead that are links, which cannot be covered.
    pub(crate) targets: Vec<PathBuf>,
    /// Protected names that are links, and links in protected folders.
    pub(crate) links: Vec<PathBuf>,
    /// Folders that must stay where they are: a way to a target turns there.
    pub(crate) turns: Vec<PathBuf>,
    /// The `.git` of each repository that was met, whatever it is.
    pub(crate) repositories: Vec<PathBuf>,
    /// What could not be looked through: what protected names in it lead to is not known.
    pub(crate) unsearched: Vec<Unsearched>,
}

impl Found {
    pub(crate) fn with(mut self, more: &Self) -> Self {
        self.repositories.extend(more.repositories.iter().cloned());
        self.places.extend(more.places.iter().cloned());
        self.targets.extend(more.targets.iter().cloned());
        self.links.extend(more.links.iter().cloned());
        self.turns.extend(more.turns.iter().cloned());
        self.unsearched.extend(more.unsearched.iter().cloned());
        self
    }

    /// Puts all in order, each once.
    pub(crate) fn sort(&mut self) {
        for list in [
            &mut self.places,
            &mut self.targets,
            &mut self.links,
            &mut self.turns,
            &mut self.repositories,
        ] {
            list.sort();
            list.dedup();
        }
        self.unsearched.sort();
        self.unsearched.dedup();
    }
}

/// A protected name as it was met.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) path: PathBuf,
    pub(super) kind: std::fs::FileType,
    pub(super) against: Against,
}

/// What a search has met.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) names: Vec<Hit>,
    pub(super) unsearched: Vec<Unsearched>,
}

impl Hits {
    /// Notes a folder that cannot be listed, unless it is gone or is none.
    pub(super) fn miss(&mut self, folder: &Path, error: &io::Error) {
        if !is_absence(error) {
            let place = reachable(folder).unwrap_or(folder);
            self.unsearched.push(Unsearched::unreadable(place));
        }
    }

    pub(super) fn leave(&mut self, folders: Vec<PathBuf>) {
        let left = folders.into_iter().map(|path| Unsearched {
            path: path.into(),
            reason: UnsearchedReason::TooMany,
        });
        self.unsearched.extend(left);
    }
}

/// The last part of a way that can be looked at: what is behind it cannot be.
pub(super) fn reachable(path: &Path) -> Option<&Path> {
    let mut above = path.ancestors();
    above.find(|part| part.symlink_metadata().is_ok())
}

/// Whom a name is protected against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    All,
    AllButGit,
}

/// Whether nothing is there, rather than something that cannot be looked at.
pub(super) fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
