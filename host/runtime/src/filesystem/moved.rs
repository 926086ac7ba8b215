//! What a new name means for what is named.
//!
//! A folder takes its files along: none of them may be closed by a rule under its
//! old name or its new one, or renaming the folder would open it. A relative link
//! leads elsewhere from elsewhere: one that leads out would lie in wait for the next
//! program that follows it.

use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::change::lexical;
use super::fence::{Fence, Wish};

/// How many files a folder may hold for its renaming to be checked; a larger one is
/// refused.
const MOST_CHECKED: usize = 20_000;

/// Whether a folder may have another name, with all that is in it.
pub(super) fn check_folder(
    fence: &Fence,
    dir: &Dir,
    old: &Path,
    new: &Path,
) -> Result<(), FsError> {
    let moves = old.parent() != new.parent();
    let mut left = MOST_CHECKED;
    // A list instead of recursion: how deep folders lie is the guest's choice.
    let mut open = vec![PathBuf::from(".")];
    while let Some(folder) = open.pop() {
        for entry in dir.read_dir(&folder)? {
            let entry = entry?;
            left = left.checked_sub(1).ok_or_else(|| {
                let why = "too many files to check what renaming would do";
                fence.report(old, "rename", why.into());
                ErrorCode::Access
            })?;
            let below = folder.join(entry.file_name());
            let (old, new) = (lexical(&old.join(&below)), lexical(&new.join(&below)));
            fence.check(&old, Wish::Write, "rename of a folder above")?;
            fence.check(&new, Wish::Write, "rename of a folder above")?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(below);
            } else if kind.is_symlink() && moves {
                check_link(fence, dir, &below, &old, &new)?;
            }
        }
    }
    Ok(())
}

/// Whether the link at `name` below a folder may have another path.
pub(super) fn check_link(
    fence: &Fence,
    dir: &Dir,
    name: &Path,
    old: &Path,
    new: &Path,
) -> Result<(), FsError> {
    let target = dir.read_link_contents(name)?;
    match new.parent() {
        // An absolute link leads to the same place from everywhere.
        Some(folder) if old.parent() != Some(folder) && target.is_relative() => {
            check_target(fence, folder, &target)
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a link in this real folder may lead there.
pub(super) fn check_target(fence: &Fence, folder: &Path, target: &Path) -> Result<(), FsError> {
    let leads_to = lexical(&folder.join(target));
    if target.is_relative() && !wanders(target) && fence.may_read(&leads_to) {
        return Ok(());
    }
    fence.report(&leads_to, "symlink", "the link would lead out".into());
    Err(ErrorCode::NotPermitted.into())
}

/// Whether the path goes down and up again: where that leads depends on links.
fn wanders(path: &Path) -> bool {
    path.components()
        .skip_while(|part| !matches!(part, Component::Normal(_)))
        .any(|part| part == Component::ParentDir)
}
