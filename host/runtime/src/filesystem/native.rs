//! What the `files` and `search` powers do with paths, behind the same fence.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use toolbay_contract::{HostFailure, visible_line};
use twox_hash::XxHash3_128;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, OpenFlags, PathFlags,
};

use super::change::{lexical, parent_of};
use super::descriptor::{Descriptor, OpenFolder};
use super::fence::{Fence, Wish};
use super::links::past_links;
use super::open::{open_at, preopen};
use super::stat::real_path;

/// Most bytes of a file that is looked at as a whole: a second of reading, and more than any file
/// that is edited by hand. Larger ones have no digest, and so cannot be edited.
const MOST_SURVEYED: u64 = 1 << 30;

/// A path inside a granted folder.
pub(crate) struct Located {
    folder: OpenFolder,
    /// Below the folder; `.` for the folder itself.
    below: String,
    /// As it was asked for.
    asked: PathBuf,
}

/// What one look at all of a file tells.
pub(crate) struct Survey {
    /// Names the content.
    pub(crate) digest: String,
    pub(crate) bytes: u64,
    /// Line feeds, and one more if the last byte is none.
    pub(crate) lines: u64,
}

/// Why a replacement did not happen. Nothing was changed.
#[derive(Debug)]
pub(crate) enum ReplaceFailure {
    Unexpected(String),
    Refused(String),
    Failed(String),
}

impl From<io::Error> for ReplaceFailure {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Located {
    /// Finds the granted folder that holds an absolute path, by its name alone.
    fn below_home(fence: &Fence, path: &Path) -> Result<Self, String> {
        let path = lexical(path);
        let Some(home) = fence.home_of(&path) else {
            fence.report(&path, "open", "it lies outside what was granted".into());
            return Err(format!(
                "{} lies outside the folders that this call may use",
                named(&path)
            ));
        };
        let below = path
            .strip_prefix(&home)
            .ok()
            .and_then(Path::to_str)
            .ok_or_else(|| format!("{} is not valid UTF-8", named(&path)))?;
        let folder = preopen(&home).map_err(|error| format!("{}: {error}", named(&home)))?;
        let below = if below.is_empty() { "." } else { below };
        Ok(Self {
            folder,
            below: below.to_owned(),
            asked: path,
        })
    }

