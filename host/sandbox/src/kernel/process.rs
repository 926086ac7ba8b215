//! Processes: making them, what they may, how much they may use, how they end.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

/// Which side of a fork this is.
pub(crate) enum Side {
    Parent(libc::pid_t),
    Child,
}

/// Forks, with new namespaces for the child. Only for a program with one thread: the child
/// goes on with all that the parent has.
pub(crate) fn fork_into(namespaces: libc::c_int) -> Result<Side> {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: without a stack and without shared memory this is a fork; the callers have
    // one thread.
    let child =
        checked(unsafe { libc::syscall(libc::SYS_clone, flags as libc::c_ulong, 0, 0, 0, 0) })?;
    Ok(match child {
        0 => Side::Child,
        child => Side::Parent(child as libc::pid_t),
    })
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Signal(i32),
}

/// Takes one child that has ended, or any for -1. `None` if none has.
pub(crate) fn reap(child: libc::pid_t, wait: Wait) -> Result<Option<(libc::pid_t, End)>> {
    let mut status = 0;
    let flags = match wait {
        Wait::Block => 0,
        Wait::Look => libc::WNOHANG,
    } | libc::__WALL;
    loop {
        // SAFETY: `status` lives through the call.
        let answer = unsafe { libc::waitpid(child, &raw mut status, flags) };
        if answer == 0 {
            return Ok(None);
        }
        if answer > 0 {
            let end = if libc::WIFSIGNALED(status) {
                End::Signal(libc::WTERMSIG(status))
            } else {
                End::Exit(libc::WEXITSTATUS(status))
            };
            return Ok(Some((answer, end)));
        }
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Block,
    Look,
}

pub(crate) fn kill(process: libc::pid_t) {
    // SAFETY: takes no pointers. A process that is gone is what we want.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

pub(crate) fn handle_of(process: libc::pid_t) -> Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = checked(unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Reads memory of another process, as much as there is of it up to the buffer's length.
pub(crate) fn read_memory(process: i32, address: u64, buffer: &mut [u8]) -> Result<usize> {
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: buffer.len(),
    };
    // SAFETY: the local part is the buffer; the remote part is checked by the kernel.
    let count = checked(unsafe {
        libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0)
    } as libc::c_long)?;
    Ok(count as usize)
}

fn prctl(option: libc::c_int, value: libc::c_ulong) -> Result<()> {
    // SAFETY: only options that take a number are used here.
    checked(unsafe { libc::prctl(option, value, 0, 0, 0) }.into())?;
    Ok(())
}

pub(crate) fn die_with_parent() -> Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)
}

/// Orphans of our children become our children.
pub(crate) fn adopt_orphans() -> Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// Nobody of the same user may look into this process.
pub(crate) fn hide_memory() -> Result<()> {
    prctl(libc::PR_SET_DUMPABLE, 0)
}

pub(crate) fn forbid_new_privileges() -> Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

const NEWEST_CAPABILITY: libc::c_ulong = 63;
const CAPABILITY_VERSION: u32 = 0x2008_0522;
const SYS_PTRACE: u32 = 19;

/// No program that is started from here may gain a capability. Fails where this is not ours
/// to decide.
pub(crate) fn empty_bounding_set() -> Result<()> {
    for capability in 0..=NEWEST_CAPABILITY {
        if let Err(error) = prctl(libc::PR_CAPBSET_DROP, capability) {
            // One past the last that the kernel knows.
            if error.raw_os_error() == Some(libc::EINVAL) {
                break;
            }
            return Err(error);
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    /// To read what a caged process points to, even where it hides its memory.
    LookingIntoChildren,
}

pub(crate) fn drop_capabilities(keep: Keep) -> Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    let header = Header {
        version: CAPABILITY_VERSION,
        process: 0,
    };
    let mut data = [Data::default(); 2];
    // SAFETY: both structures live through the call and have the form of this version.
    checked(unsafe { libc::syscall(libc::SYS_capget, &raw const header, data.as_mut_ptr()) })?;
    let kept = match keep {
        Keep::Nothing => 0,
        Keep::LookingIntoChildren => data[0].permitted & (1 << SYS_PTRACE),
    };
    let data = [
        Data {
            effective: kept,
            permitted: kept,
            inheritable: 0,
        },
        Data::default(),
    ];
    // SAFETY: see above.
    checked(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) })?;
    // Ambient ones go with the inheritable ones; a kernel without them says so.
    let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    let _ = prctl(libc::PR_CAP_AMBIENT, clear);
    Ok(())
}

/// Sets both limits, or only lowers them where they are lower already.
pub(crate) fn limit(resource: libc::__rlimit_resource_t, most: u64) -> Result<()> {
    let mut old = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure lives through the call.
    checked(unsafe { libc::getrlimit(resource, &raw mut old) }.into())?;
    let most = most.min(old.rlim_max);
    let new = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: the structure lives through the call.
    checked(unsafe { libc::setrlimit(resource, &raw const new) }.into())?;
    Ok(())
}

