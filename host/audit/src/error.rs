//! What can go wrong with the log itself.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum LogError {
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] io::Error),
    #[error("{0} belongs to another user")]
    NotOurs(PathBuf),
    #[error("{0} is not a plain file with one name")]
    NotAFile(PathBuf),
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    #[error(
        "{0} is no key that only this user can reach; move it away, and the log that it \
         vouches for, to start anew"
    )]
    BadKey(PathBuf),
    #[error(
        "{0} was written with another key; put that key back, or move the log away to start anew"
    )]
    OtherKey(PathBuf),
    #[error("{0} has been held by another program for too long")]
    Busy(PathBuf),
    #[error("there is no audit log in {0}")]
    NoLog(PathBuf),
    #[error("a record could not be put into words: {0}")]
    Words(#[from] serde_json::Error),
}
