//! Files that are kept in memory alone (`memfd_create`), and who has them open.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

pub(crate) fn file(name: &CStr, flags: u32) -> Result<OwnedFd> {
    // SAFETY: the name lives through the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags | libc::MFD_CLOEXEC) };
    checked(fd.into())?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether anybody beside this handle, which must be for reading alone, has the file open: by a
/// number, a mapping, or a message that waits in a socket. What the kernel does not say counts
/// as open. The signal of a broken lease must be ignored.
pub(crate) fn is_open_elsewhere(handle: BorrowedFd<'_>) -> bool {
    let lease = |kind: i32| {
        // SAFETY: takes no pointers.
        unsafe { libc::fcntl(handle.as_raw_fd(), libc::F_SETLEASE, kind) }
    };
    // The kernel gives it only to the one who alone has the file open.
    if lease(libc::F_WRLCK) != 0 {
        return true;
    }
    lease(libc::F_UNLCK);
    false
}

/// Leases that are broken say so by this signal, which would end the process.
pub(crate) fn ignore_broken_leases() {
    // SAFETY: no code of ours runs at a signal that is ignored.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
}

/// How many files this process may have open, as far as it may say so itself.
pub(crate) fn raise_open_files(most: u64) -> Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure lives through both calls.
    unsafe {
        checked(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit).into())?;
        limit.rlim_cur = limit.rlim_cur.max(most.min(limit.rlim_max));
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) != 0 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}
