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

/// Space for a few descriptors as the kernel packs them.
const ENVELOPE: usize = 64;

/// Sends one byte, and with it an open file.
pub(crate) fn send_file(socket: BorrowedFd<'_>, byte: u8, file: BorrowedFd<'_>) -> Result<()> {
    send(socket, byte, &[file])
}

/// How a helper is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// From a spare that has its namespaces already.
    Spare,
}

/// The files that a helper starts with: the line to the host, output, errors, and an input
/// if its command gets one.
const LEAST_FILES: usize = 3;
const MOST_FILES: usize = 4;

/// Sends what kind of helper is wanted, and with it the files that it starts with.
pub(crate) fn send_files(
    socket: BorrowedFd<'_>,
    kind: Kind,
    files: &[BorrowedFd<'_>],
) -> Result<()> {
    send(socket, kind as u8, files)
}

fn send(socket: BorrowedFd<'_>, byte: u8, files: &[BorrowedFd<'_>]) -> Result<()> {
    if files.is_empty() || files.len() > MOST_FILES {
        return Err(Error::other("so many files are not sent"));
    }
    let size = (files.len() * size_of::<i32>()) as u32;
    let mut content = libc::iovec {
        iov_base: (&raw const byte).cast_mut().cast(),
        iov_len: 1,
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: the header points to buffers that live through the call; the macros stay
    // inside the envelope, which is larger than so many descriptors need.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        let place = libc::CMSG_DATA(header).cast::<i32>();
        for (index, file) in files.iter().enumerate() {
            place.add(index).write_unaligned(file.as_raw_fd());
        }
        let flags = libc::MSG_NOSIGNAL;
        checked(libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) as libc::c_long)?;
    }
    Ok(())
}

/// The other end of `send_files`; `None` when the line is closed.
pub(crate) fn receive_files(socket: BorrowedFd<'_>) -> Result<Option<(Kind, Vec<OwnedFd>)>> {
    let mut byte = [0];
    let (count, files) = receive_message(socket, &mut byte)?;
    if count == 0 {
        return Ok(None);
    }
    if files.len() < LEAST_FILES {
        return Err(Error::other("a message without its files"));
    }
    let kind = if byte[0] == Kind::Spare as u8 {
        Kind::Spare
    } else {
        Kind::Plain
    };
    Ok(Some((kind, files)))
}

/// What came with a message: some bytes, and perhaps a file.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Option<OwnedFd>)> {
    let (count, files) = receive_message(socket, buffer)?;
    Ok((count, files.into_iter().next()))
}

fn receive_message(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, Vec<OwnedFd>)> {
    const MOST: u32 = (MOST_FILES * size_of::<i32>()) as u32;
    let mut content = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut envelope = [0_u64; ENVELOPE / 8];
    // SAFETY: as in `send`; the kernel says how many descriptors it put there, no more than
    // there is room for, and they are ours alone.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut content;
        message.msg_iovlen = 1;
        message.msg_control = envelope.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(MOST) as _;
        let flags = libc::MSG_CMSG_CLOEXEC;
        let count =
            checked(libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) as libc::c_long)?;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let are_files = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS;
        let mut files = Vec::new();
        if are_files {
            let bytes = ((*header).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
            let place = libc::CMSG_DATA(header).cast::<i32>();
            for index in 0..bytes / size_of::<i32>() {
                let number = place.add(index).read_unaligned();
                files.push(OwnedFd::from_raw_fd(number));
            }
        }
        Ok((count as usize, files))
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
    let mut asked = all.map(question);
    poll(&mut asked, time)?;
    Ok(asked.map(|one| match one.revents {
        0 => None,
        seen if seen & libc::POLLIN != 0 => Some(Seen::Readable),
        _ => Some(Seen::Closed),
    }))
}

/// The same for any number of them, and for ever.
pub(crate) fn wait_for_any(all: &[Event<'_>]) -> Result<Vec<bool>> {
    let mut asked: Vec<libc::pollfd> = all.iter().map(|event| question(*event)).collect();
    poll(&mut asked, None)?;
    Ok(asked.iter().map(|one| one.revents != 0).collect())
}

fn question(event: Event<'_>) -> libc::pollfd {
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
}

fn poll(asked: &mut [libc::pollfd], time: Option<Duration>) -> Result<()> {
    let time = time.map_or(-1, |time| {
        i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
    });
    // SAFETY: the list lives through the call and has the length that is told.
    let answer = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, time) };
    if answer < 0 {
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
        for one in asked {
            one.revents = 0;
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Readable,
    Closed,
}
