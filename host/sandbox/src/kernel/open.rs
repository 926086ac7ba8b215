//! Looking up names the way a caged process would, without being led astray.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsString};
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{c_text, checked};

/// A folder that is renamed between the question and the look has another path at the next try.
const LOOKS: usize = 3;
const RESOLVE_NO_MAGICLINKS: u64 = 0x02;
const RESOLVE_NO_SYMLINKS: u64 = 0x04;

/// A file that is a device, by the numbers of its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Characters((u32, u32)),
    Blocks,
}

#[repr(C)]
struct How {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// A handle that names a place and can do nothing else. Links are followed, except those of
/// the process files, which lead each reader somewhere else.
pub(crate) fn place(base: Option<BorrowedFd<'_>>, path: &CStr, flags: i32) -> Result<OwnedFd> {
    look_up(base, path, flags, RESOLVE_NO_MAGICLINKS)
}

/// The same for a real path: a link anywhere in it was not there when it was made real, and is
/// an error.
pub(crate) fn fixed(path: &CStr) -> Result<OwnedFd> {
    look_up(None, path, 0, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS)
}

fn look_up(base: Option<BorrowedFd<'_>>, path: &CStr, flags: i32, resolve: u64) -> Result<OwnedFd> {
    let how = How {
        flags: (flags | libc::O_PATH | libc::O_CLOEXEC) as u64,
        mode: 0,
        resolve,
    };
    let base = base.map_or(libc::AT_FDCWD, |fd| fd.as_raw_fd());
    // SAFETY: path and structure live through the call; the size is the structure's.
    let fd = checked(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            base,
            path.as_ptr(),
            &raw const how,
            std::mem::size_of::<How>(),
        )
    })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Opens a path of our own choosing as it is.
pub(crate) fn plain(path: &CStr, flags: i32) -> Result<OwnedFd> {
    at(None, path, flags, 0)
}

/// `openat`.
pub(crate) fn at(
    base: Option<BorrowedFd<'_>>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFd> {
    let base = base.map_or(libc::AT_FDCWD, |fd| fd.as_raw_fd());
    // SAFETY: the path lives through the call.
    let fd = checked(
        unsafe { libc::openat(base, path.as_ptr(), flags | libc::O_CLOEXEC, mode) }.into(),
    )?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Makes sure of what kind an open file is, and that it waits if `flags` say so.
pub(crate) fn settle(file: BorrowedFd<'_>, kind: u32, flags: i32) -> Result<()> {
    if kind_of(file)? != kind {
        return Err(std::io::Error::from_raw_os_error(libc::EACCES));
    }
    if flags & libc::O_NONBLOCK == 0 {
        // SAFETY: take no pointers.
        let now = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) }.into())?;
        let waits = now as i32 & !libc::O_NONBLOCK;
        // SAFETY: see above.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, waits) }.into())?;
    }
    Ok(())
}

/// Whether it is one of the files that show processes.
pub(crate) fn is_of_processes(file: BorrowedFd<'_>) -> Result<bool> {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call.
    checked(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) }.into())?;
    Ok(found.f_type == libc::PROC_SUPER_MAGIC)
}

/// What kind of thing is open: the file type bits of its mode.
pub(crate) fn kind_of(file: BorrowedFd<'_>) -> Result<u32> {
    Ok(status(file)?.st_mode & libc::S_IFMT)
}

/// The numbers of a device that is open; nothing where it is none.
pub(crate) fn device(file: BorrowedFd<'_>) -> Result<Option<Device>> {
    let found = status(file)?;
    let numbers = (libc::major(found.st_rdev), libc::minor(found.st_rdev));
    Ok(match found.st_mode & libc::S_IFMT {
        libc::S_IFCHR => Some(Device::Characters(numbers)),
        libc::S_IFBLK => Some(Device::Blocks),
        _ => None,
    })
}

/// What tells an open place from every other one: its device and its number there.
pub(crate) fn identity(file: BorrowedFd<'_>) -> Result<(u64, u64)> {
    let found = status(file)?;
    Ok((found.st_dev, found.st_ino))
}

fn status(file: BorrowedFd<'_>) -> Result<libc::stat> {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call.
    checked(unsafe { libc::fstat(file.as_raw_fd(), &raw mut found) }.into())?;
    Ok(found)
}

/// Whether it lies in the file system that is mounted at a path.
pub(crate) fn is_below_mount(file: BorrowedFd<'_>, at: &CStr) -> Result<bool> {
    let top = place(None, at, libc::O_DIRECTORY | libc::O_NOFOLLOW)?;
    Ok(status(top.as_fd())?.st_dev == status(file)?.st_dev)
}

/// What kind of thing a name is, without following it: the file type bits of its mode.
pub(crate) fn kind(folder: BorrowedFd<'_>, name: &CStr) -> Result<u32> {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: name and structure live through the call.
    checked(
        unsafe {
            libc::fstatat(
                folder.as_raw_fd(),
                name.as_ptr(),
                &raw mut found,
                libc::AT_SYMLINK_NOFOLLOW,
            )
        }
        .into(),
    )?;
    Ok(found.st_mode & libc::S_IFMT)
}

