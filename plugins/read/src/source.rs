//! A file as bytes, a chunk at a time.
//!
//! Memory stays bounded whatever the size, and what is touched stays few enough
//! bytes for the processor's cache: fresh memory costs more than the reading.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// How much is held and asked of the host at a time. Each time costs a few
/// microseconds.
pub const CHUNK: usize = 128 * 1024;

/// How large a file was when it was last looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    pub bytes: u64,
    /// Lines, if somebody counted them; of encodings that keep ASCII.
    pub lines: Option<u64>,
}

impl Size {
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes, lines: None }
    }
}

/// An open file: what was read of it so far, and the way to more.
pub struct Source {
    file: File,
    pub size: Size,
    /// The beginning; all of it when `ended`.
    pub head: Vec<u8>,
    pub ended: bool,
}

impl Source {
    pub fn open(path: &Path, size: Size) -> io::Result<Self> {
        let mut file = File::open(path)?;
        // One byte more than the length lets a single read tell the end.
        let first =
            usize::try_from(size.bytes).map_or(CHUNK, |bytes| CHUNK.min(bytes.saturating_add(1)));
        let mut head = Vec::new();
        let ended = fill(&mut file, &mut head, first)?;
        Ok(Self {
            file,
            size,
            head,
            ended,
        })
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
            self.ended = fill(&mut self.file, &mut self.head, CHUNK)?;
        }
        Ok((self.head.len() <= most).then_some(self.head))
    }
}

/// Appends up to `wanted` bytes; true when the file ended before that.
fn fill(file: &mut File, buffer: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
    let mut filled = buffer.len();
    let end = filled + wanted;
    buffer.resize(end, 0);
    let ended = loop {
        if filled == end {
            break false;
        }
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
