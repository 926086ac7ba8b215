//! Where a permitted call may write: a file is that file, a folder is what lies inside that folder.
//!
//! The same values are shown on the approval card and enforced at the opened file.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::protected::protected_part;

/// One file or folder that a call named. The path is real: absolute, every link resolved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    /// This file, whether it exists yet or not. Nothing beside it, nothing below it.
    File(PathBuf),
    /// Everything inside the folder, but for protected names; not the folder's own name.
    Folder(PathBuf),
}

impl Zone {
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Folder(path) => path,
        }
    }

    /// Whether it grants to read this real path.
    pub fn covers(&self, path: &Path) -> bool {
        match self {
            Self::File(file) => path == file,
            Self::Folder(folder) => path.starts_with(folder),
        }
    }

    fn write(&self, path: &Path) -> WriteGrant {
        match self {
            Self::File(file) if path == file => WriteGrant::Yes,
            Self::File(_) => WriteGrant::Outside,
            Self::Folder(folder) if path == folder || !path.starts_with(folder) => {
                WriteGrant::Outside
            }
            Self::Folder(folder) => match protected_part(folder, path) {
                Some(name) => WriteGrant::Protected(name.to_string_lossy().into_owned()),
                None => WriteGrant::Yes,
            },
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Folder(path) if path.parent().is_none() => write!(out, "/"),
            Self::Folder(path) => write!(out, "{}/", path.display()),
        }
    }
}

/// Whether a write is granted, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteGrant {
    Yes,
    Outside,
    /// Inside a folder that was granted, but this name in it is protected.
    Protected(String),
}

/// All zones of a call. Without any, the call writes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zones(Vec<Zone>);

impl Zones {
    pub fn new(mut zones: Vec<Zone>) -> Self {
        zones.sort();
        zones.dedup();
        Self(zones)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Zone> {
        self.0.iter()
    }

    /// Whether the call may write this real path.
    pub fn write(&self, path: &Path) -> WriteGrant {
        let mut answer = WriteGrant::Outside;
        for zone in &self.0 {
            match zone.write(path) {
                WriteGrant::Yes => return WriteGrant::Yes,
                WriteGrant::Outside => {}
                protected @ WriteGrant::Protected(_) => answer = protected,
            }
        }
        answer
    }

    /// Whether a folder of this path lies on the way to something that was granted, so that the
    /// call may make it where it is missing.
    pub fn lead_through(&self, folder: &Path) -> bool {
        self.0.iter().any(|zone| match zone {
            Zone::File(file) => file != folder && file.starts_with(folder),
            Zone::Folder(granted) => granted.starts_with(folder),
        })
    }

    /// Whether the call may read this real path because it was named.
    pub fn cover(&self, path: &Path) -> bool {
        self.0.iter().any(|zone| zone.covers(path))
    }
}

impl FromIterator<Zone> for Zones {
    fn from_iter<I: IntoIterator<Item = Zone>>(zones: I) -> Self {
        Self::new(zones.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_that_file_and_a_folder_what_lies_inside() {
        let zones = Zones::new(vec![
            Zone::File("/p/src/a.rs".into()),
            Zone::Folder("/p/docs".into()),
            Zone::Folder("/p/.git/hooks".into()),
            Zone::File("/p/.envrc".into()),
        ]);
        let protected = |name: &str| WriteGrant::Protected(name.into());
        for (path, wanted) in [
            ("/p/src/a.rs", WriteGrant::Yes),
            ("/p/src/a.rs/x", WriteGrant::Outside),
            ("/p/src/b.rs", WriteGrant::Outside),
            ("/p/src", WriteGrant::Outside),
            ("/p/docs/x", WriteGrant::Yes),
            ("/p/docs/deep/x", WriteGrant::Yes),
            ("/p/docs", WriteGrant::Outside),
            ("/p/docs2/x", WriteGrant::Outside),
            ("/p/docs/.git/config", protected(".git")),
            ("/p/docs/sub/.VSCode", protected(".VSCode")),
            ("/p/.git/hooks/pre-commit", WriteGrant::Yes),
            ("/p/.git/config", WriteGrant::Outside),
            ("/p/.envrc", WriteGrant::Yes),
            ("/p", WriteGrant::Outside),
            ("/", WriteGrant::Outside),
        ] {
            assert_eq!(zones.write(Path::new(path)), wanted, "{path}");
        }
    }

    #[test]
    fn folders_on_the_way_may_be_made_and_no_others() {
        let zones = Zones::new(vec![
            Zone::File("/p/new/deep/a.rs".into()),
            Zone::Folder("/q/out".into()),
        ]);
        for (folder, wanted) in [
            ("/p/new", true),
            ("/p/new/deep", true),
            ("/p/new/deep/a.rs", false),
            ("/p/other", false),
            ("/q/out", true),
            ("/q/out/x", false),
        ] {
            assert_eq!(zones.lead_through(Path::new(folder)), wanted, "{folder}");
        }
    }

    #[test]
    fn what_was_named_may_be_read() {
        let zones = Zones::new(vec![
            Zone::File("/p/a".into()),
            Zone::Folder("/q/out".into()),
        ]);
        for (path, wanted) in [
            ("/p/a", true),
            ("/p/a/x", false),
            ("/p/b", false),
            ("/p", false),
            ("/q/out", true),
            ("/q/out/.git/config", true),
            ("/q/outer", false),
        ] {
            assert_eq!(zones.cover(Path::new(path)), wanted, "{path}");
        }
        assert!(!zones.is_empty() && Zones::default().is_empty());
        assert!(!Zones::default().cover(Path::new("/p/a")));
    }

    #[test]
    fn folders_are_told_from_files_where_they_are_shown() {
        let shown = [
            Zone::File("/p/a".into()),
            Zone::Folder("/p/b".into()),
            Zone::Folder("/".into()),
        ];
        assert_eq!(shown.map(|zone| zone.to_string()), ["/p/a", "/p/b/", "/"]);
    }
}
