//! A folder and its files, reached through one handle and only if nobody else can reach them.

use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::client::auth::error::StoreError;

/// Some kilobytes for each server; nobody has a thousand.
const MAX_BYTES: u64 = 8 << 20;

pub(super) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Makes the folder if it is not there.
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        match Self::open(path) {
            Err(StoreError::Io(_, error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(path)
            .map_err(|error| StoreError::Io(path.to_owned(), error))?;
        Self::open(path)
    }

    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle =
            rustix::fs::open(path, flags, Mode::empty()).map_err(|error| explain(path, error))?;
        let folder = Self {
            handle,
            path: path.to_owned(),
        };
        folder.check(&folder.handle, path, FileType::Directory)?;
        Ok(folder)
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The whole file, or nothing if it is not there.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path_of(name);
        // Not blocking: it may be a pipe, and is refused then.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(explain(&path, error)),
        };
        self.check(&handle, &path, FileType::RegularFile)?;
        let mut text = Vec::new();
        File::from(handle)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| StoreError::Io(path.clone(), error))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(StoreError::TooLarge(path));
        }
        Ok(Some(text))
    }

    /// A file to lock: empty, and never read.
    pub(super) fn lock_file(&self, name: &str) -> Result<File, StoreError> {
        let path = self.path_of(name);
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.handle, name, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| explain(&path, error))?;
        self.check(&handle, &path, FileType::RegularFile)?;
        Ok(File::from(handle))
    }

    /// Exchanges a file as a whole: readers see the old one or the new one. The caller
    /// holds the lock, so what lies at the name beside it is what a dead program left.
    pub(super) fn replace(&self, name: &str, text: &[u8]) -> Result<(), StoreError> {
        let path = self.path_of(name);
        let beside = format!("{name}.new");
        let fail = |error: Errno| StoreError::Io(path.clone(), error.into());
        // What is there in its place is not written over if it is not ours.
        self.read(name)?;
        match rustix::fs::unlinkat(&self.handle, beside.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(fail(error)),
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(
            &self.handle,
            beside.as_str(),
            flags,
            Mode::from_raw_mode(0o600),
        )
        .map_err(fail)?;
        let mut file = File::from(handle);
        let written = file.write_all(text).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // Half a list of tokens is of no use to us, and of some to others.
            let _ = rustix::fs::unlinkat(&self.handle, beside.as_str(), AtFlags::empty());
            return Err(StoreError::Io(path, error));
        }
        rustix::fs::renameat(&self.handle, beside.as_str(), &self.handle, name).map_err(fail)?;
        rustix::fs::fsync(&self.handle).map_err(fail)
    }

    fn check(&self, handle: &OwnedFd, path: &Path, wanted: FileType) -> Result<(), StoreError> {
        let stat: Stat = rustix::fs::fstat(handle).map_err(|error| explain(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != wanted {
            return Err(StoreError::NotPlain(path.to_owned()));
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        if stat.st_mode & 0o077 != 0 {
            return Err(StoreError::Open(path.to_owned()));
        }
        Ok(())
    }
}

fn explain(path: &Path, error: Errno) -> StoreError {
    match error {
        // A link where none is followed, or something else where a folder should be.
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => {
            StoreError::NotPlain(path.to_owned())
        }
        error => StoreError::Io(path.to_owned(), error.into()),
    }
}
