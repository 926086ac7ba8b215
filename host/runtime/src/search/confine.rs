//! Opens files so that no name and no link leads out of the granted folder.
//!
//! The walk works with paths, and between its look at a name and the opening of
//! the file somebody may put a link there. So every file is opened anew below a
//! folder that is held open, and the kernel refuses every link on the way. Only
//! regular files are handed out: a pipe or a device could block for ever.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::error::shown;
use super::{Request, SearchError};

/// The folder that files are opened below.
pub(super) struct Anchor {
    folder: OwnedFd,
    path: PathBuf,
    way: Way,
}

/// How the kernel is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// One call that refuses links and leaving by itself.
    #[cfg(target_os = "linux")]
    Whole,
    /// One call for each part of the path, none of which follows a link; for
    /// kernels before 5.6, sandboxes that forbid the call above, and macOS.
    Stepwise,
}

impl Anchor {
    /// Holds the root of the request (its folder, when it is a file) open,
    /// having reached it from the granted base without a link.
    pub(super) fn open(request: &Request) -> Result<Self, SearchError> {
        #[cfg(target_os = "linux")]
        match Self::open_with(request, Way::Whole) {
            Err(SearchError::Io { source, .. }) if is_missing_call(&source) => {}
            result => return result,
        }
        Self::open_with(request, Way::Stepwise)
    }

    pub(super) fn open_with(request: &Request, way: Way) -> Result<Self, SearchError> {
        let (root, base) = (&request.root, &request.base);
        let below = root
            .strip_prefix(base)
            .map_err(|_| SearchError::Outside(shown(root)))?;
        let explain = |error: Errno| match error {
            Errno::NOENT | Errno::NOTDIR => SearchError::NotFound(shown(root)),
            Errno::XDEV | Errno::LOOP => SearchError::Outside(shown(root)),
            other => SearchError::Io {
                path: shown(root),
                source: other.into(),
            },
        };
        let kind = std::fs::symlink_metadata(root)
            .map_err(|error| explain(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?
            .file_type();
        // The caller resolved links; one that is here now was put here since.
        if kind.is_symlink() {
            return Err(SearchError::Outside(shown(root)));
        }
        // A granted single file is opened from its folder; the grant names the
        // one file, and the walk finds no other.
        let (start, below, path) = if kind.is_dir() {
            (base.as_path(), below, root.as_path())
        } else {
            let path = root.parent().unwrap_or(root);
            match below.parent() {
                Some(below) => (base.as_path(), below, path),
                None => (path, Path::new(""), path),
            }
        };
        let start = rustix::fs::open(start, folder_flags(), Mode::empty()).map_err(explain)?;
        let folder = if below.as_os_str().is_empty() {
            start
        } else {
            open_below(start.as_fd(), below, folder_flags(), way).map_err(explain)?
        };
        // Shows at once whether the kernel knows the call.
        open_below(folder.as_fd(), Path::new("."), folder_flags(), way).map_err(explain)?;
        Ok(Self {
            folder,
            path: path.to_owned(),
            way,
        })
    }

    /// Opens a regular file below the anchor; anything else is no answer.
    pub(super) fn file(&self, path: &Path) -> Option<File> {
        let below = path.strip_prefix(&self.path).ok()?;
        let file = open_below(self.folder.as_fd(), below, file_flags(), self.way).ok()?;
        Some(File::from(file))
    }
}

/// Never waits for the other end of a pipe, never makes a terminal ours.
fn file_flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY
}

fn folder_flags() -> OFlags {
    #[cfg(target_os = "linux")]
    let kind = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let kind = OFlags::RDONLY;
    kind | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn open_below(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    way: Way,
) -> Result<OwnedFd, Errno> {
    match way {
        #[cfg(target_os = "linux")]
        Way::Whole => open_whole(folder, path, flags),
        Way::Stepwise => open_stepwise(folder, path, flags),
    }
}

#[cfg(target_os = "linux")]
fn open_whole(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // The kernel gives up when names move under its feet; a few tries outlast
    // honest renames, and no attacker gains more than a file left out.
    for _ in 0..4 {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => {}
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

fn open_stepwise(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::XDEV);
            }
        }
    }
    let Some(last) = names.pop() else {
        return rustix::fs::openat(folder, ".", flags, Mode::empty());
    };
    let mut held: Option<OwnedFd> = None;
    for name in names {
        let above = held.as_ref().map_or(folder, |held| held.as_fd());
        held = Some(rustix::fs::openat(
            above,
            name,
            folder_flags(),
            Mode::empty(),
        )?);
    }
    let above = held.as_ref().map_or(folder, |held| held.as_fd());
    rustix::fs::openat(above, last, flags, Mode::empty())
}

/// Old kernels do not know the call; sandboxes refuse it in two ways.
#[cfg(target_os = "linux")]
fn is_missing_call(error: &std::io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOSYS | Errno::PERM | Errno::INVAL)
    )
}
