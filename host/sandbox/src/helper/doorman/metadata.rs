//! Modes, owners and times.
//!
//! Landlock does not look at them, and a mount covers neither a link nor what took a covered
//! file's place. So nothing here may go on by itself: a change is made through a handle that was
//! judged, or it fails.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Caller, Doorman, Step, done, failed};
use crate::cage::guard::Act;
use crate::cage::plan::Walls;
use crate::helper::resolve;
use crate::kernel::seccomp::Answer;
use crate::kernel::{c_text, open, process};

const HERE: u64 = libc::AT_FDCWD as u32 as u64;
const FCHMODAT2: i64 = 452;

enum Target {
    Path {
        folder: u64,
        path: u64,
        follow: bool,
    },
    Open(u64),
}

enum Change {
    Mode(u32),
    Owner(u32, u32),
    /// What the process points to, and how it is written there; null means now.
    Times(u64, Clock),
}

/// How many bytes a pair of times takes, and what its second halves count.
#[derive(Clone, Copy)]
enum Clock {
    Nanoseconds,
    Microseconds,
    Seconds,
}

impl Doorman<'_> {
    /// Answers one of the calls of this file, or `None` for any other.
    pub(super) fn metadata(&mut self, caller: &Caller<'_>) -> Option<Step<Answer>> {
        let [a, b, c, d, e, _] = caller.asked.arguments;
        let at = |folder, path, flags: u64| match path {
            0 => Target::Open(folder),
            _ => Target::Path {
                folder,
                path,
                follow: flags & libc::AT_SYMLINK_NOFOLLOW as u64 == 0,
            },
        };
        let owner = |user: u64, group: u64| Change::Owner(user as u32, group as u32);
        let (target, change) = match caller.asked.call {
            libc::SYS_fchmod => (Target::Open(a), Change::Mode(b as u32)),
            libc::SYS_fchmodat => (at(a, b, 0), Change::Mode(c as u32)),
            FCHMODAT2 => (at(a, b, d), Change::Mode(c as u32)),
            libc::SYS_fchown => (Target::Open(a), owner(b, c)),
            libc::SYS_fchownat => (at(a, b, e), owner(c, d)),
            libc::SYS_utimensat => (at(a, b, d), Change::Times(c, Clock::Nanoseconds)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => (at(HERE, a, 0), Change::Mode(b as u32)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chown => (at(HERE, a, 0), owner(b, c)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_lchown => (at(HERE, a, libc::AT_SYMLINK_NOFOLLOW as u64), owner(b, c)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utime => (at(HERE, a, 0), Change::Times(b, Clock::Seconds)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utimes => (at(HERE, a, 0), Change::Times(b, Clock::Microseconds)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_futimesat => (at(a, b, 0), Change::Times(c, Clock::Microseconds)),
            _ => return None,
        };
        Some(self.change(caller, &target, &change))
    }

    fn change(&mut self, caller: &Caller<'_>, target: &Target, change: &Change) -> Step<Answer> {
        let thread = caller.asked.thread;
        let handle = match target {
            Target::Open(number) => open_file(thread, *number)?,
            Target::Path {
                folder,
                path,
                follow,
            } => {
                let path = resolve::text(thread, *path).ok_or(Answer::Fail(libc::EFAULT))?;
                if path.is_empty() {
                    open_file(thread, *folder)?
                } else {
                    let base = match path.as_bytes().first() {
                        Some(b'/') => None,
                        _ => Some(
                            resolve::base(thread, *folder as i32)
                                .ok_or(Answer::Fail(libc::EBADF))?,
                        ),
                    };
                    let flags = if *follow { 0 } else { libc::O_NOFOLLOW };
                    open::place(base.as_ref().map(AsFd::as_fd), &path, flags)
                        .map_err(|error| failed(&error))?
                }
            }
        };
        let (handle, path) = self.judged(handle)?;
        if self.guard.zone(&path).is_some() {
            self.check_path(Act::Write, &path)?;
        } else {
            self.check_elsewhere(handle.as_fd(), &path)?;
        }
        let times = match change {
            Change::Times(address, clock) => times(thread, *address, *clock)?,
            Change::Mode(_) | Change::Owner(..) => None,
        };
        caller.still_waits()?;
        done(match change {
            Change::Mode(mode) => open::set_mode(handle.as_fd(), mode & 0o1777),
            Change::Owner(user, group) => open::set_owner(handle.as_fd(), *user, *group),
            Change::Times(..) => open::set_times(handle.as_fd(), times),
        })
    }
}

impl Doorman<'_> {
    /// Outside the zones only what has no place among the files is for a command to change: its
    /// pipes, its terminals, its nameless memory.
    fn check_elsewhere(&self, handle: BorrowedFd<'_>, path: &Path) -> Step<()> {
        let kind = open::kind_of(handle).map_err(|error| failed(&error))?;
        let is_file = matches!(kind, libc::S_IFREG | libc::S_IFDIR | libc::S_IFLNK);
        let is_memory = path.as_os_str().as_bytes().starts_with(b"/memfd:");
        match self.walls {
            Walls::Kernel => Err(Answer::Fail(libc::EACCES)),
            Walls::Namespaces | Walls::Bubblewrap if is_file && !is_memory => {
                Err(Answer::Fail(libc::EROFS))
            }
            Walls::Namespaces | Walls::Bubblewrap => Ok(()),
        }
    }
}

fn open_file(thread: i32, number: u64) -> Step<OwnedFd> {
    let link = match number as i32 {
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        number => format!("/proc/{thread}/fd/{number}"),
    };
    c_text(link)
        .and_then(|link| open::plain(&link, libc::O_PATH))
        .map_err(|_| Answer::Fail(libc::EBADF))
}

/// Last access and last change, as seconds and nanoseconds.
fn times(thread: i32, address: u64, clock: Clock) -> Step<Option<[(i64, i64); 2]>> {
    if address == 0 {
        return Ok(None);
    }
    let mut bytes = [0; 32];
    let length = match clock {
        Clock::Nanoseconds | Clock::Microseconds => 32,
        Clock::Seconds => 16,
    };
    let count = process::read_memory(thread, address, &mut bytes[..length]);
    if count.ok() != Some(length) {
        return Err(Answer::Fail(libc::EFAULT));
    }
    let mut numbers = [0; 4];
    for (number, piece) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = piece.try_into().map_or(0, i64::from_ne_bytes);
    }
    let [a, b, c, d] = numbers;
    Ok(Some(match clock {
        Clock::Nanoseconds => [(a, b), (c, d)],
        Clock::Microseconds => [(a, b.saturating_mul(1000)), (c, d.saturating_mul(1000))],
        Clock::Seconds => [(a, 0), (b, 0)],
    }))
}
