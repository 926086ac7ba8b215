//! System calls as safe functions, for the cage and its helper.
//!
//! Each file is a thin skin over one part of the kernel and judges nothing; all hand-written
//! `unsafe` of the cage stands here. `landlock`, `seccomp`, `memory`, `mount`, `process` and `socket`
//! are named after what they speak to; `bpf` writes the programs that seccomp runs.

pub(crate) mod bpf;
pub(crate) mod landlock;
pub(crate) mod memory;
pub(crate) mod mount;
pub(crate) mod open;
pub(crate) mod process;
pub(crate) mod seccomp;
pub(crate) mod socket;

use std::ffi::{CString, OsStr};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::OsStrExt;

/// The kernel's way to say "this did not work" turned into ours.
fn checked(answer: libc::c_long) -> Result<libc::c_long> {
    if answer < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// A path as the kernel reads it. A zero byte inside would cut it short unnoticed.
pub(crate) fn c_text(text: impl AsRef<OsStr>) -> Result<CString> {
    CString::new(text.as_ref().as_bytes())
        .map_err(|_| Error::new(ErrorKind::InvalidInput, "a zero byte in a path or argument"))
}