/// Where a link leads.
pub(crate) fn link_target(folder: BorrowedFd<'_>, name: &CStr) -> Result<Vec<u8>> {
    let mut buffer = vec![0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer has the length that is told.
    let length = checked(unsafe {
        libc::readlinkat(
            folder.as_raw_fd(),
            name.as_ptr(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
        )
    } as libc::c_long)?;
    buffer.truncate(length as usize);
    Ok(buffer)
}

/// The path by which the kernel knows an open place, as seen from our root.
pub(crate) fn path_of(fd: BorrowedFd<'_>) -> Result<PathBuf> {
    let name = c_text(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
    let mut buffer = vec![0_u8; libc::PATH_MAX as usize];
    // SAFETY: name lives through the call, the buffer has the length that is told.
    let length =
        checked(
            unsafe { libc::readlink(name.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) }
                as libc::c_long,
        )?;
    buffer.truncate(length as usize);
    Ok(PathBuf::from(OsString::from_vec(buffer)))
}

/// The same, where that path leads to the place. What another process has moved out of the mount that
/// it was opened in has a path that begins in the middle and means something else: an error.
pub(crate) fn known_path_of(fd: BorrowedFd<'_>) -> Result<PathBuf> {
    let wanted = identity(fd)?;
    for _ in 0..LOOKS {
        let path = path_of(fd)?;
        let found = fixed(&c_text(path.as_os_str())?);
        if found.and_then(|found| identity(found.as_fd())).ok() == Some(wanted) {
            return Ok(path);
        }
    }
    Err(Error::from_raw_os_error(libc::ESTALE))
}

pub(crate) fn make_folder(folder: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<()> {
    // SAFETY: the name lives through the call.
    checked(unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), mode) }.into())?;
    Ok(())
}

pub(crate) fn make_node(folder: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<()> {
    // SAFETY: the name lives through the call. No device is ever asked for: number 0.
    checked(unsafe { libc::mknodat(folder.as_raw_fd(), name.as_ptr(), mode, 0) }.into())?;
    Ok(())
}

pub(crate) fn make_link(target: &CStr, folder: BorrowedFd<'_>, name: &CStr) -> Result<()> {
    // SAFETY: both texts live through the call.
    checked(unsafe { libc::symlinkat(target.as_ptr(), folder.as_raw_fd(), name.as_ptr()) }.into())?;
    Ok(())
}

/// Changes the mode of what a handle names, which may be one that can do nothing else.
pub(crate) fn set_mode(handle: BorrowedFd<'_>, mode: u32) -> Result<()> {
    let path = c_text(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
    // SAFETY: the path lives through the call.
    checked(unsafe { libc::chmod(path.as_ptr(), mode) }.into())?;
    Ok(())
}

pub(crate) fn set_owner(handle: BorrowedFd<'_>, user: u32, group: u32) -> Result<()> {
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: a constant path.
    checked(
        unsafe { libc::fchownat(handle.as_raw_fd(), c"".as_ptr(), user, group, flags) }.into(),
    )?;
    Ok(())
}

/// Sets last access and last change, each in seconds and nanoseconds; nothing means now.
pub(crate) fn set_times(handle: BorrowedFd<'_>, times: Option<[(i64, i64); 2]>) -> Result<()> {
    let times = times.map(|both| {
        both.map(|(seconds, rest)| libc::timespec {
            tv_sec: seconds,
            tv_nsec: rest,
        })
    });
    let pointer = times
        .as_ref()
        .map_or(std::ptr::null(), |times| times.as_ptr());
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: a constant path; the times live through the call, or there are none.
    checked(unsafe { libc::utimensat(handle.as_raw_fd(), c"".as_ptr(), pointer, flags) }.into())?;
    Ok(())
}

/// Two names in their folders, for the calls that take two.
pub(crate) struct Pair<'a> {
    pub(crate) from: (BorrowedFd<'a>, &'a CStr),
    pub(crate) to: (BorrowedFd<'a>, &'a CStr),
}

pub(crate) fn rename(pair: &Pair<'_>, flags: u32) -> Result<()> {
    // SAFETY: both names live through the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            pair.from.0.as_raw_fd(),
            pair.from.1.as_ptr(),
            pair.to.0.as_raw_fd(),
            pair.to.1.as_ptr(),
            flags,
        )
    })?;
    Ok(())
}

pub(crate) fn second_name(pair: &Pair<'_>) -> Result<()> {
    // SAFETY: both names live through the call. Links are not followed.
    checked(
        unsafe {
            libc::linkat(
                pair.from.0.as_raw_fd(),
                pair.from.1.as_ptr(),
                pair.to.0.as_raw_fd(),
                pair.to.1.as_ptr(),
                0,
            )
        }
        .into(),
    )?;
    Ok(())
}

/// Removes a name; `flags` as for `unlinkat`.
pub(crate) fn remove(folder: BorrowedFd<'_>, name: &CStr, flags: i32) -> Result<()> {
    // SAFETY: the name lives through the call.
    checked(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), flags) }.into())?;
    Ok(())
}
