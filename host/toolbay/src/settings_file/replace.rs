//! Replaces a file in one step, under a lock, without following links to where they should not
//! lead.
//!
//! All work is done relative to one open folder, so that whoever exchanges folders meanwhile
//! gains nothing.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Another writer needs moments. One that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);
/// How the name of a lock ends.
const LOCK: &str = "lock";

/// How a file is made that is not there yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) mode: u32,
}

/// Where a file that is a link may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a folder of ours, in the project that the link is in.
    InProject,
    /// In a folder of ours.
    Anywhere,
}

/// The folder of a file, open.
pub(super) struct Folder {
    folder: OwnedFd,
    name: OsString,
}

/// A file as it was read.
pub(super) struct Before {
    pub(super) text: String,
    stat: Stat,
}

/// Kept until it is dropped. The file of the lock goes with it: it would only be in the way of
/// people who look at what their project holds.
pub(super) struct Lock<'a> {
    folder: &'a Folder,
    file: OwnedFd,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // As long as it is ours, nobody else removes it. One that stays is merely not pretty.
        let name = self.folder.beside(LOCK);
        let _ = rustix::fs::unlinkat(&self.folder.folder, name, AtFlags::empty());
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl Folder {
    /// Opens the folder in which the file really lies; makes it if it is missing.
    pub(super) fn of(file: &Path, place: Place) -> anyhow::Result<Self> {
        let parent = file.parent().context("it lies in no folder")?;
        make_folder(parent)?;
        let real = match file.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ensure!(
                    std::fs::symlink_metadata(file).is_err(),
                    "it is a link to a file that is not there"
                );
                let name = file.file_name().context("it has no name")?;
                parent.canonicalize()?.join(name)
            }
            Err(error) => return Err(error.into()),
        };
        let (folder, name) = (real.parent(), real.file_name());
        let (Some(folder), Some(name)) = (folder, name) else {
            bail!("it lies in no folder");
        };
        let is_link = parent
            .parent()
            .map(Path::canonicalize)
            .transpose()?
            .is_none_or(|above| {
                let plain = parent.file_name().map(|name| above.join(name));
                plain.as_deref() != Some(folder) || Some(name) != file.file_name()
            });
        let opened = rustix::fs::open(
            folder,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        if is_link {
            let ours = rustix::process::geteuid().as_raw();
            ensure!(
                rustix::fs::fstat(&opened)?.st_uid == ours,
                "it is a link into {}, which belongs to somebody else",
                folder.display()
            );
            ensure!(
                place == Place::Anywhere || is_in_project(parent, folder)?,
                "it is a link into {}, which is outside of the project",
                folder.display()
            );
        }
        Ok(Self {
            folder: opened,
            name: name.to_owned(),
        })
    }

    /// Waits until no other writer is at it.
    pub(super) fn lock(&self) -> anyhow::Result<Lock<'_>> {
        let started = Instant::now();
        loop {
            if let Some(file) = self.try_lock().context("its lock")? {
                return Ok(Lock { folder: self, file });
            }
            ensure!(
                started.elapsed() < PATIENCE,
                "another program is writing it and does not end"
            );
            std::thread::sleep(PAUSE);
        }
    }

    fn try_lock(&self) -> rustix::io::Result<Option<OwnedFd>> {
        let name = self.beside(LOCK);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&self.folder, &name, flags | OFlags::NONBLOCK, mode)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error),
        }
        // The writer before us may have removed the file while we waited for it; a lock on a file
        // that has no name any more keeps nobody out.
        let ours = rustix::fs::fstat(&file)?;
        match rustix::fs::statat(&self.folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(named) if (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino) => {
                Ok(Some(file))
            }
            Ok(_) | Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file as it is, if there is one.
    pub(super) fn read(&self, most: u64) -> anyhow::Result<Option<Before>> {
        // Whatever is not a file must not make us wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(&self.folder, &self.name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&opened)?;
        ensure!(
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
            "it is no ordinary file"
        );
        let mut bytes = Vec::new();
        File::from(opened).take(most + 1).read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 <= most, "it is larger than {most} bytes");
        let text = String::from_utf8(bytes).context("it is not UTF-8")?;
        Ok(Some(Before { text, stat }))
    }

    /// Writes the file beside the old one, then puts it into the old one's place.
    pub(super) fn replace(
        &self,
        before: Option<&Before>,
        missing: Missing,
        text: &str,
    ) -> anyhow::Result<()> {
        let temporary = self.beside(&format!("{:016x}", random()?));
        let made = self.write(&temporary, before, missing, text);
        let moved = made.and_then(|()| {
            rustix::fs::renameat(&self.folder, &temporary, &self.folder, &self.name)?;
            Ok(())
        });
        if let Err(error) = moved {
            // It may not even be there; the first error is the one to tell.
            let _ = rustix::fs::unlinkat(&self.folder, &temporary, AtFlags::empty());
            return Err(error);
        }
        // The new name must outlive a power failure too.
        rustix::fs::fsync(&self.folder)?;
        Ok(())
    }

    fn write(
        &self,
        name: &OsStr,
        before: Option<&Before>,
        missing: Missing,
        text: &str,
    ) -> anyhow::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mode = match before {
            Some(Before { stat, .. }) => {
                let ours = rustix::fs::fstat(&made)?;
                if (ours.st_uid, ours.st_gid) != (stat.st_uid, stat.st_gid) {
                    let owner = rustix::process::Uid::from_raw(stat.st_uid);
                    let group = rustix::process::Gid::from_raw(stat.st_gid);
                    rustix::fs::fchown(&made, Some(owner), Some(group))
                        .context("it belongs to somebody else")?;
                }
                stat.st_mode & 0o777
            }
            None => missing.mode,
        };
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
        let mut file = File::from(made);
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(())
    }

    /// The name of a file that is ours alone, next to the one that matters.
    fn beside(&self, ending: &str) -> OsString {
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(".");
        name.push(ending);
        name
    }
}

/// Only the folder itself: where a project or a home would have to be made, something is wrong.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether a real folder is in the project whose settings folder this is.
fn is_in_project(settings: &Path, real: &Path) -> anyhow::Result<bool> {
    let project: PathBuf = settings
        .parent()
        .context("it lies in no project")?
        .canonicalize()?;
    Ok(real.starts_with(project))
}

fn random() -> anyhow::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(u64::from_le_bytes(bytes))
}
