//! The system calls behind the probes: the crate's only `unsafe`.
//!
//! Each function is a thin skin over one call and judges nothing.
#![allow(unsafe_code)]

use std::io::{Error, Result};

/// Flag of `landlock_create_ruleset` that asks for the version instead of a ruleset.
const LANDLOCK_CREATE_RULESET_VERSION: libc::c_uint = 1;

/// The newest Landlock ABI that the kernel speaks.
pub(crate) fn landlock_abi() -> Result<i64> {
    // SAFETY: with the version flag the kernel wants no attributes: null and 0.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    if answer < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// Asks for the seccomp mode of this process; fails where the kernel has no seccomp.
pub(crate) fn seccomp_mode() -> Result<i32> {
    // SAFETY: takes no pointers. A process in strict mode would be killed by it, but
    // such a process could not have come this far.
    let answer = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) };
    if answer < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// Tries, in a child that ends at once, to enter new user, mount and network
/// namespaces: together, since a kernel may grant the first and then no rights in it.
pub(crate) fn try_namespaces() -> Result<()> {
    // SAFETY: between `fork` and `_exit` the child only makes calls that are safe after
    // a fork of a program with threads: no allocation, no locks.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(Error::last_os_error());
    }
    if child == 0 {
        // SAFETY: see above; `__errno_location` is the child's own thread's.
        unsafe {
            let wanted = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWNET;
            let code = match libc::unshare(wanted) {
                0 => 0,
                _ => *libc::__errno_location(),
            };
            libc::_exit(code);
        }
    }
    match wait_for(child)? {
        0 => Ok(()),
        code => Err(Error::from_raw_os_error(code)),
    }
}

/// The exit code of a child of ours.
fn wait_for(child: libc::pid_t) -> Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: `status` lives through the call.
        let answer = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if answer == child {
            break;
        }
        let error = Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFEXITED(status) {
        Ok(libc::WEXITSTATUS(status))
    } else {
        Err(Error::other("the child was killed"))
    }
}
