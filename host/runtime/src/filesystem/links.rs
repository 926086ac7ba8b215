//! Absolute links that lead back inside.
//!
//! cap-std takes every absolute link for one that leads out, and refuses it. Most
//! lead from one place of a project to another, so a refused path is looked up once
//! more: if it really lies in a granted folder, it is reached from there. Nothing is
//! opened on the way, and what is opened afterwards passes cap-std and the fence
//! like anything else.

use std::path::Path;

use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::descriptor::OpenFolder;
use super::fence::Fence;
use super::open::preopen;

/// Does something with a path below a folder, and if the path seems to lead out,
/// once more with the place where it really leads.
pub(super) fn past_links<T>(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    work: impl Fn(&OpenFolder, &str) -> Result<T, FsError>,
) -> Result<T, FsError> {
    let done = work(folder, path);
    match &done {
        Err(error) if leads_out(error) => match inside(fence, &folder.path.join(path)) {
            Some((folder, path)) => work(&folder, &path),
            None => done,
        },
        Ok(_) | Err(_) => done,
    }
}

/// The granted folder in which a path really lies, and the way down from it. Who
/// asks learns nothing about what lies elsewhere.
pub(super) fn inside(fence: &Fence, path: &Path) -> Option<(OpenFolder, String)> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        // What is to be created has a folder already.
        Err(_) => path.parent()?.canonicalize().ok()?.join(path.file_name()?),
    };
    let home = fence.home_of(&real)?;
    let below = real.strip_prefix(&home).ok()?.to_str()?;
    let below = if below.is_empty() { "." } else { below }.to_owned();
    Some((preopen(&home).ok()?, below))
}

/// cap-std has no error of its own for a path that leads out.
fn leads_out(error: &FsError) -> bool {
    matches!(error.downcast_ref(), Some(ErrorCode::NotPermitted))
}
