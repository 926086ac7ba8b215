//! The files of a log as they are at one moment, for those who only read.
//!
//! The lock is held while they are opened, not while they are read: a reader of a long
//! log must not keep calls waiting. What is appended, renamed or removed afterwards does
//! not change what the open files hold up to the lengths noted here.

use std::fs::File;
use std::path::Path;

use crate::anchor;
use crate::error::LogError;
use crate::head::{Found, Head};
use crate::lines::Lines;
use crate::lock::{Lock, Share};
use crate::place::{CURRENT, Folder, HEAD, rotated_name};
use crate::seal::Seal;

pub(crate) struct Snapshot {
    /// In the order of the chain.
    pub(crate) files: Vec<Part>,
    /// `None` if the file is gone.
    pub(crate) head: Option<Found>,
    /// The same of the file outside of the folder.
    pub(crate) anchor: Option<Found>,
}

/// A file of the log.
pub(crate) struct Part {
    pub(crate) name: String,
    /// Its number, if it has one in its name.
    pub(crate) number: Option<u64>,
    file: File,
    length: u64,
}

impl Part {
    pub(crate) fn lines(self) -> Lines {
        Lines::new(self.file, self.length)
    }
}

impl Snapshot {
    pub(crate) fn take(path: &Path, anchor: Option<&Path>, seal: &Seal) -> Result<Self, LogError> {
        let looked = || anchor.map_or(Ok(None), |path| anchor::look(path, seal));
        let folder = match Folder::look(path) {
            Err(LogError::NoLog(_)) => {
                return Ok(Self {
                    files: Vec::new(),
                    head: None,
                    anchor: looked()?,
                });
            }
            other => other?,
        };
        let Some(head) = folder.open_to_read(HEAD)? else {
            // Before the lines: it may be behind them, not they behind it.
            let anchor = looked()?;
            return Self::of_files(&folder, None, anchor);
        };
        let lock = Lock::take(&head, Share::WithReaders, &path.join(HEAD))?;
        let bytes = Head::read_bytes(&head).map_err(|error| folder.fail(HEAD, error))?;
        let found = Head::found(&bytes, seal);
        let snapshot = looked().and_then(|anchor| Self::of_files(&folder, Some(found), anchor));
        drop(lock);
        snapshot
    }

    fn of_files(
        folder: &Folder,
        head: Option<Found>,
        anchor: Option<Found>,
    ) -> Result<Self, LogError> {
        let numbers = folder.rotated()?.into_iter();
        let names = numbers.map(|number| (rotated_name(number), Some(number)));
        let mut files = Vec::new();
        for (name, number) in names.chain([(CURRENT.to_owned(), None)]) {
            if let Some(file) = folder.open_to_read(&name)? {
                let metadata = file.metadata();
                let length = metadata.map_err(|error| folder.fail(&name, error))?.len();
                files.push(Part {
                    name,
                    number,
                    file,
                    length,
                });
            }
        }
        Ok(Self {
            files,
            head,
            anchor,
        })
    }
}
