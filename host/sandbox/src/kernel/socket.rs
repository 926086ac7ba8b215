//! Sockets, pipes and waiting for several of them.
#![allow(unsafe_code)]

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::checked;

/// Switches on the loopback device of this network namespace.
pub(crate) fn loopback_up() -> Result<()> {
    // SAFETY: takes no pointers.
    let fd = checked(
        unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }.into(),
    )?;
    // SAFETY: a fresh descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the structure lives through the call and is the one that this request reads.
    checked(
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into(),
    )?;
    Ok(())
}

/// Space for one descriptor as the kernel packs it.
const ENVELOPE: usize = 64;

/// Sends one byte, and with it an open file.
pub(crate) fn send_file(socket: BorrowedFd<'_>, byte: u8, file: BorrowedFd<'_>) -> Result<()> {
    let mut content = libc::iovec {
        iov_base: (&raw const byte).cast_mut().cast(),
        iov_len: 1,
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: the header points to buffers that live through the call; the macros stay
    // inside the envelope, which is larger than one descriptor needs.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header)
            .cast::<i32>()
            .write_unaligned(file.as_raw_fd());
        checked(libc::sendmsg(socket.as_raw_fd(), &raw const message, 0) as libc::c_long)?;
    }
    Ok(())
}

/// Sends one byte, and with it the three files that a helper starts with.
pub(crate) fn send_files(socket: BorrowedFd<'_>, files: [BorrowedFd<'_>; 3]) -> Result<()> {
    let byte = 0_u8;
    let mut content = libc::iovec {
        iov_base: (&raw const byte).cast_mut().cast(),
        iov_len: 1,
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: as in `send_file`, with room for three descriptors.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(12) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(12) as _;
        libc::CMSG_DATA(header)
            .cast::<[i32; 3]>()
            .write_unaligned(files.map(|file| file.as_raw_fd()));
        let flags = libc::MSG_NOSIGNAL;
        checked(libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) as libc::c_long)?;
    }
    Ok(())
}

/// The other end of `send_files`; `None` when the line is closed.
pub(crate) fn receive_files(socket: BorrowedFd<'_>) -> Result<Option<[OwnedFd; 3]>> {
    let mut byte = 0_u8;
    let mut content = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: as in `send_files`; descriptors that arrive are ours alone.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(12) as _;
        let flags = libc::MSG_CMSG_CLOEXEC;
        let count =
            checked(libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) as libc::c_long)?;
        if count == 0 {
            return Ok(None);
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let are_files = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS
            && (*header).cmsg_len as usize == libc::CMSG_LEN(12) as usize;
        if !are_files {
            return Err(Error::other("a message without its three files"));
        }
        let numbers = libc::CMSG_DATA(header).cast::<[i32; 3]>().read_unaligned();
        Ok(Some(numbers.map(|number| OwnedFd::from_raw_fd(number))))
    }
}

/// What came with a message: some bytes, and perhaps a file.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Option<OwnedFd>)> {
    let mut content = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: as in `send_file`; a descriptor that arrives is ours alone.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let count = checked(libc::recvmsg(
            socket.as_raw_fd(),
            &raw mut message,
            libc::MSG_CMSG_CLOEXEC,
        ) as libc::c_long)?;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let is_file = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS;
        let file = is_file.then(|| {
            let number = libc::CMSG_DATA(header).cast::<i32>().read_unaligned();
            OwnedFd::from_raw_fd(number)
        });
        Ok((count as usize, file))
    }
}

/// What to wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    Never,
    /// Something can be read.
    Readable(BorrowedFd<'a>),
    /// The other end went away, or will send nothing more.
    Closed(BorrowedFd<'a>),
}

/// Waits for one of several events; the answer says so for each, in order. No time means
/// for ever.
pub(crate) fn wait_for<const N: usize>(
    all: [Event<'_>; N],
    time: Option<Duration>,
) -> Result<[Option<Seen>; N]> {
    let mut asked = all.map(|event| {
        let (fd, events) = match event {
            // The kernel leaves out descriptors below zero.
            Event::Never => (-1, 0),
            Event::Readable(fd) => (fd.as_raw_fd(), libc::POLLIN),
            Event::Closed(fd) => (fd.as_raw_fd(), libc::POLLRDHUP),
        };
        libc::pollfd {
            fd,
            events,
            revents: 0,
        }
    });
    let time = time.map_or(-1, |time| {
        i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
    });
    // SAFETY: the array lives through the call and has the length that is told.
    let answer = unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, time) };
    if answer < 0 {
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok([None; N]);
    }
    Ok(asked.map(|one| match one.revents {
        0 => None,
        seen if seen & libc::POLLIN != 0 => Some(Seen::Readable),
        _ => Some(Seen::Closed),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Readable,
    Closed,
}