/// The program becomes the first of a session of its own, which has no terminal.
pub(crate) fn start_without_terminal(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: `setsid` alone, which may be called between fork and exec.
    unsafe { command.pre_exec(become_session_leader) };
}

pub(crate) fn become_session_leader() -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::setsid() }.into())?;
    Ok(())
}

/// All signals as a fresh program expects them: none ignored, none blocked.
pub(crate) fn reset_signals() {
    // SAFETY: the set lives through the calls; the default action runs no code of ours.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// From here on ended children wake up whoever polls the returned descriptor.
pub(crate) fn children_end() -> Result<OwnedFd> {
    // SAFETY: the set lives through the calls.
    let fd = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    checked(fd.into())?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Throws away the signals that are waiting to be read.
pub(crate) fn drain(signals: BorrowedFd<'_>) {
    let mut buffer = [0_u8; 1024];
    // SAFETY: the buffer has the length that is told. The descriptor does not block.
    unsafe {
        libc::read(
            signals.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
        )
    };
}

/// From here on this process has mounts of its own, at first the same as before.
pub(crate) fn separate_mounts() -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    Ok(())
}

/// Closes every descriptor from this number on. Only where nobody owns one any more.
pub(crate) fn close_from_now(first: u32) -> Result<()> {
    // SAFETY: takes no pointers; the callers have let go of all that is closed.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })?;
    Ok(())
}

/// No descriptor from this number on reaches the next program.
pub(crate) fn close_from(first: u32) -> Result<()> {
    const CLOSE_ON_EXEC: libc::c_uint = 4;
    // SAFETY: takes no pointers; descriptors stay open until the next program starts.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_ON_EXEC) })?;
    Ok(())
}

/// Where a helper finds what its command shall read.
const INPUT: i32 = 3;
/// The first descriptor that is not for the helper or its command.
pub(crate) const FIRST_FOREIGN: u32 = 4;

/// Makes what the host sent for it the input of the next program.
pub(crate) fn read_from_host() -> Result<()> {
    // SAFETY: takes no pointers; nothing else in a command has these numbers.
    checked(unsafe { libc::dup2(INPUT, 0) }.into())?;
    Ok(())
}

/// Lets go of it, in a process that only passes it on.
pub(crate) fn forget_input() {
    // SAFETY: takes no pointers; a helper that was sent an input has nothing else there.
    unsafe { libc::close(INPUT) };
}

/// Takes over a descriptor that this program was started with. No later program inherits it.
pub(crate) fn take(number: i32) -> Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let own = checked(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) }.into())?;
    // SAFETY: takes no pointers; the number is the caller's to give up.
    unsafe { libc::close(number) };
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(own as i32) })
}

/// Makes a descriptor known under a fixed number that the next program inherits.
pub(crate) fn put_at(fd: BorrowedFd<'_>, number: i32) -> Result<()> {
    if fd.as_raw_fd() == number {
        // It is there already; only the mark that closes it must go.
        // SAFETY: takes no pointers.
        checked(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }.into())?;
        return Ok(());
    }
    // SAFETY: takes no pointers; the callers use the first four numbers, and own them.
    checked(unsafe { libc::dup2(fd.as_raw_fd(), number) }.into())?;
    Ok(())
}

/// Turns this process into another program. Only returns if that fails.
pub(crate) fn start_program(path: &CStr, arguments: &[CString], environment: &[CString]) -> Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        let texts = texts.iter().map(|text| text.as_ptr());
        texts.chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: the lists end with null, and they and their texts live through the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    Error::last_os_error()
}

/// Becomes an ordinary user for good, with the outputs in hand.
pub(crate) fn become_user((user, group): (u32, u32)) -> Result<()> {
    // SAFETY: only numbers are passed, and an empty list of groups.
    unsafe {
        // Who opens them again by name must own them; a pipe has no other owner to lose.
        for output in [1, 2] {
            checked(libc::fchown(output, user, group).into())?;
        }
        checked(libc::setgroups(0, std::ptr::null()).into())?;
        checked(libc::setresgid(group, group, group).into())?;
        checked(libc::setresuid(user, user, user).into())?;
    }
    // A process that changed its user is hidden from itself.
    prctl(libc::PR_SET_DUMPABLE, 1)
}

pub(crate) fn user_and_group() -> (u32, u32) {
    // SAFETY: these take nothing and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Returns the mask that was set before.
pub(crate) fn set_file_mask(mask: u32) -> u32 {
    // SAFETY: takes no pointers and cannot fail.
    unsafe { libc::umask(mask) }
}

pub(crate) fn change_folder(path: &CStr) -> Result<()> {
    // SAFETY: the path lives through the call.
    checked(unsafe { libc::chdir(path.as_ptr()) }.into())?;
    Ok(())
}

/// Ends this process at once.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: runs nothing of ours any more.
    unsafe { libc::_exit(code) }
}
