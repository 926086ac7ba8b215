//! Links, as far as the caller knows them: this crate has no I/O.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the caller can say about the file system.
pub trait FileLinks: Send + Sync {
    /// The path without links, resolved as far as it exists.
    fn real_path(&self, path: &Path) -> PathBuf;

    /// The names in a folder, so that those which a pattern may match are followed too. None if it
    /// cannot be told; then only the folder itself is followed.
    fn names_in(&self, _folder: &Path) -> Option<Vec<String>> {
        None
    }
}

impl<F: Fn(&Path) -> PathBuf + Send + Sync> FileLinks for F {
    fn real_path(&self, path: &Path) -> PathBuf {
        self(path)
    }
}

/// How links are followed. Clones share what the caller gave.
#[derive(Clone)]
pub struct LinkResolver(Arc<dyn FileLinks>);

impl LinkResolver {
    pub fn new(links: impl FileLinks + 'static) -> Self {
        Self(Arc::new(links))
    }

    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        self.0.real_path(path)
    }

    pub(crate) fn names_in(&self, folder: &Path) -> Option<Vec<String>> {
        self.0.names_in(folder)
    }
}

impl fmt::Debug for LinkResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkResolver")
    }
}

/// The same only if it is the very same: what a function does cannot be compared.
impl PartialEq for LinkResolver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for LinkResolver {}

#[cfg(test)]
mod tests;
