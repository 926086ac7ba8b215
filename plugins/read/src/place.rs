//! Whether there is a file at a path that can be read at all.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use toolbay_sdk::ToolError;
use toolbay_sdk::names::{one_line, shown};

use crate::missing;

/// The length of the regular file at `path`, or what to do instead.
///
/// Looks before it opens: opening a FIFO would wait for somebody to write.
pub fn check(path: &Path, roots: &[String]) -> Result<u64, ToolError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(ToolError::Denied(format!(
                "{} may not be read: {error}",
                shown(path)
            )));
        }
        // To a guest all that lies outside its folders does not exist; saying
        // "not found" there would send the model looking for it.
        Err(_) if !roots.is_empty() && !roots.iter().any(|root| path.starts_with(root)) => {
            return Err(ToolError::Denied(format!(
                "{} lies outside the folders that may be read: {}",
                shown(path),
                one_line(&roots.join(", "))
            )));
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(ToolError::coded("not-found", missing::sentence(path)));
        }
        Err(error) => {
            return Err(ToolError::failed(format!(
                "{} cannot be read: {error}",
                shown(path)
            )));
        }
    };
    if metadata.is_dir() {
        return Err(ToolError::coded(
            "is-folder",
            format!(
                "{} is a folder, not a file. List what is in it with a file search or a shell command such as ls, then read a file.",
                shown(path)
            ),
        ));
    }
    if !metadata.is_file() {
        return Err(ToolError::coded(
            "not-a-file",
            format!(
                "{} is a device, pipe or socket, not a regular file; reading it might never end. Use a shell command with a time limit if you need its data.",
                shown(path)
            ),
        ));
    }
    Ok(metadata.len())
}
