//! Absolute links that lead back inside.
//!
//! cap-std takes every absolute link for one that leads out, and refuses it. Most
//! lead from one place of a project to another, so a refused path is looked up once
//! more: if it really lies in a granted folder, it is reached from there. Nothing is
//! opened on the way, and what is opened afterwards passes cap-std and the fence
//! like anything else.

use std::path::{Component, Path, PathBuf};

use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::descriptor::OpenFolder;
use super::fence::Fence;
use super::open::preopen;

/// Does something with a path below a folder, and if the path seems to lead out,
/// once more from the place where it really leads.
pub(super) fn past_links<T>(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    work: impl Fn(&OpenFolder, &str) -> Result<T, FsError>,
) -> Result<T, FsError> {
    let mut done = work(folder, path);
    // A path that itself starts at the top or goes up is no matter of links.
    let goes_down = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !goes_down {
        return done;
    }
    let whole = folder.path.join(path);
    // The last name may be a link that is meant itself, so it is resolved last.
    for resolve in [real_parent, real] {
        match &done {
            Err(error) if leads_out(error) => {}
            Ok(_) | Err(_) => return done,
        }
        if let Some((folder, path)) = resolve(&whole).and_then(|real| inside(fence, &real)) {
            done = work(&folder, &path);
        }
    }
    done
}

fn real_parent(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?.canonicalize().ok()?;
    Some(parent.join(path.file_name()?))
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The granted folder above a real path, and the way down from it. Whoever asks
/// learns nothing about what lies elsewhere.
fn inside(fence: &Fence, real: &Path) -> Option<(OpenFolder, String)> {
    let home = fence.home_of(real)?;
    let below = real.strip_prefix(&home).ok()?.to_str()?;
    let below = if below.is_empty() { "." } else { below };
    Some((preopen(&home).ok()?, below.to_owned()))
}

/// cap-std has no error of its own for a path that leads out.
fn leads_out(error: &FsError) -> bool {
    matches!(error.downcast_ref(), Some(ErrorCode::NotPermitted))
}
