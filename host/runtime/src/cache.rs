//! Compiled components on disk.
//!
//! What lies here is native code, so a file is run only if this host wrote it:
//! the folder and its files belong to the user and are closed to others, and
//! every file carries a keyed hash over its content, its component's digest and
//! the engine's fingerprint. A file that fails any check is removed and made
//! anew. The bytes that were checked are the bytes that are run: nothing is
//! mapped from the file afterwards (see `code`).

mod code;

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use thiserror::Error;

pub(crate) use code::{Code, memory_file, seal};

/// Changes when the layout of the files does.
const MAGIC: &[u8; 8] = b"TBCACHE1";
const MAC_BYTES: usize = 32;
/// Magic, keyed hash and the length of the info.
const HEAD_BYTES: usize = MAGIC.len() + MAC_BYTES + 4;
const EXTENSION: &str = "tbc";

/// Read, hashed and passed on at a time: small enough to stay in the processor's
/// cache on the way.
const CHUNK: usize = 128 << 10;

/// What all files together may take. A large plugin compiles to some ten
/// megabytes; the oldest go first.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

#[derive(Debug, Error)]
pub enum CacheError {
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    #[error("{0} belongs to another user; remove it or choose another folder")]
    NotOurs(PathBuf),
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
}

/// The cache folder, opened.
pub struct Cache {
    folder: PathBuf,
    key: [u8; 32],
    fingerprint: String,
    max_bytes: u64,
}

/// What was kept for a component.
pub(crate) struct Entry {
    /// What `info()` answered when the component was compiled.
    pub(crate) info: Vec<u8>,
    /// Native code, as wasmtime serialises it.
    pub(crate) code: Code,
}

