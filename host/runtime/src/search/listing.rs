//! Lists files.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::confine::Anchor;
use super::notes::Notes;
use super::walk::{Globs, Item, Walk, by_path, walk, walk_with};
use super::{Entry, Fence, Listing, Order, Request, SearchError, Stop, default_threads};

/// Lists at most `limit` files (0 = all). A file is listed whatever the path
/// rules say about reading it; what lies in a folder that they close is not.
pub fn files(
    request: &Request,
    order: Order,
    limit: usize,
    fence: &dyn Fence,
    stop: &Stop,
) -> Result<Listing, SearchError> {
    // Proves that the root exists and lies where it was granted.
    Anchor::open(request)?;
    let notes = Notes::new(&request.root);
    let walk = Walk {
        request,
        globs: Globs::Narrow,
        threads: default_threads(),
        fence,
        notes: &notes,
        stop,
    };
    let listing = match order {
        Order::Path => by_name(walk, limit)?,
        Order::Newest => newest(walk, limit)?,
    };
    Ok(Listing {
        notes: notes.sentences(),
        ..listing
    })
}

fn by_name(request: Walk<'_>, limit: usize) -> Result<Listing, SearchError> {
    let mut found = walk(request)?;
    let total = found.len();
    if limit > 0 {
        found.truncate(limit);
    }
    let truncated = found.len() < total;
    let entries = found
        .into_iter()
        // A file that went away since has no times; its name is still the answer.
        .map(|path| Dated::of(path.symlink_metadata().ok().as_ref(), path).entry())
        .collect();
    Ok(Listing {
        entries,
        total: total as u64,
        truncated,
        notes: Vec::new(),
    })
}

fn newest(request: Walk<'_>, limit: usize) -> Result<Listing, SearchError> {
    let mut found: Vec<Dated> = walk_with(request, |file| {
        let metadata = file.metadata().ok()?;
        Some(Dated::of(Some(&metadata), file.path))
    })?;
    let total = found.len();
    let newest_first = |left: &Dated, right: &Dated| {
        right
            .modified_ms
            .cmp(&left.modified_ms)
            .then_with(|| by_path(&left.path, &right.path))
    };
    if limit > 0 && limit < total {
        found.select_nth_unstable_by(limit, newest_first);
        found.truncate(limit);
    }
    found.sort_unstable_by(newest_first);
    Ok(Listing {
        truncated: found.len() < total,
        entries: found.into_iter().map(Dated::entry).collect(),
        total: total as u64,
        notes: Vec::new(),
    })
}

struct Dated {
    path: PathBuf,
    modified_ms: u64,
    size: u64,
}

impl Item for Dated {
    fn finish(_run: &mut [Self]) {}
}

impl Dated {
    fn of(metadata: Option<&Metadata>, path: PathBuf) -> Self {
        Self {
            path,
            modified_ms: metadata.map_or(0, modified_ms),
            size: metadata.map_or(0, Metadata::len),
        }
    }

    fn entry(self) -> Entry {
        Entry {
            path: text(&self.path),
            modified_ms: self.modified_ms,
            size: self.size,
        }
    }
}

/// The path as the contract has it; bytes that are no UTF-8 are replaced.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Milliseconds since 1970; older files count as that old.
pub(super) fn modified_ms(metadata: &Metadata) -> u64 {
    metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}
