//! Mounts, by the calls that work on descriptors: what is looked up once stays the same.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io::Result;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

use super::{c_text, checked};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
const NO_PROGRAMS: u64 = libc::MOUNT_ATTR_NOEXEC;

/// What a copied mount may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    /// Reading alone: no program in it can be started, no library loaded.
    Data,
    Write,
    /// A device file: reading and writing it is writing to the device.
    Device,
}

/// No mount of ours may show outside, none from outside inside.
pub(crate) fn make_all_private() -> Result<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    mount(None, c"/", None, flags, None)
}

/// A copy of what is mounted at a path and below, attached nowhere yet. Links are not
/// followed: the path must be the real one.
pub(crate) fn copy(path: &Path) -> Result<OwnedFd> {
    let flags = (libc::AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW) as u32;
    open_tree(libc::AT_FDCWD, &c_text(path)?, flags)
}

/// The same of a place that is held.
pub(crate) fn copy_held(place: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = (libc::AT_RECURSIVE | libc::AT_EMPTY_PATH) as u32;
    open_tree(place.as_raw_fd(), c"", flags)
}

/// Another copy of an open one, with the same restrictions.
pub(crate) fn copy_open(tree: BorrowedFd<'_>) -> Result<OwnedFd> {
    open_tree(tree.as_raw_fd(), c"", libc::AT_EMPTY_PATH as u32)
}

fn open_tree(base: i32, path: &CStr, flags: u32) -> Result<OwnedFd> {
    let flags = flags | libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC;
    // SAFETY: the path lives through the call.
    let fd = checked(unsafe { libc::syscall(libc::SYS_open_tree, base, path.as_ptr(), flags) })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Restricts a copy and everything in it.
pub(crate) fn restrict(tree: BorrowedFd<'_>, what_for: Use) -> Result<()> {
    let attributes = libc::mount_attr {
        attr_set: NO_SUID
            | match what_for {
                Use::Read => READ_ONLY | NO_DEVICES,
                Use::Data => READ_ONLY | NO_DEVICES | NO_PROGRAMS,
                Use::Write => NO_DEVICES,
                Use::Device => 0,
            },
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: path and attributes live through the call; the size is theirs.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            std::mem::size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Puts a copy in its place. Links in the last part of the path are not followed.
pub(crate) fn attach(tree: BorrowedFd<'_>, at: &Path) -> Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(tree, (libc::AT_FDCWD, &c_text(at)?), flags)
}

/// The same where the place is held.
pub(crate) fn attach_held(tree: BorrowedFd<'_>, at: BorrowedFd<'_>) -> Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, (at.as_raw_fd(), c""), flags)
}

fn move_mount(tree: BorrowedFd<'_>, (base, at): (i32, &CStr), flags: u32) -> Result<()> {
    // SAFETY: both paths live through the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            base,
            at.as_ptr(),
            flags,
        )
    })?;
    Ok(())
}

/// A fresh file system kept in memory.
pub(crate) fn memory(at: &Path, mode: &str, bytes: u64, files: u64) -> Result<()> {
    let options = c_text(format!("mode={mode},size={bytes},nr_inodes={files}"))?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(
        Some(c"tmpfs"),
        &c_text(at)?,
        Some(c"tmpfs"),
        flags,
        Some(&options),
    )
}

/// The process files of this process-id namespace.
pub(crate) fn processes(at: &Path) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(Some(c"proc"), &c_text(at)?, Some(c"proc"), flags, None)
}

/// Terminals of our own.
pub(crate) fn terminals(at: &Path) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount(
        Some(c"devpts"),
        &c_text(at)?,
        Some(c"devpts"),
        flags,
        Some(options),
    )
}

/// Forbids to change what is mounted at a path; what is mounted below it stays.
pub(crate) fn seal(at: &Path, extra: libc::c_ulong) -> Result<()> {
    let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | extra;
    mount(None, &c_text(at)?, None, flags, None)
}

/// Makes the folder that this process stands in the root, and lets go of the old one.
pub(crate) fn become_root() -> Result<()> {
    // SAFETY: constant paths.
    checked(unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) })?;
    // The old root now lies on top of the new one, at the same place.
    // SAFETY: a constant path.
    checked(unsafe { libc::umount2(c".".as_ptr(), libc::MNT_DETACH) }.into())?;
    // SAFETY: a constant path.
    checked(unsafe { libc::chdir(c"/".as_ptr()) }.into())?;
    Ok(())
}

fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: all texts live through the call; absent ones are null, which it allows.
    checked(
        unsafe {
            libc::mount(
                pointer(source),
                target.as_ptr(),
                pointer(kind),
                flags,
                pointer(options).cast(),
            )
        }
        .into(),
    )?;
    Ok(())
}