impl Cache {
    /// Opens or makes the folder and the key. `state` holds the key: it is not a
    /// cache, so that cleaning caches does not leave files without it.
    pub fn open(
        folder: &Path,
        state: &Path,
        fingerprint: &str,
        max_bytes: u64,
    ) -> Result<Self, CacheError> {
        private_folder(folder)?;
        private_folder(state)?;
        let key = key(&state.join("cache.key"))?;
        Ok(Self {
            folder: folder.to_path_buf(),
            key,
            fingerprint: fingerprint.to_owned(),
            max_bytes,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Number of files and bytes in it.
    pub fn usage(&self) -> (usize, u64) {
        let files = self.files();
        (files.len(), files.iter().map(|file| file.bytes).sum())
    }

    /// Whether something was kept for the component, whatever it is worth.
    pub(crate) fn has(&self, digest: &str) -> bool {
        fs::symlink_metadata(self.path(digest)).is_ok()
    }

    /// What was kept for the component, if it can be trusted.
    pub(crate) fn load(&self, digest: &str) -> Option<Entry> {
        let path = self.path(digest);
        match self.read(&path, digest) {
            Ok(entry) => Some(entry),
            Err(Distrust::Absent) => None,
            Err(Distrust::Because(reason)) => {
                tracing::warn!(path = %path.display(), reason, "compiled component is remade");
                // It would be distrusted again; a failure to remove changes nothing.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps a compiled component. A failure costs the next start time, no more.
    pub(crate) fn store(&self, digest: &str, info: &[u8], code: &Code) {
        if let Err(error) = self.write(digest, info, code) {
            tracing::warn!(%error, "compiled component was not kept");
        }
        self.prune();
    }

    fn path(&self, digest: &str) -> PathBuf {
        let stem = digest.rsplit(':').next().unwrap_or(digest);
        self.folder
            .join(format!("{stem}-{}.{EXTENSION}", self.fingerprint))
    }

    /// The keyed hash over everything but the code, which is still to come.
    fn mac(&self, digest: &str, info: &[u8], code_length: u64) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        for part in [
            MAGIC.as_slice(),
            digest.as_bytes(),
            self.fingerprint.as_bytes(),
            info,
        ] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.update(&code_length.to_le_bytes());
        Some(mac)
    }

    fn read(&self, path: &Path, digest: &str) -> Result<Entry, Distrust> {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(
                (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32,
            )
            .open(path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Distrust::Absent,
                _ => Distrust::Because("it cannot be opened"),
            })?;
        let metadata = file
            .metadata()
            .map_err(|_| Distrust::Because("it cannot be looked at"))?;
        if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(Distrust::Because("it is not a file of this user"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(Distrust::Because("others may reach it"));
        }
        let damaged = Distrust::Because("it is damaged");
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).map_err(|_| damaged)?;
        let rest = head.strip_prefix(MAGIC.as_slice()).ok_or(damaged)?;
        let (tag, length) = rest.split_at_checked(MAC_BYTES).ok_or(damaged)?;
        let info_length = u64::from(u32::from_le_bytes(length.try_into().map_err(|_| damaged)?));
        let code_length = metadata
            .len()
            .checked_sub(HEAD_BYTES as u64)
            .and_then(|rest| rest.checked_sub(info_length))
            .ok_or(damaged)?;
        let mut info = Vec::new();
        Read::by_ref(&mut file)
            .take(info_length)
            .read_to_end(&mut info)
            .map_err(|_| Distrust::Because("it cannot be read"))?;

        let mut mac = self.mac(digest, &info, code_length).ok_or(damaged)?;
        let code = copy_hashed(&mut file, code_length, &mut mac)
            .map_err(|_| Distrust::Because("it cannot be read"))?;
        mac.verify_slice(tag)
            .map_err(|_| Distrust::Because("this host did not write it"))?;
        // Its time tells how long it has not been used. Best effort.
        let _ = file.set_modified(SystemTime::now());
        Ok(Entry { info, code })
    }

    fn write(&self, digest: &str, info: &[u8], code: &Code) -> io::Result<()> {
        let mut mac = self
            .mac(digest, info, code.length()?)
            .ok_or_else(|| io::Error::other("no key"))?;
        code.each(|part| {
            mac.update(part);
            Ok(())
        })?;
        let tag = mac.finalize().into_bytes();
        let path = self.path(digest);
        let temporary = path.with_extension(format!("{:x}", unique()?));
        let written = (|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&temporary)?;
            file.write_all(MAGIC)?;
            file.write_all(&tag)?;
            file.write_all(&(info.len() as u32).to_le_bytes())?;
            file.write_all(info)?;
            code.each(|part| file.write_all(part))?;
            file.sync_data()?;
            fs::rename(&temporary, &path)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Removes the files that were not used for longest until the rest fits.
    fn prune(&self) {
        let mut files = self.files();
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        files.sort_by_key(|file| file.used);
        for file in files {
            if total <= self.max_bytes {
                return;
            }
            if fs::remove_file(&file.path).is_ok() {
                total -= file.bytes;
            }
        }
    }

    fn files(&self) -> Vec<Kept> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                metadata.is_file().then(|| Kept {
                    path: entry.path(),
                    bytes: metadata.len(),
                    used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                })
            })
            .collect()
    }
}

struct Kept {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

#[derive(Clone, Copy)]
enum Distrust {
    Absent,
    Because(&'static str),
}

/// Takes over the rest of a file, and hashes what was taken.
fn copy_hashed(file: &mut File, length: u64, mac: &mut Hmac<Sha256>) -> io::Result<Code> {
    let mut code = Code::with_room(usize::try_from(length).unwrap_or(0));
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return code.seal();
        }
        mac.update(&buffer[..read]);
        code.write_all(&buffer[..read])?;
    }
}

/// Makes the folder, closed to others, or makes sure that it is so.
fn private_folder(folder: &Path) -> Result<(), CacheError> {
    let fail = |error| CacheError::Io(folder.to_path_buf(), error);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(fail)?;
    let metadata = fs::symlink_metadata(folder).map_err(fail)?;
    if !metadata.is_dir() {
        return Err(CacheError::NotAFolder(folder.to_path_buf()));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(CacheError::NotOurs(folder.to_path_buf()));
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(fail)?;
    }
    Ok(())
}

/// Reads the key, or makes one. A key that others could read or write is
/// replaced, and with it everything that it vouched for.
fn key(path: &Path) -> Result<[u8; 32], CacheError> {
    let fail = |error| CacheError::Io(path.to_path_buf(), error);
    for _ in 0..3 {
        match read_key(path) {
            Ok(Some(key)) => return Ok(key),
            Ok(None) => {
                let _ = fs::remove_file(path);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fail(error)),
        }
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh).map_err(|error| fail(io::Error::other(error)))?;
        // Written beside and linked into place, so that two hosts that start at
        // once end up with the same, whole key.
        let temporary = path.with_extension(format!("{:x}", unique().map_err(fail)?));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .map_err(fail)?;
        file.write_all(&fresh).map_err(fail)?;
        let linked = fs::hard_link(&temporary, path);
        let _ = fs::remove_file(&temporary);
        match linked {
            Ok(()) => return Ok(fresh),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Err(fail(io::Error::other("the key keeps changing")))
}

fn read_key(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let mut file: File = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(path)?;
    let metadata = file.metadata()?;
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if !ours || metadata.mode() & 0o077 != 0 || metadata.len() != 32 {
        return Ok(None);
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(Some(key))
}

fn unique() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests;