    /// Finds the granted folder that holds an absolute path, past links that lead
    /// from one to another.
    pub(crate) fn find(fence: &Fence, path: &Path) -> Result<Self, String> {
        let Self {
            folder,
            below,
            asked,
        } = Self::below_home(fence, path)?;
        fence
            .check_names(&asked, Wish::Read, "open")
            .map_err(|code| describe(&asked, code.into()))?;
        // Whatever is wrong with the path is told by whoever uses it.
        let there = past_links(fence, &folder, &below, |folder, below| {
            match folder.dir.metadata(below) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error.into()),
                Ok(_) | Err(_) => Ok((folder.clone(), below.to_owned())),
            }
        });
        let (folder, below) = there.unwrap_or((folder, below));
        Ok(Self {
            folder,
            below,
            asked,
        })
    }

    /// The real path, and the granted folder above it, both checked for reading.
    pub(crate) fn real(&self, fence: &Fence) -> Result<(PathBuf, PathBuf), String> {
        let shown = self.folder.path.join(&self.below);
        let real =
            real_path(&self.folder, &self.below, true).map_err(|error| describe(&shown, error))?;
        fence
            .check(&real, Wish::Read, "search")
            .map_err(|code| describe(&shown, code.into()))?;
        Ok((real, self.folder.path.clone()))
    }

    /// Replaces the whole file in one step. `expected` is checked at the last
    /// moment before the step.
    pub(crate) fn replace(
        &self,
        fence: &Fence,
        content: &[u8],
        seed: u64,
        stopped: &dyn Fn() -> bool,
        expected: impl Fn(Option<&str>) -> Result<(), String>,
    ) -> Result<String, ReplaceFailure> {
        fence
            .check_names(&self.asked, Wish::Write, "replace")
            .map_err(|code| ReplaceFailure::Refused(describe(&self.asked, code.into())))?;
        make_parents(fence, &self.folder, Path::new(&self.below))?;
        let (folder, name) = self.target()?;
        let path = folder.path.join(&name);
        fence
            .check(&path, Wish::Write, "replace")
            .map_err(|code| ReplaceFailure::Refused(describe(&path, code.into())))?;

        let old = match folder.dir.symlink_metadata(&name) {
            Ok(metadata) if metadata.is_file() => Some(metadata),
            Ok(_) => {
                return Err(ReplaceFailure::Unexpected(format!(
                    "{} is not a regular file",
                    named(&path)
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let temporary = Temporary::create(&folder.dir, &name, old.is_some(), content)?;
        if let Some(old) = &old {
            temporary.take_over(old)?;
        }
        let current = match old {
            Some(_) => {
                let file = folder.dir.open(&name)?.into_std();
                Some(survey_of(file, seed, stopped)?.digest)
            }
            None => None,
        };
        expected(current.as_deref()).map_err(ReplaceFailure::Unexpected)?;
        if stopped() {
            return Err(interrupted().into());
        }
        match old {
            Some(_) => temporary.become_file(&name)?,
            None => temporary.become_new_file(&name)?,
        }
        Ok(format_digest(content.len() as u64, hash(content, seed)))
    }

    /// The folder and name to write: those of a link's target, if it is one.
    fn target(&self) -> Result<(OpenFolder, std::ffi::OsString), ReplaceFailure> {
        let shown = self.folder.path.join(&self.below);
        let fail = |error| ReplaceFailure::Failed(describe(&shown, error));
        let (parent, name) = parent_of(&self.folder, &self.below).map_err(fail)?;
        let is_link = parent
            .dir
            .symlink_metadata(&name)
            .is_ok_and(|metadata| metadata.is_symlink());
        if !is_link {
            return Ok((parent, name));
        }
        let real = self.folder.dir.canonicalize(&self.below)?;
        let real = real
            .to_str()
            .ok_or_else(|| ReplaceFailure::Failed(format!("{}: not UTF-8", named(&shown))))?;
        parent_of(&self.folder, real).map_err(fail)
    }
}

fn make_parents(fence: &Fence, folder: &OpenFolder, below: &Path) -> Result<(), ReplaceFailure> {
    let Some(parent) = below.parent() else {
        return Ok(());
    };
    let mut at = PathBuf::new();
    for part in parent.components() {
        at.push(part);
        let Some(text) = at.to_str() else { continue };
        if folder.dir.metadata(text).is_ok() {
            continue;
        }
        super::change::create_directory(fence, folder, text).map_err(|error| {
            let shown = folder.path.join(&at);
            match error.downcast_ref() {
                Some(ErrorCode::Access | ErrorCode::ReadOnly | ErrorCode::NotPermitted) => {
                    ReplaceFailure::Refused(describe(&shown, error))
                }
                _ => ReplaceFailure::Failed(describe(&shown, error)),
            }
        })?;
    }
    Ok(())
}

/// A file beside its future place. Removed unless it got there.
struct Temporary<'a> {
    dir: &'a Dir,
    name: String,
    file: File,
    done: bool,
}

impl<'a> Temporary<'a> {
    fn create(
        dir: &'a Dir,
        beside: &std::ffi::OsStr,
        private: bool,
        content: &[u8],
    ) -> io::Result<Self> {
        let mut random = [0u8; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let stem: String = beside.to_string_lossy().chars().take(100).collect();
        let name = format!(".{stem}.toolbay-{:016x}", u64::from_le_bytes(random));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // What replaces a file may be as secret as the file: nobody else reads it
        // before it has the old mode.
        options.mode(if private { 0o600 } else { 0o666 });
        let file = dir.open_with(&name, &options)?.into_std();
        let mut temporary = Self {
            dir,
            name,
            file,
            done: false,
        };
        temporary.file.write_all(content)?;
        temporary.file.sync_all()?;
        Ok(temporary)
    }

    /// Takes mode and owner from the file to replace.
    fn take_over(&self, old: &cap_std::fs::Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        let (uid, gid) = (old.uid(), old.gid());
        let own = cap_std::fs::Metadata::from_just_metadata(own);
        if (uid, gid) != (own.uid(), own.gid()) {
            // Only root may give files away; for everybody else the file becomes
            // theirs, as with any editor that saves this way.
            let _ = std::os::unix::fs::fchown(&self.file, Some(uid), Some(gid));
        }
        let mode = old.permissions().mode() & 0o7777;
        self.file
            .set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
    }

    fn become_file(mut self, name: &std::ffi::OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.done = true;
        Ok(())
    }

    /// The same where nothing was a moment ago: who came first keeps the name.
    fn become_new_file(mut self, name: &std::ffi::OsStr) -> Result<(), ReplaceFailure> {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(self.dir, &self.name, self.dir, name, flags) {
            Ok(()) => {
                self.done = true;
                Ok(())
            }
            Err(Errno::EXIST) => Err(ReplaceFailure::Unexpected(
                "somebody else has just created it".into(),
            )),
            // Not every file system can do this; the check before has to do there.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(self.become_file(name)?),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.done {
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the call was ended")
}

/// A file whose content is to be looked at.
pub(crate) struct Sight {
    file: Arc<File>,
    shown: PathBuf,
    /// How long it was when it was opened.
    pub(crate) bytes: u64,
}

impl Sight {
    pub(crate) fn open(fence: &Fence, path: &Path) -> Result<Self, HostFailure> {
        let Located { folder, below, .. } =
            Located::below_home(fence, path).map_err(HostFailure::Denied)?;
        let shown = folder.path.join(&below);
        let opened = open_at(
            fence,
            &folder,
            &below,
            PathFlags::SYMLINK_FOLLOW,
            OpenFlags::empty(),
            DescriptorFlags::READ,
        );
        match opened {
            Ok(Descriptor::File(open)) => Ok(Self {
                file: open.file,
                shown,
                bytes: open.length,
            }),
            Ok(Descriptor::Folder(_)) => Err(HostFailure::Failed(format!(
                "{} is a folder",
                named(&shown)
            ))),
            Err(error) => Err(HostFailure::Failed(describe(&shown, error))),
        }
    }

    /// Looks at the whole content. `stopped` is asked often.
    pub(crate) fn survey(
        &self,
        seed: u64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Survey, HostFailure> {
        // The size is looked at first: a sparse file may be longer than a disk.
        if self.bytes > MOST_SURVEYED {
            return Err(HostFailure::TooLarge(self.bytes));
        }
        survey_of(&*self.file, seed, stopped).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => HostFailure::TooLarge(MOST_SURVEYED.saturating_add(1)),
            _ => HostFailure::Failed(format!("{}: {error}", named(&self.shown))),
        })
    }
}

fn survey_of(mut file: impl Read, seed: u64, stopped: &dyn Fn() -> bool) -> io::Result<Survey> {
    let mut hasher = XxHash3_128::with_seed(seed);
    // Larger ones are mapped anew each time, and leave the processor's cache.
    let mut buffer = vec![0; 64 * 1024];
    let (mut bytes, mut lines, mut last) = (0, 0, b'\n');
    loop {
        if stopped() {
            return Err(interrupted());
        }
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(Survey {
                digest: format_digest(bytes, hasher.finish_128()),
                bytes,
                lines: lines + u64::from(last != b'\n'),
            });
        }
        if bytes + read as u64 > MOST_SURVEYED {
            // Somebody writes it as fast as it is read, or it was longer than it said.
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let part = &buffer[..read];
        hasher.write(part);
        lines += memchr::memchr_iter(b'\n', part).count() as u64;
        last = part[read - 1];
        bytes += read as u64;
    }
}

fn hash(content: &[u8], seed: u64) -> u128 {
    XxHash3_128::oneshot_with_seed(seed, content)
}

fn format_digest(length: u64, hash: u128) -> String {
    format!("{length}-{hash:032x}")
}

/// A path in a sentence, on its line.
fn named(path: &Path) -> String {
    visible_line(&path.to_string_lossy())
}

/// What went wrong, in words for a model.
fn describe(path: &Path, error: wasmtime_wasi::p2::FsError) -> String {
    let path = named(path);
    match error.downcast() {
        Ok(ErrorCode::NoEntry) => format!("{path} does not exist"),
        Ok(ErrorCode::Access) => format!("{path}: access was not granted"),
        Ok(ErrorCode::ReadOnly) => format!("{path}: this call may only read"),
        Ok(ErrorCode::NotPermitted) => format!("{path}: it leads out of the granted folders"),
        Ok(ErrorCode::IsDirectory) => format!("{path} is a folder"),
        Ok(ErrorCode::NotDirectory) => format!("{path}: a part of the path is not a folder"),
        Ok(ErrorCode::Unsupported) => format!("{path} is not a regular file"),
        Ok(code) => format!("{path}: {code}"),
        Err(trap) => format!("{path}: {trap}"),
    }
}
