//! A file as bytes, read with as few calls as its size allows.
//!
//! A file of ordinary size is held as a whole; a large one is taken in chunks, so
//! that memory stays bounded whatever the size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Files up to this size are held in memory as a whole.
pub const WHOLE: u64 = 10 * 1024 * 1024;
/// How much of a larger file is held at a time.
pub const CHUNK: usize = 256 * 1024;

/// How much is asked of the host at a time. It arrives in a buffer of its own before
/// it is copied to its place, and a small one stays in the processor's cache; each
/// time costs a few microseconds.
const PIECE: usize = 128 * 1024;

/// An open file: what was read of it so far, and the way to more.
pub struct Source {
    file: File,
    /// The beginning; all of it when `ended`.
    pub head: Vec<u8>,
    pub ended: bool,
}

impl Source {
    pub fn open(path: &Path, length: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        // One byte more than the length lets a single read tell the end.
        let first = match usize::try_from(length) {
            Ok(length) if length as u64 <= WHOLE => length + 1,
            Ok(_) | Err(_) => CHUNK,
        };
        let mut head = Vec::new();
        let ended = fill(&mut file, &mut head, first)?;
        Ok(Self { file, head, ended })
    }

    /// Replaces `chunk` by the next part of the file; false at the end.
    pub fn next(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        chunk.clear();
        self.ended = fill(&mut self.file, chunk, CHUNK)?;
        Ok(!chunk.is_empty())
    }

    /// The whole file, or `None` when it has more than `most` bytes.
    pub fn whole(mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        while !self.ended {
            if self.head.len() > most {
                return Ok(None);
            }
            self.ended = fill(&mut self.file, &mut self.head, WHOLE as usize)?;
        }
        Ok((self.head.len() <= most).then_some(self.head))
    }
}

/// Appends up to `wanted` bytes; true when the file ended before that.
fn fill(file: &mut File, buffer: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
    let mut filled = buffer.len();
    let end = filled + wanted;
    buffer.reserve_exact(wanted);
    let ended = loop {
        if filled == end {
            break false;
        }
        buffer.resize(end.min(filled + PIECE), 0);
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break true,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    buffer.truncate(filled);
    Ok(ended)
}
