//! Changes of folders: each goes through the checked handle of the parent and a
//! single name, so that what was checked is what is changed.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::descriptor::OpenFolder;
use super::fence::{Fence, Wish};
use super::moved;
use super::real::path_of;

/// The folder that holds the last name of a path, opened, and that name.
pub(super) fn parent_of(
    folder: &OpenFolder,
    path: &str,
) -> Result<(OpenFolder, OsString), FsError> {
    let path = Path::new(path);
    let name = match path.components().next_back() {
        Some(Component::Normal(name)) => name.to_os_string(),
        Some(Component::ParentDir | Component::CurDir) => return Err(ErrorCode::Invalid.into()),
        Some(Component::RootDir | Component::Prefix(_)) => {
            return Err(ErrorCode::NotPermitted.into());
        }
        None => return Err(ErrorCode::NoEntry.into()),
    };
    let parent = path.parent().unwrap_or(Path::new(""));
    let dir = if parent.as_os_str().is_empty() {
        folder.dir.clone()
    } else {
        Arc::new(folder.dir.open_dir(parent)?)
    };
    let real = path_of(dir.as_ref())?;
    Ok((OpenFolder { dir, path: real }, name))
}

/// Whether a path says of its last name that it is a folder.
pub(super) fn names_a_folder(path: &str) -> bool {
    path.ends_with('/') || path.ends_with("/.")
}

/// A new name that is no folder's cannot end like one: POSIX says so, by what is there already.
fn check_new_name(parent: &OpenFolder, name: &OsString, path: &str) -> Result<(), FsError> {
    if !names_a_folder(path) {
        return Ok(());
    }
    match parent.dir.symlink_metadata(name) {
        Ok(_) => Err(ErrorCode::Exist.into()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn create_directory(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
) -> Result<(), FsError> {
    let (parent, name) = parent_of(folder, path)?;
    fence.check(
        &parent.path.join(&name),
        Wish::MakeFolder,
        "create-directory",
    )?;
    parent.dir.create_dir(&name)?;
    Ok(())
}

pub(super) fn unlink(fence: &Fence, folder: &OpenFolder, path: &str) -> Result<(), FsError> {
    let (parent, name) = parent_of(folder, path)?;
    fence.check(&parent.path.join(&name), Wish::Write, "unlink-file")?;
    if names_a_folder(path) {
        let is_folder = parent.dir.symlink_metadata(&name)?.is_dir();
        return Err(match is_folder {
            true => ErrorCode::IsDirectory.into(),
            false => ErrorCode::NotDirectory.into(),
        });
    }
    parent.dir.remove_file(&name)?;
    Ok(())
}

pub(super) fn remove_directory(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
) -> Result<(), FsError> {
    let (parent, name) = parent_of(folder, path)?;
    fence.check(&parent.path.join(&name), Wish::Write, "remove-directory")?;
    parent.dir.remove_dir(&name)?;
    Ok(())
}

pub(super) fn rename(
    fence: &Fence,
    from: &OpenFolder,
    from_path: &str,
    to: &OpenFolder,
    to_path: &str,
) -> Result<(), FsError> {
    let (old, old_name) = parent_of(from, from_path)?;
    let (new, new_name) = parent_of(to, to_path)?;
    let old_path = old.path.join(&old_name);
    let new_path = new.path.join(&new_name);
    fence.check(&old_path, Wish::Write, "rename")?;
    fence.check(&new_path, Wish::Write, "rename")?;
    let kind = old.dir.symlink_metadata(&old_name)?.file_type();
    if !kind.is_dir() && (names_a_folder(from_path) || names_a_folder(to_path)) {
        return Err(ErrorCode::NotDirectory.into());
    }
    if kind.is_dir() {
        let dir = old.dir.open_dir(&old_name)?;
        moved::check_folder(fence, &dir, &old_path, &new_path)?;
    } else if kind.is_symlink() {
        moved::check_link(fence, &old.dir, Path::new(&old_name), &old_path, &new_path)?;
    }
    old.dir.rename(&old_name, &new.dir, &new_name)?;
    Ok(())
}

pub(super) fn hard_link(
    fence: &Fence,
    from: &OpenFolder,
    from_path: &str,
    to: &OpenFolder,
    to_path: &str,
) -> Result<(), FsError> {
    let (old, old_name) = parent_of(from, from_path)?;
    let (new, new_name) = parent_of(to, to_path)?;
    // A second name is as good as the first: who may not write the old one may
    // not have it under a new one either.
    let (old_path, new_path) = (old.path.join(&old_name), new.path.join(&new_name));
    fence.check(&old_path, Wish::Write, "link")?;
    fence.check(&new_path, Wish::Write, "link")?;
    let kind = old.dir.symlink_metadata(&old_name)?.file_type();
    if names_a_folder(from_path) && !kind.is_dir() {
        return Err(ErrorCode::NotDirectory.into());
    }
    check_new_name(&new, &new_name, to_path)?;
    if kind.is_symlink() {
        moved::check_link(fence, &old.dir, Path::new(&old_name), &old_path, &new_path)?;
    }
    old.dir.hard_link(&old_name, &new.dir, &new_name)?;
    Ok(())
}

pub(super) fn symlink(
    fence: &Fence,
    folder: &OpenFolder,
    target: &str,
    path: &str,
) -> Result<(), FsError> {
    let (parent, name) = parent_of(folder, path)?;
    fence.check(&parent.path.join(&name), Wish::Write, "symlink")?;
    check_new_name(&parent, &name, path)?;
    moved::check_target(fence, &parent.path, Path::new(target))?;
    parent.dir.symlink(target, &name)?;
    Ok(())
}

/// `.` and `..` resolved by name.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
        }
    }
    whole
}
