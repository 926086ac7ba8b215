//! Landlock: what a process and its children may do with which folders.
#![allow(unsafe_code)]

use std::io::Result;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

pub(crate) const EXECUTE: u64 = 1;
pub(crate) const WRITE_FILE: u64 = 1 << 1;
pub(crate) const READ_FILE: u64 = 1 << 2;
pub(crate) const READ_DIR: u64 = 1 << 3;
pub(crate) const REMOVE_DIR: u64 = 1 << 4;
pub(crate) const REMOVE_FILE: u64 = 1 << 5;
pub(crate) const MAKE_CHAR: u64 = 1 << 6;
pub(crate) const MAKE_DIR: u64 = 1 << 7;
pub(crate) const MAKE_REG: u64 = 1 << 8;
pub(crate) const MAKE_SOCK: u64 = 1 << 9;
pub(crate) const MAKE_FIFO: u64 = 1 << 10;
pub(crate) const MAKE_BLOCK: u64 = 1 << 11;
pub(crate) const MAKE_SYM: u64 = 1 << 12;
pub(crate) const REFER: u64 = 1 << 13;
pub(crate) const TRUNCATE: u64 = 1 << 14;
pub(crate) const IOCTL_DEV: u64 = 1 << 15;

/// Reading, listing and starting.
pub(crate) const READING: u64 = EXECUTE | READ_FILE | READ_DIR;
/// Making new names in a folder.
pub(crate) const MAKING: u64 =
    MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM;
/// All that changes something.
pub(crate) const WRITING: u64 =
    MAKING | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | REFER | TRUNCATE | IOCTL_DEV;
/// What can be granted for a file; the rest only makes sense for a folder.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const SCOPES: u64 = 0b11;
const TCP: u64 = 0b11;
const RULE_PATH_BENEATH: libc::c_int = 1;

#[repr(C)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// Which rights the kernel knows, by its version.
pub(crate) fn known(abi: i64) -> u64 {
    let base = READING | MAKING | WRITE_FILE | REMOVE_DIR | REMOVE_FILE;
    let newer = [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)];
    newer
        .iter()
        .filter(|(since, _)| abi >= *since)
        .fold(base, |all, (_, right)| all | right)
}

/// What is done with sockets and signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// No signals and no nameless sockets to processes outside.
    Scoped,
    /// The same, and no TCP at all.
    ScopedWithoutTcp,
    /// Files alone.
    Files,
}

/// A set of rules under construction. What it handles and no rule grants is refused.
pub(crate) struct Ruleset {
    fd: OwnedFd,
    handled: u64,
}

impl Ruleset {
    pub(crate) fn new(abi: i64, handled: u64, beyond: Beyond) -> Result<Self> {
        let handled = handled & known(abi);
        let is_scoped = beyond != Beyond::Files && abi >= 6;
        let attributes = RulesetAttributes {
            files: handled,
            network: if beyond == Beyond::ScopedWithoutTcp && abi >= 4 {
                TCP
            } else {
                0
            },
            scoped: if is_scoped { SCOPES } else { 0 },
        };
        // Older kernels refuse a longer structure unless the rest is zero; it is then.
        let size = std::mem::size_of::<RulesetAttributes>();
        // SAFETY: the attributes live through the call and have the size that is told.
        let fd = checked(unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size,
                0,
            )
        })?;
        // SAFETY: a fresh descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ok(Self { fd, handled })
    }

    pub(crate) fn allow_folder(&self, folder: BorrowedFd<'_>, rights: u64) -> Result<()> {
        self.allow(folder, rights & self.handled)
    }

    pub(crate) fn allow_file(&self, file: BorrowedFd<'_>, rights: u64) -> Result<()> {
        self.allow(file, rights & self.handled & OF_FILES)
    }

    fn allow(&self, place: BorrowedFd<'_>, allowed: u64) -> Result<()> {
        if allowed == 0 {
            return Ok(());
        }
        let rule = PathBeneath {
            allowed,
            parent: place.as_raw_fd(),
        };
        // SAFETY: the rule lives through the call.
        checked(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.fd.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const rule,
                0,
            )
        })?;
        Ok(())
    }

    /// From now on, for this thread and all its children. Needs `no_new_privs`.
    pub(crate) fn enforce(self) -> Result<()> {
        // SAFETY: takes no pointers.
        checked(unsafe {
            libc::syscall(libc::SYS_landlock_restrict_self, self.fd.as_raw_fd(), 0)
        })?;
        Ok(())
    }
}
