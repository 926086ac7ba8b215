//! Files of this program's own in the state folder: written in one step, by one writer at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};

/// Larger files of our own are damaged ones: sessions and lists stay far below.
pub const MOST_BYTES: u64 = 256 << 20;

/// Keeps other programs from changing a file until it is dropped. Readers need not wait: a file
/// is only ever exchanged as a whole.
pub fn lock(file: &Path) -> anyhow::Result<File> {
    let place = file.with_extension("lock");
    let about = || place.display().to_string();
    make_folder(file).with_context(about)?;
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&place)
        .with_context(about)?;
    flock(&lock, FlockOperation::LockExclusive).with_context(about)?;
    Ok(lock)
}

/// Writes a file in one step; nobody else can read it.
pub fn replace(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let about = || file.display().to_string();
    make_folder(file).with_context(about)?;
    let temporary = file.with_extension(format!("{}.new", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        out.write_all(bytes)?;
        out.sync_all()?;
        std::fs::rename(&temporary, file)
    };
    write().with_context(about)
}

fn make_folder(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().context("it lies in no folder")?;
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)?;
    Ok(())
}
