//! Where the paths of commands lead, for a policy that reads no files itself.

use std::path::{Path, PathBuf};

use toolbay_policy::{FileLinks, LinkResolver};

use crate::subjects::real_path;

/// A folder with more entries is not listed for the sake of a pattern.
const MOST_NAMES: usize = 10_000;

/// Follows links as they are on the disk now.
struct OnDisk;

impl FileLinks for OnDisk {
    fn real_path(&self, path: &Path) -> PathBuf {
        real_path(path)
    }

    fn names_in(&self, folder: &Path) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).ok()? {
            // One that cannot be told could be a link that leads anywhere.
            names.push(entry.ok()?.file_name().into_string().ok()?);
            if names.len() > MOST_NAMES {
                return None;
            }
        }
        Some(names)
    }
}

/// For policies whose decisions are about this machine.
pub fn links_on_disk() -> LinkResolver {
    LinkResolver::new(OnDisk)
}
