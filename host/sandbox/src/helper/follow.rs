//! Follows a path as the process would that says it, to its very end.
//!
//! What the process files call its own (`/proc/self`, `/dev/stdin`) are those of the process, not
//! of the doorman; and of the doorman's own files nobody gets more than its name and numbers.

use std::ffi::{CStr, CString, OsStr};
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::resolve;
use crate::kernel::open;

/// As the kernel counts when it follows links.
const MOST_LINKS: usize = 40;
const PROCESSES: &str = "/proc";
/// What everybody may know of any process.
const PUBLIC: [&[u8]; 6] = [b"..", b"stat", b"statm", b"status", b"cmdline", b"comm"];
/// The memory of a process, as a file.
const MEMORY: &[u8] = b"mem";

/// What a path leads to, held, and where that lies.
pub(crate) struct Held {
    pub(crate) handle: OwnedFd,
    pub(crate) path: PathBuf,
}

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    Follow,
    Keep,
}

/// Takes hold of what a thread means by a path that starts from one of its folders.
pub(crate) fn held(thread: i32, folder: i32, path: &CStr, last: LastLink) -> Result<Held> {
    let start = match path.to_bytes().first() {
        None => return Err(error(libc::ENOENT)),
        Some(b'/') => None,
        Some(_) => Some(resolve::base(thread, folder).ok_or(error(libc::EBADF))?),
    };
    let base = start.as_ref().map(AsFd::as_fd);
    let flags = match last {
        LastLink::Follow => 0,
        LastLink::Keep => libc::O_NOFOLLOW,
    };
    if !is_special(path) {
        match open::place(base, path, flags) {
            Ok(handle) if !open::is_of_processes(handle.as_fd())? => return with_path(handle),
            Ok(_) => {}
            // A link that leads to each process somewhere else, or is there for one alone.
            Err(error) if number(&error) == libc::ELOOP => {}
            Err(error) if number(&error) == libc::ENOENT && is_link(base, path) => {}
            Err(error) => return Err(error),
        }
    }
    with_path(walk(thread, start, path.to_bytes(), last)?)
}

/// Folders with links that mean another thing to each process.
fn is_special(path: &CStr) -> bool {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    path.starts_with(PROCESSES) || path.starts_with("/dev")
}

fn is_link(base: Option<BorrowedFd<'_>>, path: &CStr) -> bool {
    let found = open::place(base, path, libc::O_NOFOLLOW);
    found.is_ok_and(|found| open::kind_of(found.as_fd()).is_ok_and(|kind| kind == libc::S_IFLNK))
}

fn with_path(handle: OwnedFd) -> Result<Held> {
    let path = open::path_of(handle.as_fd())?;
    Ok(Held { handle, path })
}

/// The same part by part, so that each link can be looked at before it is followed.
fn walk(thread: i32, start: Option<OwnedFd>, path: &[u8], last: LastLink) -> Result<OwnedFd> {
    let mut here = match start {
        Some(start) => start,
        None => root()?,
    };
    let wants_folder = path.ends_with(b"/");
    let mut rest = Vec::new();
    push(&mut rest, path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        let name = CString::new(part.as_slice()).map_err(|_| error(libc::EINVAL))?;
        let below = below_processes(here.as_fd())?;
        if let Some(below) = &below {
            check(thread, below, &part)?;
        }
        let next = open::at(
            Some(here.as_fd()),
            &name,
            libc::O_PATH | libc::O_NOFOLLOW,
            0,
        )?;
        if open::kind_of(next.as_fd())? != libc::S_IFLNK {
            here = next;
            continue;
        }
        if rest.is_empty() && last == LastLink::Keep && !wants_folder {
            return Ok(next);
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(error(libc::ELOOP));
        }
        let is_top = below
            .as_ref()
            .is_some_and(|below| below.as_os_str().is_empty());
        let target = match (&below, part.as_slice()) {
            (Some(_), b"self") if is_top => process_of(thread)?.to_string().into_bytes(),
            (Some(_), b"thread-self") if is_top => {
                format!("{}/task/{thread}", process_of(thread)?).into_bytes()
            }
            // The kernel leads straight to what the process has there.
            (Some(_), _) if !is_top => {
                here = open::at(Some(here.as_fd()), &name, libc::O_PATH, 0)?;
                continue;
            }
            (Some(_) | None, _) => open::link_target(here.as_fd(), &name)?,
        };
        if target.first() == Some(&b'/') {
            here = root()?;
        }
        push(&mut rest, &target);
    }
    if wants_folder && open::kind_of(here.as_fd())? != libc::S_IFDIR {
        return Err(error(libc::ENOTDIR));
    }
    Ok(here)
}

fn root() -> Result<OwnedFd> {
    open::plain(c"/", libc::O_PATH | libc::O_DIRECTORY)
}

/// The parts of a path, the first one on top.
fn push(rest: &mut Vec<Vec<u8>>, path: &[u8]) {
    let parts = path.split(|byte| *byte == b'/').rev();
    rest.extend(parts.filter(|part| !part.is_empty()).map(<[u8]>::to_vec));
}

/// Where a folder lies among the process files, if it does. Those of other mounts are closed: what
/// they call the doorman is not known here.
fn below_processes(here: BorrowedFd<'_>) -> Result<Option<PathBuf>> {
    if !open::is_of_processes(here)? {
        return Ok(None);
    }
    let path = open::path_of(here)?;
    match path.strip_prefix(PROCESSES) {
        Ok(below) => Ok(Some(below.to_owned())),
        Err(_) => Err(error(libc::EACCES)),
    }
}

/// The doorman may look into itself and into every process of the cage; who asks may not.
fn check(thread: i32, below: &Path, name: &[u8]) -> Result<()> {
    let mut parts = below.components();
    let Some(Component::Normal(owner)) = parts.next() else {
        return Ok(());
    };
    let is = |process: u32| owner.to_str() == Some(&process.to_string());
    let is_public = parts.next().is_none() && PUBLIC.contains(&name);
    let is_closed = is(std::process::id()) && !is_public;
    if is_closed || name == MEMORY && !is(process_of(thread)?) {
        return Err(error(libc::EACCES));
    }
    Ok(())
}

/// The process that a thread belongs to.
fn process_of(thread: i32) -> Result<u32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status"))?;
    let mut lines = status.lines().filter_map(|line| line.strip_prefix("Tgid:"));
    let process = lines.next().and_then(|number| number.trim().parse().ok());
    process.ok_or(error(libc::ESRCH))
}

fn error(number: i32) -> Error {
    Error::from_raw_os_error(number)
}

fn number(error: &Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
