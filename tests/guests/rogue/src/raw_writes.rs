//! Every way to write that bare `wasi:filesystem` knows.

use std::path::Path;

use serde_json::Value;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

use crate::raw;
use crate::report::{Attempt, Told, told_code};
use crate::writes::Place;

const VICTIM: &str = "victim.txt";

type Try = (&'static str, fn(&Place) -> Attempt);

pub const TRIES: &[Try] = &[
    ("raw-open-create", |p| {
        opened(p, "raw.txt", OpenFlags::CREATE, DescriptorFlags::WRITE)
    }),
    // No write is asked for, yet the file comes into being.
    ("raw-open-create-read", |p| {
        opened(p, "raw_read.txt", OpenFlags::CREATE, DescriptorFlags::READ)
    }),
    ("raw-open-exclusive", |p| {
        let how = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        opened(p, "raw_exclusive.txt", how, DescriptorFlags::READ)
    }),
    ("raw-open-write", |p| {
        opened(p, VICTIM, OpenFlags::empty(), DescriptorFlags::WRITE)
    }),
    ("raw-open-read-write", |p| {
        let flags = DescriptorFlags::READ | DescriptorFlags::WRITE;
        opened(p, VICTIM, OpenFlags::empty(), flags)
    }),
    ("raw-open-truncate-read", |p| {
        opened(p, VICTIM, OpenFlags::TRUNCATE, DescriptorFlags::READ)
    }),
    ("raw-open-by-way-of-parent", |p| {
        let name = p.dir.file_name().unwrap_or_default().to_string_lossy();
        let way = format!("victim_dir/../../{name}/{VICTIM}");
        opened(p, &way, OpenFlags::empty(), DescriptorFlags::WRITE)
    }),
    ("raw-create-in-mutable-directory", |p| {
        let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
        let folder = raw::folder(&p.dir)?;
        raw::open(&folder, ".", OpenFlags::DIRECTORY, flags)
            .and_then(|inner| inner.create_directory_at("raw_mutable"))
            .told()
    }),
    ("raw-create-in-read-only-directory", |p| {
        let folder = raw::folder(&p.dir)?;
        raw::open(
            &folder,
            "victim_dir",
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )
        .and_then(|inner| {
            raw::open(&inner, "raw.txt", OpenFlags::CREATE, DescriptorFlags::WRITE)?;
            // The folder must be empty for the tries that come later.
            inner.unlink_file_at("raw.txt")
        })
        .told()
    }),
    ("raw-read-handle-write", |p| {
        on_read_handle(p, |file| file.write(b"raw", 0).told())
    }),
    ("raw-read-handle-stream", |p| {
        on_read_handle(p, |file| {
            raw::write_stream(file.write_via_stream(0)).map(|()| Value::Null)
        })
    }),
    ("raw-read-handle-append", |p| {
        on_read_handle(p, |file| {
            raw::write_stream(file.append_via_stream()).map(|()| Value::Null)
        })
    }),
    ("raw-read-handle-set-size", |p| {
        on_read_handle(p, |file| file.set_size(1).told())
    }),
    ("raw-read-handle-set-times", |p| {
        on_read_handle(p, |file| {
            file.set_times(NewTimestamp::Now, NewTimestamp::Now).told()
        })
    }),
    ("raw-folder-set-times", |p| {
        let folder = raw::folder(&p.dir)?;
        folder
            .set_times(NewTimestamp::Now, NewTimestamp::Now)
            .told()
    }),
    ("raw-set-times-at", |p| {
        on_folder(p, |folder| {
            folder.set_times_at(
                PathFlags::empty(),
                VICTIM,
                NewTimestamp::Now,
                NewTimestamp::Now,
            )
        })
    }),
    ("raw-symlink-at", |p| {
        on_folder(p, |folder| folder.symlink_at(VICTIM, "raw_soft.txt"))
    }),
    ("raw-link-at", |p| {
        on_folder(p, |folder| {
            folder.link_at(PathFlags::empty(), VICTIM, folder, "raw_hard.txt")
        })
    }),
    ("raw-rename-at", |p| {
        on_folder(p, |folder| {
            folder.rename_at(VICTIM, folder, "raw_renamed.txt")?;
            folder.rename_at("raw_renamed.txt", folder, VICTIM)
        })
    }),
    ("raw-create-directory-at", |p| {
        on_folder(p, |folder| folder.create_directory_at("raw_dir"))
    }),
    ("raw-remove-directory-at", |p| {
        on_folder(p, |folder| {
            folder.remove_directory_at("victim_dir")?;
            folder.create_directory_at("victim_dir")
        })
    }),
    ("raw-unlink-file-at", |p| {
        on_folder(p, |folder| {
            folder.unlink_file_at(VICTIM)?;
            let how = OpenFlags::CREATE;
            raw::open(folder, VICTIM, how, DescriptorFlags::WRITE).map(|_| ())
        })
    }),
];

/// Asks for a folder that may be changed. To get the handle is harmless as long as
/// nothing can be changed through it, which is a try of its own.
pub fn open_mutable_directory(place: &Place) -> Attempt {
    let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
    opened(place, ".", OpenFlags::DIRECTORY, flags)
}

pub fn rename_across(from: &Path, to: &Path) -> Attempt {
    let (from, to) = (raw::folder(from)?, raw::folder(to)?);
    from.rename_at(VICTIM, &to, "raw_moved.txt")
        .and_then(|()| to.rename_at("raw_moved.txt", &from, VICTIM))
        .told()
}

pub fn link_across(from: &Path, to: &Path) -> Attempt {
    let (from, to) = (raw::folder(from)?, raw::folder(to)?);
    from.link_at(PathFlags::empty(), VICTIM, &to, "raw_linked.txt")
        .told()
}

fn opened(place: &Place, name: &str, how: OpenFlags, flags: DescriptorFlags) -> Attempt {
    let folder = raw::folder(&place.dir)?;
    raw::open(&folder, name, how, flags).told()
}

fn on_folder(place: &Place, act: impl FnOnce(&Descriptor) -> Result<(), ErrorCode>) -> Attempt {
    act(&raw::folder(&place.dir)?).told()
}

/// A handle that was got for reading, then used for more.
fn on_read_handle(place: &Place, act: impl FnOnce(&Descriptor) -> Attempt) -> Attempt {
    let folder = raw::folder(&place.dir)?;
    let file = raw::open(&folder, VICTIM, OpenFlags::empty(), DescriptorFlags::READ)
        .map_err(|error| told_code(&error))?;
    act(&file)
}
