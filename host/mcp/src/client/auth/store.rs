//! Where tokens are kept: one file that only its user can read.
//!
//! The folder is opened once for each access and everything else goes through that handle,
//! so nobody can exchange it in between. What others could read or write is refused, never
//! repaired: whoever could read it may have done so.

mod file;
mod lock;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::error::StoreError;
use super::server::Server;
use file::Folder;
pub(super) use lock::Guard;

const TOKENS: &str = "tokens.json";
const LOCK: &str = "tokens.lock";
const VERSION: u32 = 1;

/// The tokens of one user. Cheap to clone; nothing is kept in memory.
#[derive(Clone)]
pub struct TokenStore {
    folder: PathBuf,
}

/// The file, by name and address of the server.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shelf {
    version: u32,
    servers: BTreeMap<String, Entry>,
}

impl TokenStore {
    /// The folder is made if it is not there, and refused if others can reach it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Folder::create(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    /// The file that holds the tokens.
    pub fn path(&self) -> PathBuf {
        self.folder.join(TOKENS)
    }

    /// What is known of a server. Readers need no lock: the file is only ever exchanged
    /// as a whole.
    pub(super) async fn read(&self, server: &Server) -> Result<Option<Entry>, StoreError> {
        let key = key(server);
        self.off_thread(move |store| {
            let folder = Folder::open(&store.folder)?;
            Ok(store.load(&folder)?.servers.remove(&key))
        })
        .await
    }

    /// Changes what is known of a server, alone among all programs.
    pub(super) async fn update<T: Send + 'static>(
        &self,
        server: &Server,
        change: impl FnOnce(&mut Option<Entry>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let key = key(server);
        self.off_thread(move |store| {
            let folder = Folder::create(&store.folder)?;
            let _alone = lock::alone(&folder, LOCK)?;
            let mut shelf = store.load(&folder)?;
            let before = shelf.servers.remove(&key);
            let mut after = before.clone();
            let answer = change(&mut after);
            if written(&before) == written(&after) {
                return Ok(answer);
            }
            if let Some(entry) = after {
                shelf.servers.insert(key, entry);
            }
            let text = serde_json::to_vec_pretty(&shelf)
                .map_err(|error| StoreError::Io(store.path(), std::io::Error::other(error)))?;
            folder.replace(TOKENS, &text)?;
            Ok(answer)
        })
        .await
    }

    /// Waits until nobody else, in any program, renews the tokens of this server.
    pub(super) async fn renewing(&self, server: &Server) -> Result<Guard, StoreError> {
        let folder = Folder::create(&self.folder)?;
        lock::patiently(
            &folder,
            &format!("renew-{:016x}.lock", spread(&key(server))),
        )
        .await
    }

    fn load(&self, folder: &Folder) -> Result<Shelf, StoreError> {
        let Some(text) = folder.read(TOKENS)? else {
            return Ok(Shelf {
                version: VERSION,
                servers: BTreeMap::new(),
            });
        };
        // The library's message would repeat the text that it stumbled over.
        let damaged = |line| StoreError::Damaged(self.path(), line);
        let shelf: Shelf = serde_json::from_slice(&text).map_err(|error| damaged(error.line()))?;
        if shelf.version != VERSION {
            return Err(damaged(1));
        }
        Ok(shelf)
    }

    /// Files and locks block; the threads of the runtime must not.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let path = self.path();
        tokio::task::spawn_blocking(move || work(&store))
            .await
            .unwrap_or_else(|error| Err(StoreError::Io(path, std::io::Error::other(error))))
    }
}

impl fmt::Debug for TokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenStore({})", self.folder.display())
    }
}

/// The protocol library's tokens cannot be compared; what would be written of them can.
fn written(entry: &Option<Entry>) -> Option<serde_json::Value> {
    serde_json::to_value(entry).ok()
}

/// No name can be mistaken for part of an address: a line end is in neither.
fn key(server: &Server) -> String {
    format!("{}\n{}", server.name().replace('\n', " "), server.url())
}

/// Gives a server a lock file (FNV-1a). Two servers that share one only wait for each other.
fn spread(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
