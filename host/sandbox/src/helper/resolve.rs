//! Finds out which place a caged process means by a path.
//!
//! The answer is an open folder and one name in it. Whatever the process changes after
//! that, the folder stays the one that was judged.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::kernel::{c_text, open, process};

/// The longest path that the kernel takes, and one byte for its end.
const LONGEST: usize = 4096;
const PAGE: u64 = 4096;

/// A name in an open folder.
pub(crate) struct Spot {
    pub(crate) folder: OwnedFd,
    pub(crate) name: CString,
    /// Both together, as the kernel knows them.
    pub(crate) path: PathBuf,
    /// Whether the path insisted on a folder by ending with `/`.
    pub(crate) wants_folder: bool,
}

/// Reads a text that a process points to.
pub(crate) fn text(thread: i32, address: u64) -> Option<CString> {
    let mut all = Vec::new();
    let mut address = address;
    while all.len() < LONGEST {
        // Never across a page: the next one may not be there.
        let room = (PAGE - address % PAGE).min((LONGEST - all.len()) as u64) as usize;
        let mut piece = vec![0; room];
        let count = process::read_memory(thread, address, &mut piece).ok()?;
        if count == 0 {
            return None;
        }
        let piece = &piece[..count];
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            all.extend_from_slice(&piece[..end]);
            return CString::new(all).ok();
        }
        all.extend_from_slice(piece);
        address = address.checked_add(count as u64)?;
    }
    None
}

/// Reads a number, as wide as an address, that a process points to.
pub(crate) fn number(thread: i32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    let count = process::read_memory(thread, address, &mut bytes).ok()?;
    (count == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}

/// The folder that relative paths of a thread start from.
pub(crate) fn base(thread: i32, folder: i32) -> Option<OwnedFd> {
    let link = if folder == libc::AT_FDCWD {
        format!("/proc/{thread}/cwd")
    } else if folder >= 0 {
        format!("/proc/{thread}/fd/{folder}")
    } else {
        return None;
    };
    open::plain(&c_text(link).ok()?, libc::O_PATH | libc::O_DIRECTORY).ok()
}

/// The place that a path of a thread means, or `None` where the kernel had better answer
/// itself: paths that lead nowhere, and those through the process files.
pub(crate) fn spot_of(thread: i32, folder: i32, path: &[u8]) -> Option<Spot> {
    if path.first() == Some(&b'/') {
        spot(None, path)
    } else {
        let base = base(thread, folder)?;
        spot(Some(base.as_fd()), path)
    }
}

pub(crate) fn spot(base: Option<BorrowedFd<'_>>, path: &[u8]) -> Option<Spot> {
    let trimmed = path.len() - path.iter().rev().take_while(|byte| **byte == b'/').count();
    let wants_folder = trimmed < path.len();
    let path = &path[..trimmed];
    let (parent, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..=slash], &path[slash + 1..]),
        None => (&b"."[..], path),
    };
    if matches!(name, b"" | b"." | b"..") {
        return None;
    }
    let parent = CString::new(parent).ok()?;
    let folder = open::place(base, &parent, libc::O_DIRECTORY).ok()?;
    let path = open::known_path_of(folder.as_fd())
        .ok()?
        .join(OsStr::from_bytes(name));
    Some(Spot {
        folder,
        name: CString::new(name).ok()?,
        path,
        wants_folder,
    })
}

/// The bits that a process wants to be absent from modes of what it makes.
pub(crate) fn file_mask(thread: i32) -> u32 {
    // Private where it cannot be read: the kernel tells since Linux 4.7.
    const STRICT: u32 = 0o077;
    // Asked for each new file: it stands in the second line, of a few hundred.
    let mut begin = [0; 256];
    let status = File::open(format!("/proc/{thread}/status"));
    status
        .and_then(|mut status| status.read(&mut begin))
        .ok()
        .and_then(|count| {
            let mut lines = begin[..count].split(|byte| *byte == b'\n');
            let line = lines.find_map(|line| line.strip_prefix(b"Umask:"))?;
            u32::from_str_radix(std::str::from_utf8(line).ok()?.trim(), 8).ok()
        })
        .unwrap_or(STRICT)
}
