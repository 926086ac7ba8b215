//! The file of decisions, one JSON line each. A line counts once it has its end: one that a
//! crash tore was never acted on, so it may be dropped.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::digest::Digest;
use super::error::StoreError;
use super::folder::{Folder, IfAbsent};

/// A decision has some kilobytes, so this is room for more of them than any session makes;
/// to read it takes a second.
const MOST_BYTES: u64 = 128 << 20;
/// The longest line that is written has a hundred lines about images in it.
const LONGEST_LINE: u64 = 1 << 20;
/// How long another program may take to add its line.
const LOCK_ATTEMPTS: usize = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// One line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Record {
    /// The call's id, for people; `key` is what counts.
    pub(super) call: String,
    /// Call and original content.
    pub(super) key: Digest,
    /// Call and shown content.
    pub(super) shown: Digest,
    pub(super) decision: Decision,
}

/// Where a record is. Records stay on the disk: they are many, and seldom asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    offset: u64,
    length: u32,
}

#[derive(Debug)]
pub(super) struct Log {
    folder: Folder,
    path: PathBuf,
    /// None until there is one.
    file: Option<File>,
}

impl Log {
    /// Reads all records, and says what is wrong with the rest.
    pub(super) fn read(folder: Folder, each: impl FnMut(Record, Place)) -> (Self, Vec<String>) {
        let mut log = Self {
            path: folder.log_path(),
            folder,
            file: None,
        };
        let problems = match log.folder.open_log(IfAbsent::Fail) {
            Err(StoreError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(format!(
                "earlier replacements of results are not known: {error}"
            )),
            Ok(file) => {
                let problem = log.read_lines(&file, each);
                log.file = Some(file);
                problem
            }
        };
        (log, problems.into_iter().collect())
    }

    /// Adds a record, which is on the disk when this returns.
    pub(super) fn append(&mut self, record: &Record) -> Result<Place, StoreError> {
        let mut line = serde_json::to_vec(record).map_err(StoreError::at(&self.path))?;
        line.push(b'\n');
        let file = match self.file.take() {
            Some(file) => self.file.insert(file),
            None => self.file.insert(self.folder.open_log(IfAbsent::Create)?),
        };
        lock(file, &self.path)?;
        let added = add_line(file, &line);
        let _ = file.unlock();
        match added.map_err(StoreError::at(&self.path))? {
            Some(place) => Ok(place),
            None => Err(self.full()),
        }
    }

    /// The record at a place, if it is still there.
    pub(super) fn fetch(&self, place: Place) -> Option<Record> {
        let mut line = vec![0; usize::try_from(place.length).ok()?];
        self.file
            .as_ref()?
            .read_exact_at(&mut line, place.offset)
            .ok()?;
        serde_json::from_slice(&line).ok()
    }

    pub(super) fn full(&self) -> StoreError {
        StoreError::Full(self.path.clone())
    }

    fn read_lines(&self, file: &File, mut each: impl FnMut(Record, Place)) -> Option<String> {
        let mut reader = BufReader::new(file.take(MOST_BYTES));
        let mut line = Vec::new();
        let mut offset = 0;
        let mut number = 0_usize;
        let mut damaged = 0_usize;
        let mut first = None;
        loop {
            let length = match read_line(&mut reader, &mut line) {
                Ok(Some(length)) => length,
                Ok(None) => break,
                Err(error) => {
                    return Some(format!("{} was read in part: {error}", self.path.display()));
                }
            };
            number += 1;
            match parse(&line, length) {
                Ok(record) => {
                    // Lines that parse are short.
                    let length = u32::try_from(length).unwrap_or(u32::MAX);
                    each(record, Place { offset, length });
                }
                Err(reason) => {
                    damaged += 1;
                    first.get_or_insert((number, reason));
                }
            }
            offset += length;
        }
        if file
            .metadata()
            .is_ok_and(|metadata| metadata.len() > MOST_BYTES)
        {
            return Some(format!(
                "{} is larger than {MOST_BYTES} bytes; what is behind them is ignored, and nothing is added",
                self.path.display()
            ));
        }
        let (at, reason) = first?;
        Some(format!(
            "{}: {damaged} of {number} lines are damaged and ignored, the first is line {at}: {reason}",
            self.path.display()
        ))
    }
}

fn parse(line: &[u8], length: u64) -> Result<Record, String> {
    if length > LONGEST_LINE {
        return Err(format!("it has {length} bytes, more than any decision"));
    }
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// Reads to the next line end and gives the bytes passed, of which `line` gets no more than
/// a line may have. None at the end, and for a torn last line.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = 0;
    loop {
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', line)? as u64;
        length += read;
        if read == 0 {
            return Ok(None);
        }
        if line.ends_with(b"\n") {
            return Ok(Some(length));
        }
        if read == LONGEST_LINE {
            line.clear();
        }
    }
}

/// Waits for other programs, but not for long: one that never lets go must not stop a call.
fn lock(file: &File, path: &std::path::Path) -> Result<(), StoreError> {
    for attempt in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if attempt + 1 < LOCK_ATTEMPTS => {
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(TryLockError::WouldBlock) => break,
            // Where locks are unknown, a line is still written in one piece.
            Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
    Err(StoreError::Busy(path.to_path_buf()))
}

/// Adds a line behind the last whole one; none if there is no room.
fn add_line(mut file: &File, line: &[u8]) -> io::Result<Option<Place>> {
    let length = line.len() as u64;
    if length > LONGEST_LINE || file.metadata()?.len() + length > MOST_BYTES {
        return Ok(None);
    }
    let offset = end_of_whole_lines(file)?;
    let written = file.write_all(line).and_then(|()| file.sync_data());
    if let Err(error) = written {
        // What did not fit must not stand before the next line.
        let _ = file.set_len(offset);
        return Err(error);
    }
    Ok(u32::try_from(length)
        .ok()
        .map(|length| Place { offset, length }))
}

/// Cuts off what a crash left behind the last line end.
fn end_of_whole_lines(file: &File) -> io::Result<u64> {
    const CHUNK: u64 = 64 << 10;
    let length = file.metadata()?.len();
    let mut end = length;
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        buffer.resize(usize::try_from(end - start).unwrap_or(0), 0);
        file.read_exact_at(&mut buffer, start)?;
        if let Some(at) = buffer.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok(end)
}

#[cfg(test)]
mod tests;
