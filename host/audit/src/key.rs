//! The key of a log, in a file that only its user can read.
//!
//! Unlike the key of a cache it is never replaced: with another key the log that is there
//! could not be verified any more, which is what somebody who changed it would like.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::LogError;

const BYTES: usize = 32;

#[derive(Clone)]
pub struct Key([u8; BYTES]);

impl Key {
    pub fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads the key, if there is one.
    pub fn read(path: &Path) -> Result<Option<Self>, LogError> {
        let fail = |error| LogError::Io(path.to_path_buf(), error);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        let metadata = file.metadata().map_err(fail)?;
        let ours = metadata.uid() == rustix::process::geteuid().as_raw();
        let closed = metadata.mode() & 0o077 == 0;
        if !metadata.is_file() || !ours || !closed || metadata.len() != BYTES as u64 {
            return Err(LogError::BadKey(path.to_path_buf()));
        }
        let mut key = [0; BYTES];
        file.read_exact(&mut key).map_err(fail)?;
        Ok(Some(Self(key)))
    }

    /// Reads the key, or makes one. Two programs that start at once get the same.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let fail = |error| LogError::Io(path.to_path_buf(), error);
        if let Some(key) = Self::read(path)? {
            return Ok(key);
        }
        if let Some(folder) = path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(folder).map_err(fail)?;
        }
        let mut fresh = [0; BYTES + 8];
        getrandom::fill(&mut fresh).map_err(|error| fail(io::Error::other(error)))?;
        let (key, name) = fresh.split_at(BYTES);
        // Written beside and linked into place: nobody ever sees half a key.
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let beside = path.with_extension(name);
        let made = (|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(key)?;
            file.sync_all()?;
            fs::hard_link(&beside, path)
        })();
        // Left behind, it would be a second copy of the key, closed like the first.
        let _ = fs::remove_file(&beside);
        match made {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fail(error)),
        }
        Self::read(path)?.ok_or_else(|| LogError::BadKey(path.to_path_buf()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/audit.key");
        assert!(Key::read(&path).unwrap().is_none());
        let key = Key::open(&path).unwrap();
        assert_eq!(Key::open(&path).unwrap().bytes(), key.bytes());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn a_key_that_others_reach_is_neither_used_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.key");
        let key = Key::open(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Key::open(&path), Err(LogError::BadKey(_))));
        assert_eq!(fs::read(&path).unwrap(), key.bytes());

        let link = folder.path().join("link.key");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Key::open(&link).is_err());
    }
}
