//! Seccomp: a program that looks at each system call, and calls that wait for an answer.
#![allow(unsafe_code)]

use std::io::Result;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

const SET_MODE_FILTER: libc::c_uint = 1;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
/// A call that the doorman has taken is only interrupted by a deadly signal, so that
/// nothing is made twice.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

// `_IOWR('!', 0, seccomp_notif)` and its neighbours, by the sizes of their structures.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const IS_VALID: libc::c_ulong = 0x4008_2102;
const ADD_FD: libc::c_ulong = 0x4018_2103;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;

/// Whoever waits and whoever answers take turns: waking the other one on the same processor saves more
/// than running on two.
const SYNC_WAKE_UP: u64 = 1;

const CONTINUE: u32 = 1;
const ADD_FD_AND_ANSWER: u32 = 2;

/// Installs a program for this thread and its children, and returns where the calls that
/// ask come in. Needs `no_new_privs`.
pub(crate) fn install(code: &mut [libc::sock_filter]) -> Result<OwnedFd> {
    match install_with(code, NEW_LISTENER | WAIT_KILLABLE) {
        // A kernel before 5.19 does not know how to wait; it asks again instead.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            install_with(code, NEW_LISTENER)
        }
        other => other,
    }
}

/// Installs a program that asks nobody, for this thread and its children. Needs `no_new_privs`.
pub(crate) fn enforce(code: &mut [libc::sock_filter]) -> Result<()> {
    load(code, 0).map(drop)
}

fn install_with(code: &mut [libc::sock_filter], flags: libc::c_ulong) -> Result<OwnedFd> {
    let fd = load(code, flags)?;
    // SAFETY: a fresh descriptor that nobody else owns.
    let listener = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    // A kernel before 6.6 does not know it, and is merely slower.
    // SAFETY: takes a number and no pointers.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
    Ok(listener)
}

fn load(code: &mut [libc::sock_filter], flags: libc::c_ulong) -> Result<libc::c_long> {
    let program = libc::sock_fprog {
        len: code.len() as u16,
        filter: code.as_mut_ptr(),
    };
    // SAFETY: the program lives through the call and has the length that is told.
    checked(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    })
}

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) id: u64,
    /// The thread that waits, as a number in our own process-id namespace.
    pub(crate) thread: i32,
    pub(crate) call: i64,
    pub(crate) arguments: [u64; 6],
}

/// What a waiting call gets.
pub(crate) enum Answer {
    /// The kernel goes on with the call as if nobody had asked. The process may have changed
    /// what its pointers point to: only safe where the kernel refuses what must not be.
    GoOn,
    Done,
    Fail(i32),
    /// The call returns this file, opened on its behalf.
    File {
        file: OwnedFd,
        close_on_exec: bool,
    },
    /// None yet: it goes on waiting.
    Later,
    /// It is given by another thread.
    Elsewhere,
}

/// The next call that waits.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Asked> {
    // SAFETY: all zeroes is valid, and what the kernel demands.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call and is the one that this request fills.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) }.into())?;
    Ok(Asked {
        id: asked.id,
        thread: asked.pid as i32,
        call: asked.data.nr.into(),
        arguments: asked.data.args,
    })
}

/// Whether the process still waits: then what was read from it was its own.
pub(crate) fn still_waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the number lives through the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID, &raw const id) == 0 }
}

/// Answers. A process that went away meanwhile is no error.
pub(crate) fn answer(listener: BorrowedFd<'_>, id: u64, answer: Answer) {
    let mut value = 0;
    let (error, flags) = match answer {
        Answer::GoOn => (0, CONTINUE),
        Answer::Done => (0, 0),
        Answer::Fail(number) => (-number, 0),
        Answer::Later | Answer::Elsewhere => return,
        Answer::File {
            file,
            close_on_exec,
        } => match give_file(listener, id, file, close_on_exec) {
            Ok(None) => return,
            Ok(Some(number)) => {
                value = number;
                (0, 0)
            }
            Err(error) => (-error.raw_os_error().unwrap_or(libc::EMFILE), 0),
        },
    };
    let response = libc::seccomp_notif_resp {
        id,
        val: value,
        error,
        flags,
    };
    // SAFETY: the structure lives through the call and is the one that this request reads.
    unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const response) };
}

/// Hands a file over. Its number is left to be answered where ours is to be closed before: what we
/// still have open for writing could not be started as a program.
fn give_file(
    listener: BorrowedFd<'_>,
    id: u64,
    file: OwnedFd,
    close_on_exec: bool,
) -> Result<Option<i64>> {
    // SAFETY: takes no pointers.
    let flags = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) }.into())?;
    if flags as i32 & libc::O_ACCMODE == libc::O_RDONLY {
        add_file(listener, id, &file, close_on_exec, ADD_FD_AND_ANSWER)?;
        return Ok(None);
    }
    let number = add_file(listener, id, &file, close_on_exec, 0)?;
    drop(file);
    Ok(Some(number))
}

/// Returns the number that the file has there.
fn add_file(
    listener: BorrowedFd<'_>,
    id: u64,
    file: &OwnedFd,
    close_on_exec: bool,
    flags: u32,
) -> Result<i64> {
    let request = libc::seccomp_notif_addfd {
        id,
        flags,
        srcfd: file.as_raw_fd() as u32,
        newfd: 0,
        newfd_flags: if close_on_exec {
            libc::O_CLOEXEC as u32
        } else {
            0
        },
    };
    // SAFETY: the structure lives through the call and is the one that this request reads.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), ADD_FD, &raw const request) }.into())
}
