//! The session's folder: private files that appear whole or not at all.
//!
//! Every step goes through an open folder, never through a path, and follows no link: what
//! somebody puts into the folder can make a step fail, but cannot lead it elsewhere.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::error::StoreError;
use super::names::FileName;

const RESULTS: &str = "tool-results";
const LOG: &str = "replacements.jsonl";
const OTHERS: u32 = 0o077;
/// Nobody takes a name by accident, and whoever does it on purpose would take more.
const NAME_ATTEMPTS: usize = 8;
const TEMPORARY_ATTEMPTS: usize = 64;

/// The number of the next temporary file of this process.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

/// Whether a file that is not there is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfAbsent {
    Create,
    Fail,
}

impl Folder {
    /// Touches nothing yet.
    pub(super) fn new(path: &Path) -> Self {
        Self {
            // The model may work in another folder than we do.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),
        }
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Where a saved file is.
    pub(super) fn file_path(&self, name: &str) -> PathBuf {
        self.path.join(RESULTS).join(name)
    }

    /// Opens the log for reading and for adding to its end; for reading alone where
    /// nothing may be written.
    pub(super) fn open_log(&self, if_absent: IfAbsent) -> Result<File, StoreError> {
        let path = self.log_path();
        let folder = self.session_folder(if_absent)?;
        // A pipe in the log's place must not make us wait for somebody to open it.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = |flags| rustix::fs::openat(&folder, LOG, flags, private_file());
        let file = match if_absent {
            IfAbsent::Create => open(flags | OFlags::RDWR | OFlags::APPEND | OFlags::CREATE),
            IfAbsent::Fail => match open(flags | OFlags::RDWR | OFlags::APPEND) {
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => open(flags | OFlags::RDONLY),
                opened => opened,
            },
        };
        let file = File::from(file.map_err(StoreError::at(&path))?);
        match if_absent {
            IfAbsent::Create => make_durable(folder.as_fd()),
            IfAbsent::Fail => {}
        }
        let metadata = file.metadata().map_err(StoreError::at(&path))?;
        if !metadata.is_file() {
            return Err(StoreError::NotAFile(path));
        }
        Ok(file)
    }

    /// Puts bytes into a file of this name, which is on the disk when this returns, and
    /// says which name it got: never that of another file. A file that already holds
    /// these bytes is taken as it is.
    pub(super) fn save(&self, name: &FileName, bytes: &[u8]) -> Result<String, StoreError> {
        let path = self.path.join(RESULTS);
        let folder = self.results_folder(&path)?;
        let temporary = write_temporary(folder.as_fd(), bytes).map_err(StoreError::at(&path))?;
        let placed = place(folder.as_fd(), &temporary, name, bytes);
        // After a rename it is gone; after all else nobody needs it.
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        match placed {
            Ok(Some(name)) => Ok(name),
            Ok(None) => Err(StoreError::Taken(path.join(name.attempt(0)))),
            Err(error) => Err(StoreError::at(&path)(error)),
        }
    }

    fn session_folder(&self, if_absent: IfAbsent) -> Result<OwnedFd, StoreError> {
        match if_absent {
            IfAbsent::Create => DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.path)
                .map_err(StoreError::at(&self.path))?,
            IfAbsent::Fail => {}
        }
        rustix::fs::open(&self.path, folder_flags(), Mode::empty())
            .map_err(StoreError::at(&self.path))
    }

    fn results_folder(&self, path: &Path) -> Result<OwnedFd, StoreError> {
        let session = self.session_folder(IfAbsent::Create)?;
        match rustix::fs::mkdirat(&session, RESULTS, private_folder()) {
            Ok(()) => make_durable(session.as_fd()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(StoreError::at(path)(error)),
        }
        let folder = rustix::fs::openat(&session, RESULTS, folder_flags(), Mode::empty())
            .map_err(StoreError::at(path))?;
        let mode = rustix::fs::fstat(&folder).map_err(StoreError::at(path))?;
        if Mode::from_raw_mode(mode.st_mode).bits() & OTHERS != 0 {
            rustix::fs::fchmod(&folder, private_folder()).map_err(StoreError::at(path))?;
        }
        Ok(folder)
    }
}

/// Writes a hidden file and gives its name. A process that is killed leaves at most this.
fn write_temporary(folder: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<String> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..TEMPORARY_ATTEMPTS {
        let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let name = format!(".partial-{}-{number}", std::process::id());
        let mut file = match rustix::fs::openat(folder, &name, flags, private_file()) {
            Ok(file) => File::from(file),
            // Left behind by a process that had our number before us.
            Err(Errno::EXIST) => continue,
            Err(error) => return Err(error.into()),
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
            return Err(error);
        }
        return Ok(name);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives the temporary file its name; none if all its names are taken.
fn place(
    folder: BorrowedFd<'_>,
    temporary: &str,
    name: &FileName,
    bytes: &[u8],
) -> io::Result<Option<String>> {
    for attempt in 0..NAME_ATTEMPTS {
        let name = name.attempt(attempt);
        match move_to_free_name(folder, temporary, &name) {
            Ok(()) => {
                make_durable(folder);
                return Ok(Some(name));
            }
            Err(Errno::EXIST) if holds(folder, &name, bytes) => return Ok(Some(name)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn move_to_free_name(folder: BorrowedFd<'_>, from: &str, to: &str) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot rename without replacing; they can link.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// Whether a private, plain file of this name holds these bytes.
fn holds(folder: BorrowedFd<'_>, name: &str, bytes: &[u8]) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) else {
        return false;
    };
    let mut file = File::from(file);
    let is_ours = file.metadata().is_ok_and(|metadata| {
        metadata.is_file()
            && metadata.mode() & OTHERS == 0
            && usize::try_from(metadata.len()).is_ok_and(|length| length == bytes.len())
    });
    is_ours && reads_as(&mut file, bytes).unwrap_or(false)
}

fn reads_as(file: &mut File, mut expected: &[u8]) -> io::Result<bool> {
    let mut buffer = [0; 16 << 10];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(expected.is_empty());
        }
        match expected.strip_prefix(&buffer[..length]) {
            Some(rest) => expected = rest,
            None => return Ok(false),
        }
    }
}

/// Lets new names outlive a power cut, where the file system can promise that.
fn make_durable(folder: BorrowedFd<'_>) {
    let _ = rustix::fs::fsync(folder);
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn private_file() -> Mode {
    Mode::RUSR | Mode::WUSR
}

fn private_folder() -> Mode {
    Mode::RWXU
}

#[cfg(test)]
mod tests;
