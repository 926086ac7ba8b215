//! `wasi:filesystem` without the standard library in between.
//!
//! The library refuses some things by itself and never asks for others; a
//! misbehaving guest talks to the descriptors directly, so the tests must too.

use std::path::Path;

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use crate::report::{Attempt, told_code};

/// The preopened folder that holds `path`, and the way from there.
pub fn preopen_of(path: &Path) -> Result<(Descriptor, String), String> {
    let mut best: Option<(Descriptor, String, usize)> = None;
    for (descriptor, name) in get_directories() {
        let Ok(rest) = path.strip_prefix(&name) else {
            continue;
        };
        let depth = Path::new(&name).components().count();
        if best.as_ref().is_none_or(|(_, _, known)| depth > *known) {
            best = Some((descriptor, rest.to_string_lossy().into_owned(), depth));
        }
    }
    match best {
        Some((descriptor, rest, _)) if rest.is_empty() => Ok((descriptor, ".".into())),
        Some((descriptor, rest, _)) => Ok((descriptor, rest)),
        None => Err(format!("no preopened folder holds {}", path.display())),
    }
}

/// A folder as a descriptor, opened for reading, with no name left to resolve.
pub fn folder(path: &Path) -> Result<Descriptor, String> {
    let (descriptor, rest) = preopen_of(path)?;
    if rest == "." {
        return Ok(descriptor);
    }
    open(
        &descriptor,
        &rest,
        OpenFlags::DIRECTORY,
        DescriptorFlags::READ,
    )
    .map_err(|error| told_code(&error))
}

pub fn open(
    folder: &Descriptor,
    name: &str,
    how: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Descriptor, ErrorCode> {
    folder.open_at(PathFlags::SYMLINK_FOLLOW, name, how, flags)
}

/// The names in a folder that is open already.
pub fn names(folder: &Descriptor) -> Attempt {
    let entries = folder.read_directory().map_err(|error| told_code(&error))?;
    let mut names = Vec::new();
    while let Some(entry) = entries
        .read_directory_entry()
        .map_err(|error| told_code(&error))?
    {
        names.push(entry.name);
    }
    names.sort();
    Ok(names.into())
}

/// A stream's error as text; opening a stream may succeed where writing does not.
pub fn write_stream(
    stream: Result<wasip2::io::streams::OutputStream, ErrorCode>,
) -> Result<(), String> {
    let stream = stream.map_err(|error| told_code(&error))?;
    stream
        .blocking_write_and_flush(b"from a stream")
        .map_err(|error| format!("stream: {error}"))
}
