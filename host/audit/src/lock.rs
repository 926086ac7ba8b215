//! One writer at a time, over all programs that share the log.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::LogError;

/// A record takes some ten microseconds. Whoever holds the lock for so long is stopped,
/// and must not stop every other session for good.
const PATIENCE: Duration = Duration::from_secs(2);

/// Held until it is dropped; the kernel drops it when the program dies.
pub(crate) struct Lock<'a>(&'a File);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Share {
    /// To write.
    Alone,
    /// To see files that belong together.
    WithReaders,
}

impl<'a> Lock<'a> {
    pub(crate) fn take(file: &'a File, share: Share, path: &Path) -> Result<Self, LogError> {
        let operation = match share {
            Share::Alone => FlockOperation::NonBlockingLockExclusive,
            Share::WithReaders => FlockOperation::NonBlockingLockShared,
        };
        let mut started = None;
        let mut pause = Duration::from_micros(20);
        loop {
            match flock(file, operation) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => return Err(LogError::Io(path.to_path_buf(), error.into())),
            }
            if started.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return Err(LogError::Busy(path.to_path_buf()));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // It cannot fail on a file that was locked; closing the file would end it too.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}
