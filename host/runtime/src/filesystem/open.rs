//! Opening a path below a folder.

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, OpenFlags, PathFlags,
};

use super::change::parent_of;
use super::descriptor::{Descriptor, OpenFile, OpenFolder};
use super::fence::{Fence, Wish};
use super::links::past_links;
use super::real::path_of;

/// Opens a preopened folder.
pub(super) fn preopen(path: &Path) -> io::Result<OpenFolder> {
    let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
    Ok(OpenFolder {
        dir: Arc::new(dir),
        path: path.to_path_buf(),
    })
}

/// `open-at`. Whatever exists is opened without being changed, checked by its
/// real path, and only then truncated; what does not exist is created by name in
/// the checked handle of its parent.
pub(super) fn open_at(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    path_flags: PathFlags,
    open_flags: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Descriptor, FsError> {
    // Writes are handed to the system as they come; who asks for more is told before the first one.
    let sync = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(sync) {
        return Err(ErrorCode::Unsupported.into());
    }
    past_links(fence, folder, path, |folder, path| {
        open_below(fence, folder, path, path_flags, open_flags, flags)
    })
}

fn open_below(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    path_flags: PathFlags,
    open_flags: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Descriptor, FsError> {
    let create = open_flags.contains(OpenFlags::CREATE);
    let truncate = open_flags.contains(OpenFlags::TRUNCATE);
    let exclusive = open_flags.contains(OpenFlags::EXCLUSIVE);
    let write = flags.contains(DescriptorFlags::WRITE) || truncate;
    let read = flags.contains(DescriptorFlags::READ) || !write;
    let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);

    let wish = if write { Wish::Write } else { Wish::Read };
    fence.check_names(&folder.path.join(path), wish, "open")?;
    if (write || create) && fence.is_read_only() {
        // The folder's own path is near enough for the log.
        fence.check(&folder.path.join(path), Wish::Write, "open for writing")?;
    }

    if !(create && exclusive) {
        match open_existing(&folder.dir, path, read, write, follow) {
            Ok(file) => return admit(fence, file, read, write, truncate, open_flags),
            Err(error) if error.kind() == io::ErrorKind::NotFound && create => {}
            Err(error) => return Err(error.into()),
        }
    }
    if open_flags.contains(OpenFlags::DIRECTORY) {
        return Err(ErrorCode::Invalid.into());
    }

    let (parent, name) = parent_of(folder, path)?;
    fence.check(&parent.path.join(&name), Wish::Write, "create")?;
    let mut options = OpenOptions::new();
    options.read(read).write(true).create_new(true);
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = parent.dir.open_with(&name, &options)?;
    admit(fence, file.into_std(), read, true, false, open_flags)
}

fn open_existing(
    dir: &Dir,
    path: &str,
    read: bool,
    write: bool,
    follow: bool,
) -> io::Result<std::fs::File> {
    // Should a link slip in between, it is followed; it cannot lead out, and what
    // it leads to is checked by its real path like anything else.
    if !follow && dir.symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::from(rustix::io::Errno::LOOP));
    }
    let mut options = OpenOptions::new();
    options.read(read).write(write);
    // Without this, opening a FIFO would wait for its other end for ever.
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    Ok(dir.open_with(path, &options)?.into_std())
}

/// Checks what was opened, and makes a descriptor of it.
fn admit(
    fence: &Fence,
    file: std::fs::File,
    read: bool,
    write: bool,
    truncate: bool,
    open_flags: OpenFlags,
) -> Result<Descriptor, FsError> {
    let metadata = file.metadata()?;
    let path = path_of(&file)?;
    if metadata.is_dir() {
        if write {
            return Err(ErrorCode::IsDirectory.into());
        }
        fence.check(&path, Wish::Read, "open")?;
        return Ok(Descriptor::Folder(OpenFolder {
            dir: Arc::new(Dir::from_std_file(file)),
            path,
        }));
    }
    if open_flags.contains(OpenFlags::DIRECTORY) {
        return Err(ErrorCode::NotDirectory.into());
    }
    if !metadata.is_file() || !lies_on_a_disk(&file)? {
        // Devices, FIFOs, sockets and the kernel's own files reach beyond files.
        fence.report(&path, "open", "it is not a regular file".into());
        return Err(ErrorCode::Unsupported.into());
    }
    if write {
        fence.check(&path, Wish::Write, "open for writing")?;
    }
    fence.check(&path, Wish::Read, "open")?;
    if truncate {
        file.set_len(0)?;
    }
    Ok(Descriptor::File(OpenFile {
        file: Arc::new(file),
        length: metadata.len(),
        read,
        write,
    }))
}

/// Whether the file is one that somebody stored, not one that the kernel makes up:
/// `/proc` may be mounted in other places too.
#[cfg(target_os = "linux")]
fn lies_on_a_disk(file: &std::fs::File) -> io::Result<bool> {
    const PROC: u32 = 0x9fa0;
    const SYSFS: u32 = 0x6265_6572;
    const DEBUGFS: u32 = 0x6462_6720;
    const TRACEFS: u32 = 0x7472_6163;
    const CGROUP: u32 = 0x0027_e0eb;
    const CGROUP2: u32 = 0x6367_7270;
    const SECURITYFS: u32 = 0x7363_6673;

    // The type is 32 bits wide; how it is declared differs between machines.
    let kind = rustix::fs::fstatfs(file)?.f_type as u32;
    Ok(![PROC, SYSFS, DEBUGFS, TRACEFS, CGROUP, CGROUP2, SECURITYFS].contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn lies_on_a_disk(_file: &std::fs::File) -> io::Result<bool> {
    Ok(true)
}
