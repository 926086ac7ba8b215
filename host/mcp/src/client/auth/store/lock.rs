//! One at a time, over all programs of the user. The kernel ends a lock with its holder.

use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};

use super::file::Folder;
use crate::client::auth::error::StoreError;

/// To exchange a small file takes milliseconds. Whoever holds it for so long is stopped.
const SHORT: Duration = Duration::from_secs(10);

/// A renewal ends within half of this; then the next one has its turn, and finds the new
/// tokens.
const LONG: Duration = Duration::from_secs(180);

/// Held until it is dropped.
#[derive(Debug)]
pub(in crate::client::auth) struct Guard {
    /// Closing it ends the lock.
    _file: File,
}

/// For a thread that may block.
pub(super) fn alone(folder: &Folder, name: &str) -> Result<Guard, StoreError> {
    let file = folder.lock_file(name)?;
    let started = Instant::now();
    let mut pause = Duration::from_micros(100);
    while !taken(&file, folder, name)? {
        if started.elapsed() > SHORT {
            return Err(StoreError::Busy(folder.path_of(name)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    Ok(Guard { _file: file })
}

/// For a task that waits.
pub(super) async fn patiently(folder: &Folder, name: &str) -> Result<Guard, StoreError> {
    let file = folder.lock_file(name)?;
    let started = Instant::now();
    while !taken(&file, folder, name)? {
        if started.elapsed() > LONG {
            return Err(StoreError::Busy(folder.path_of(name)));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(Guard { _file: file })
}

fn taken(file: &File, folder: &Folder, name: &str) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Interrupted => {
            Ok(false)
        }
        Err(TryLockError::Error(error)) => Err(StoreError::Io(folder.path_of(name), error)),
    }
}
