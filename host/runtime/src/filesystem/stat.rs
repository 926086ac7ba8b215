//! Looking at files without opening their content.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cap_std::fs::{MetadataExt, OpenOptions, OpenOptionsExt};
use cap_std::time::SystemTime as CapTime;
use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp,
};

use super::change::{names_a_folder, parent_of};
use super::descriptor::OpenFolder;
use super::fence::{Fence, Wish};
use super::links::past_links;
use super::real::path_of;

pub(super) fn file_type(kind: cap_std::fs::FileType) -> DescriptorType {
    use cap_std::fs::FileTypeExt;

    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else if kind.is_fifo() {
        DescriptorType::Fifo
    } else if kind.is_socket() {
        DescriptorType::Socket
    } else if kind.is_block_device() {
        DescriptorType::BlockDevice
    } else if kind.is_char_device() {
        DescriptorType::CharacterDevice
    } else {
        DescriptorType::Unknown
    }
}

pub(super) fn stat(metadata: &cap_std::fs::Metadata) -> DescriptorStat {
    DescriptorStat {
        type_: file_type(metadata.file_type()),
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: metadata.accessed().ok().and_then(datetime),
        data_modification_timestamp: metadata.modified().ok().and_then(datetime),
        status_change_timestamp: None,
    }
}

fn datetime(time: CapTime) -> Option<Datetime> {
    let since = time
        .into_std()
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?;
    Some(Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    })
}

/// Names a file's state by everything that the kernel changes along with it.
pub(super) fn metadata_hash(metadata: &cap_std::fs::Metadata) -> MetadataHashValue {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (
            salt,
            metadata.dev(),
            metadata.ino(),
            metadata.len(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        )
            .hash(&mut hasher);
        hasher.finish()
    };
    MetadataHashValue {
        lower: half(0),
        upper: half(1),
    }
}

/// The same for a path below a folder. Listing a folder asks this about each name
/// in it, so a file that may not be read has an answer too: which file it is, and
/// nothing about its state.
pub(super) fn metadata_hash_at(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    follow: bool,
) -> Result<MetadataHashValue, FsError> {
    if !follow
        && let Ok((parent, name)) = parent_of(folder, path)
        && fence.may_read(&parent.path)
        && !fence.may_read(&parent.path.join(&name))
    {
        let metadata = parent.dir.symlink_metadata(&name)?;
        return Ok(MetadataHashValue {
            lower: metadata.ino(),
            upper: metadata.dev(),
        });
    }
    let metadata = metadata_at(fence, folder, path, follow, "metadata-hash")?;
    Ok(metadata_hash(&metadata))
}

/// The metadata of a path below a folder, if this call may look at it.
pub(super) fn metadata_at(
    fence: &Fence,
    folder: &OpenFolder,
    path: &str,
    follow: bool,
    operation: &str,
) -> Result<cap_std::fs::Metadata, FsError> {
    past_links(fence, folder, path, |folder, path| {
        if !fence.has_rules() && fence.may_read(&folder.path) {
            return Ok(if follow {
                folder.dir.metadata(path)?
            } else {
                folder.dir.symlink_metadata(path)?
            });
        }
        // One handle for the check and for the look: a path that is resolved twice may lead to two
        // files, if another process exchanges them in between.
        if !follow && let Ok((parent, name)) = parent_of(folder, path) {
            let metadata = parent.dir.symlink_metadata(&name)?;
            fence.check(&parent.path.join(&name), Wish::Read, operation)?;
            return Ok(metadata);
        }
        let looked_at = without_opening(folder, path)?;
        let metadata = cap_std::fs::Metadata::from_file(&looked_at)?;
        fence.check(&path_of(&looked_at)?, Wish::Read, operation)?;
        Ok(metadata)
    })
}

/// A handle of what a path leads to, for looks alone: whoever has it can neither read nor write.
fn without_opening(folder: &OpenFolder, path: &str) -> Result<std::fs::File, FsError> {
    let path = if path.is_empty() { "." } else { path };
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(rustix::fs::OFlags::PATH.bits() as i32);
    Ok(folder.dir.open_with(path, &options)?.into_std())
}

/// Where a path below a folder really leads.
pub(super) fn real_path(folder: &OpenFolder, path: &str, follow: bool) -> Result<PathBuf, FsError> {
    // Asked anew: somebody may have moved the folder since it was opened.
    let base = path_of(&*folder.dir)?;
    if matches!(path, "" | ".") {
        return Ok(base);
    }
    if follow {
        Ok(base.join(folder.dir.canonicalize(path)?))
    } else {
        match parent_of(folder, path) {
            Ok((parent, name)) => Ok(parent.path.join(name)),
            // `..` at the end: the folder it names is inside, or cap-std refuses.
            Err(_) => Ok(base.join(folder.dir.canonicalize(path)?)),
        }
    }
}

/// Sets the times of a link itself; false if the path is none. Its name was checked, and is what is
/// changed: a link cannot be opened.
pub(super) fn set_link_times(
    folder: &OpenFolder,
    path: &str,
    accessed: NewTimestamp,
    modified: NewTimestamp,
) -> Result<bool, FsError> {
    let Ok((parent, name)) = parent_of(folder, path) else {
        return Ok(false);
    };
    if names_a_folder(path) || !parent.dir.symlink_metadata(&name)?.is_symlink() {
        return Ok(false);
    }
    let times = Timestamps {
        last_access: raw_time(accessed)?,
        last_modification: raw_time(modified)?,
    };
    utimensat(&*parent.dir, &name, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(std::io::Error::from)?;
    Ok(true)
}

fn raw_time(stamp: NewTimestamp) -> Result<Timespec, FsError> {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    Ok(match stamp {
        NewTimestamp::NoChange => special(UTIME_OMIT),
        NewTimestamp::Now => special(UTIME_NOW),
        NewTimestamp::Timestamp(at) => Timespec {
            tv_sec: i64::try_from(at.seconds).map_err(|_| ErrorCode::Overflow)?,
            tv_nsec: at.nanoseconds.into(),
        },
    })
}

pub(super) fn time_spec(stamp: NewTimestamp) -> Result<Option<SystemTime>, FsError> {
    Ok(match stamp {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTime::now()),
        NewTimestamp::Timestamp(at) => Some(
            SystemTime::UNIX_EPOCH
                .checked_add(Duration::new(at.seconds, at.nanoseconds))
                .ok_or(ErrorCode::Overflow)?,
        ),
    })
}
