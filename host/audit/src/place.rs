//! The folder of a log and the files in it, opened so that no link leads elsewhere.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, openat};
use rustix::io::Errno;

use crate::error::LogError;

/// The file that is written.
pub(crate) const CURRENT: &str = "audit.jsonl";
/// Says where the log ends; also the lock.
pub(crate) const HEAD: &str = "audit.head";

/// The name of a file that is full.
pub(crate) fn rotated_name(number: u64) -> String {
    format!("audit.{number:06}.jsonl")
}

/// The number in such a name. One number has one name.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("audit.")?.strip_suffix(".jsonl")?;
    let number = digits.parse().ok()?;
    (number > 0 && rotated_name(number) == name).then_some(number)
}

/// A file, told from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id {
    device: u64,
    inode: u64,
}

pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Makes the folder if need be, and closes it to others.
    pub(crate) fn make(path: &Path) -> Result<Self, LogError> {
        let fail = |error| LogError::Io(path.to_path_buf(), error);
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(path).map_err(fail)?;
        let folder = Self::look(path)?;
        let stat = fstat(&folder.fd).map_err(|error| fail(error.into()))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(LogError::NotOurs(path.to_path_buf()));
        }
        if stat.st_mode & 0o077 != 0 {
            fchmod(&folder.fd, Mode::RWXU).map_err(|error| fail(error.into()))?;
        }
        Ok(folder)
    }

    /// Opens the folder as it is, for those who only read.
    pub(crate) fn look(path: &Path) -> Result<Self, LogError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(CWD, path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self {
                fd,
                path: path.to_path_buf(),
            }),
            Err(Errno::NOENT) => Err(LogError::NoLog(path.to_path_buf())),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(LogError::NotAFolder(path.to_path_buf())),
            Err(error) => Err(LogError::Io(path.to_path_buf(), error.into())),
        }
    }

    /// Opens a file to write, closed to others; makes it if need be. What is appended
    /// goes to the end whoever else writes.
    pub(crate) fn open(&self, name: &str, how: How) -> Result<(File, Id), LogError> {
        let how = match how {
            How::Append => OFlags::APPEND,
            How::InPlace => OFlags::empty(),
        };
        let flags = OFlags::RDWR | OFlags::CREATE | how | SAFE;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd =
            openat(&self.fd, name, flags, mode).map_err(|error| self.fail(name, error.into()))?;
        let file = File::from(fd);
        let metadata = file.metadata().map_err(|error| self.fail(name, error))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(LogError::NotOurs(self.path.join(name)));
        }
        // With a second name somebody could have us write into a file of theirs.
        if !metadata.is_file() || metadata.nlink() > 1 {
            return Err(LogError::NotAFile(self.path.join(name)));
        }
        if metadata.mode() & 0o077 != 0 {
            fchmod(&file, mode).map_err(|error| self.fail(name, error.into()))?;
        }
        let id = Id {
            device: metadata.dev(),
            inode: metadata.ino(),
        };
        Ok((file, id))
    }

    /// Opens a file to read, if it is there.
    pub(crate) fn open_to_read(&self, name: &str) -> Result<Option<File>, LogError> {
        let file = match openat(&self.fd, name, OFlags::RDONLY | SAFE, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.fail(name, error.into())),
        };
        let metadata = file.metadata().map_err(|error| self.fail(name, error))?;
        if !metadata.is_file() {
            return Err(LogError::NotAFile(self.path.join(name)));
        }
        Ok(Some(file))
    }

    /// Which file has the name now, and how long it is.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<(Id, u64)>, LogError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                Err(LogError::NotAFile(self.path.join(name)))
            }
            #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
            Ok(stat) => Ok(Some((
                Id {
                    device: stat.st_dev as u64,
                    inode: stat.st_ino as u64,
                },
                stat.st_size as u64,
            ))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.fail(name, error.into())),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), LogError> {
        if self.stat(to)?.is_some() {
            let error = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(self.fail(to, error));
        }
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|error| self.fail(from, error.into()))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), LogError> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
            .map_err(|error| self.fail(name, error.into()))
    }

    /// Makes sure that names survive a loss of power.
    pub(crate) fn sync(&self) -> Result<(), LogError> {
        rustix::fs::fsync(&self.fd).map_err(|error| LogError::Io(self.path.clone(), error.into()))
    }

    /// The numbers of the files that are full, in order.
    pub(crate) fn rotated(&self) -> Result<Vec<u64>, LogError> {
        let fail = |error| LogError::Io(self.path.clone(), error);
        let mut numbers = Vec::new();
        let entries = rustix::fs::Dir::read_from(&self.fd).map_err(|error| fail(error.into()))?;
        for entry in entries {
            let entry = entry.map_err(|error| fail(error.into()))?;
            numbers.extend(entry.file_name().to_str().ok().and_then(number_of));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fail(&self, name: &str, error: io::Error) -> LogError {
        LogError::Io(self.path.join(name), error)
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    Append,
    InPlace,
}

/// No link is followed, nothing waits for the other end of a pipe, nothing is inherited.
const SAFE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_number_has_one_name() {
        for (name, number) in [
            ("audit.000001.jsonl", Some(1)),
            ("audit.1234567.jsonl", Some(1_234_567)),
            ("audit.1.jsonl", None),
            ("audit.000000.jsonl", None),
            ("audit.+00001.jsonl", None),
            ("audit.jsonl", None),
        ] {
            assert_eq!(number_of(name), number, "{name}");
        }
    }

    #[test]
    fn folders_and_files_are_closed_to_others() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("a/audit");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        Folder::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let folder = Folder::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::write(path.join(CURRENT), "").unwrap();
        fs::set_permissions(path.join(CURRENT), fs::Permissions::from_mode(0o666)).unwrap();
        folder.open(CURRENT, How::Append).unwrap();
        assert_eq!(mode(&path.join(CURRENT)), 0o600);
    }

    #[test]
    fn neither_links_nor_folders_nor_second_names_are_opened() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("audit");
        let folder = Folder::make(&path).unwrap();
        fs::write(temporary.path().join("theirs"), "").unwrap();
        symlink(temporary.path().join("theirs"), path.join(CURRENT)).unwrap();
        assert!(folder.open(CURRENT, How::Append).is_err());
        assert!(folder.open_to_read(CURRENT).is_err());
        assert!(folder.stat(CURRENT).is_err());
        fs::remove_file(path.join(CURRENT)).unwrap();
        fs::hard_link(temporary.path().join("theirs"), path.join(CURRENT)).unwrap();
        assert!(folder.open(CURRENT, How::Append).is_err());
        fs::create_dir(path.join(HEAD)).unwrap();
        assert!(folder.open(HEAD, How::InPlace).is_err());

        symlink(&path, temporary.path().join("link")).unwrap();
        assert!(matches!(
            Folder::make(&temporary.path().join("link")),
            Err(LogError::NotAFolder(_))
        ));
    }
}
