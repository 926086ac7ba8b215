//! Why something could not be kept. The model reads these as the reason for a cut result.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum StoreError {
    #[error("this session keeps no files")]
    NoFolder,
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} is not a plain file", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is not a path that can be written as one line of text", .0.display())]
    NotText(PathBuf),
    #[error("other files have taken the name {}", .0.display())]
    Taken(PathBuf),
    #[error("another program holds {}", .0.display())]
    Busy(PathBuf),
    #[error("{} has no room for another entry", .0.display())]
    Full(PathBuf),
}

impl StoreError {
    /// Names the path that an error of the system is about.
    pub(super) fn at<E: Into<io::Error>>(path: &Path) -> impl Fn(E) -> Self + '_ {
        move |error| Self::Io {
            path: path.to_path_buf(),
            error: error.into(),
        }
    }
}
