//! Checked native code on its way to be run.
//!
//! Megabytes that are copied into fresh memory cost a page fault every few
//! kilobytes, and most of a component's code is never run. Where the system has
//! files that live in memory and can be sealed, the code goes into one: nobody can
//! change it any more, and only what is touched is mapped.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes that stay what they are.
pub(crate) enum Code {
    /// In a file without a name; sealed once it is complete.
    Sealed(File),
    /// In plain memory, where there are no such files.
    Held(Vec<u8>),
}

impl Code {
    /// Room for code, still empty.
    pub(super) fn with_room(bytes: usize) -> Self {
        match memory_file() {
            Ok(file) => Self::Sealed(file),
            Err(_) => Self::Held(Vec::with_capacity(bytes)),
        }
    }

    /// Ends the writing, for everybody.
    pub(super) fn seal(self) -> io::Result<Self> {
        if let Self::Sealed(file) = &self {
            seal(file)?;
        }
        Ok(self)
    }

    /// What a compiler has written. Nobody can change it any more, or this is an error.
    pub(crate) fn of_compiler(file: File) -> io::Result<Self> {
        Self::Sealed(file).seal()
    }

    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::Sealed(file) => Ok(file.metadata()?.len()),
            Self::Held(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Hands the bytes on, part by part.
    pub(super) fn each(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let file = match self {
            Self::Sealed(file) => file,
            Self::Held(bytes) => return take(bytes),
        };
        let mut buffer = vec![0; super::CHUNK];
        let mut at = 0;
        loop {
            match file.read_at(&mut buffer, at)? {
                0 => return Ok(()),
                read => {
                    take(&buffer[..read])?;
                    at += read as u64;
                }
            }
        }
    }

    /// Makes a component of it.
    #[allow(unsafe_code)]
    pub(crate) fn component(&self, engine: &Engine) -> wasmtime::Result<Component> {
        match self {
            Self::Sealed(file) => {
                use std::os::fd::AsRawFd;

                // The file has no name of its own; this one leads to it and to no other.
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                // SAFETY: the bytes are what this host's compiler made: either the cache
                // vouches for them by its keyed hash, or our own process that compiles has
                // just written them (`compiler.rs`). Sealed since, they are those bytes.
                unsafe { Component::deserialize_file(engine, path) }
            }
            // SAFETY: as above; nobody else has these bytes.
            Self::Held(bytes) => unsafe { Component::deserialize(engine, bytes) },
        }
    }
}

impl Write for Code {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Sealed(file) => file.write(bytes),
            Self::Held(held) => held.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn memory_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(memfd_create("toolbay-code", flags)?.into())
}

#[cfg(target_os = "linux")]
pub(crate) fn seal(file: &File) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};

    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    Ok(fcntl_add_seals(file, all)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn memory_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn seal(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stdout)]
    fn sealed_code_cannot_be_changed() {
        let mut code = Code::with_room(4);
        code.write_all(b"code").unwrap();
        let mut code = code.seal().unwrap();
        match &code {
            Code::Sealed(_) => assert!(code.write_all(b"more").is_err()),
            Code::Held(bytes) => {
                println!("no memory files here; code is held in plain memory");
                assert_eq!(bytes, b"code");
            }
        }
    }
}
