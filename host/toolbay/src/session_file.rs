//! Keeps a session between runs of the program, so that a file read by one
//! `toolbay call` may be edited by the next.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use toolbay_contract::{Session, SessionSnapshot};

/// The file of a session.
pub struct SessionFile {
    path: PathBuf,
    /// What was written last: what has not changed is not written again.
    saved: Mutex<Vec<u8>>,
}

impl SessionFile {
    /// Names may hold letters, digits, `-` and `_`: they become folder names.
    pub fn new(state: &Path, name: &str) -> anyhow::Result<Self> {
        let fits = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !fits {
            bail!("a session's name is 1 to 64 of A-Z a-z 0-9 - _; got {name:?}");
        }
        Ok(Self {
            path: state.join("sessions").join(name).join("session.json"),
            saved: Mutex::default(),
        })
    }

    /// The session's folder. It may not exist yet.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The session as it was left, or a new one.
    pub fn load(&self) -> anyhow::Result<Session> {
        match toolbay_contract::regular_file::read(&self.path, crate::own_file::MOST_BYTES) {
            Ok(bytes) => {
                let snapshot: SessionSnapshot = serde_json::from_slice(&bytes)
                    .with_context(|| self.path.display().to_string())?;
                Ok(Session::restore(snapshot))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => fresh(),
            Err(error) => Err(error).with_context(|| self.path.display().to_string()),
        }
    }

    /// Writes the session in one step.
    pub fn save(&self, session: &Session) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec(&session.snapshot())?;
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        if *saved == bytes {
            return Ok(());
        }
        let folder = self.folder();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| folder.display().to_string())?;
        let temporary = self.path.with_extension(format!("{:x}", random()?));
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .with_context(|| temporary.display().to_string())?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.path).with_context(|| self.path.display().to_string())?;
        *saved = bytes;
        Ok(())
    }
}

/// A session that nobody knows yet.
pub fn fresh() -> anyhow::Result<Session> {
    Ok(Session::new(random()?))
}

/// A name that no other session has.
pub fn new_name() -> anyhow::Result<String> {
    Ok(format!("s-{:016x}", random()?))
}

fn random() -> anyhow::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(u64::from_le_bytes(bytes))
}
