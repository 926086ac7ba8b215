//! What a guest's descriptor stands for.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

#[derive(Clone)]
pub(super) enum Descriptor {
    File(OpenFile),
    Folder(OpenFolder),
}

/// A regular file. What it may do was checked when it was opened.
#[derive(Clone)]
pub(super) struct OpenFile {
    pub(super) file: Arc<File>,
    /// How long it was when it was opened.
    pub(super) length: u64,
    pub(super) read: bool,
    pub(super) write: bool,
}

/// A folder below which paths are resolved.
#[derive(Clone)]
pub(super) struct OpenFolder {
    pub(super) dir: Arc<Dir>,
    /// Real path, for telling people; decisions ask the handle anew.
    pub(super) path: PathBuf,
}

impl Descriptor {
    pub(super) fn file(&self) -> Result<&OpenFile, FsError> {
        match self {
            Self::File(file) => Ok(file),
            Self::Folder(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    pub(super) fn folder(&self) -> Result<&OpenFolder, FsError> {
        match self {
            Self::Folder(folder) => Ok(folder),
            Self::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }
}

impl OpenFile {
    pub(super) fn readable(&self) -> Result<&File, FsError> {
        if self.read {
            Ok(&self.file)
        } else {
            Err(ErrorCode::BadDescriptor.into())
        }
    }

    pub(super) fn writable(&self) -> Result<&File, FsError> {
        if self.write {
            Ok(&self.file)
        } else {
            Err(ErrorCode::BadDescriptor.into())
        }
    }
}
