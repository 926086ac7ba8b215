//! Feeds one file to the searcher, watching the stop flag.
//!
//! Most files are small. Such a file is read with a single call and searched as a
//! slice; the searcher's own reader would spend three calls on it. Larger ones go
//! through that reader in blocks that begin at fixed places of the file. A NUL
//! byte ends the search where its block begins: in ripgrep the place depends on
//! how far earlier files made the buffer grow, and so on timing.

use std::fs::{File, Metadata};
use std::io::{self, Read};

use grep_searcher::{BinaryDetection, Searcher, Sink};

use super::Stop;
use super::pattern::HEAP_LIMIT;
use super::stoppable::Stoppable;

/// How much is read of a file to see whether it is small or binary; the same as
/// ripgrep's.
const START: usize = 64 * 1024;

/// How much is read at once after that. Half of the searcher's buffer, so that a
/// block fits beside the unfinished line before it.
const BLOCK: usize = 32 * 1024;

/// A file may grow by so much while it is searched. What a program writes without end after that is
/// for the next search.
const GROWTH: u64 = HEAP_LIMIT as u64;

/// A buffer for whole files is kept for the next file up to this size.
const KEPT: usize = 16 << 20;

/// What one thread searches with, reused from file to file.
pub(super) struct Reader {
    matcher: Stoppable,
    searcher: Searcher,
    start: Vec<u8>,
    block: Vec<u8>,
    whole: Vec<u8>,
    stop: Stop,
}

impl Reader {
    pub(super) fn new(matcher: Stoppable, searcher: Searcher, stop: Stop) -> Self {
        Self {
            matcher,
            searcher,
            start: vec![0; START],
            block: Vec::new(),
            whole: Vec::new(),
            stop,
        }
    }

    /// Whether matches may span lines, which a pattern may rule out by itself.
    pub(super) fn spans_lines(&self) -> bool {
        self.searcher.multi_line_with_matcher(&self.matcher)
    }

    /// Searches the file. An error means that it could not be read to its end,
    /// or that a NUL byte was found.
    pub(super) fn search<S: Sink<Error = io::Error>>(
        &mut self,
        file: &File,
        metadata: &Metadata,
        sink: S,
    ) -> io::Result<()> {
        let mut source = Watched {
            file,
            stop: &self.stop,
            left: metadata.len().saturating_add(GROWTH),
        };
        let mut filled = 0;
        // The end is known without asking when the file has as many bytes as it
        // says; files of virtual file systems say nothing true.
        let ended = loop {
            let Some(room) = self.start.get_mut(filled..).filter(|room| !room.is_empty()) else {
                break false;
            };
            let count = source.read(room)?;
            filled += count;
            if count == 0 || filled as u64 == metadata.len() && filled < START {
                break true;
            }
        };
        let start = self.start.get(..filled).unwrap_or_default();
        self.searcher.set_binary_detection(BinaryDetection::quit(0));
        if ended {
            return self.searcher.search_slice(&self.matcher, start, sink);
        }
        if self.searcher.multi_line_with_matcher(&self.matcher) {
            return self.search_whole(file, metadata, filled, sink);
        }
        // Text of two-byte characters is full of NUL bytes until it is decoded;
        // then the searcher looks for them itself.
        if is_wide(start) {
            let rest = start.chain(source);
            return self.searcher.search_reader(&self.matcher, rest, sink);
        }
        refuse_binary(start)?;
        self.searcher.set_binary_detection(BinaryDetection::none());
        self.block.clear();
        let rest = Blocks {
            source,
            block: &mut self.block,
            delivered: 0,
        };
        self.searcher
            .search_reader(&self.matcher, start.chain(rest), sink)
    }

    fn search_whole<S: Sink<Error = io::Error>>(
        &mut self,
        file: &File,
        metadata: &Metadata,
        filled: usize,
        sink: S,
    ) -> io::Result<()> {
        let source = Watched {
            file,
            stop: &self.stop,
            left: u64::MAX,
        };
        let expected = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        self.whole.clear();
        self.whole
            .reserve(expected.min(HEAP_LIMIT).saturating_add(1));
        self.whole
            .extend_from_slice(self.start.get(..filled).unwrap_or_default());
        let room = (HEAP_LIMIT - filled) as u64;
        let count = source.take(room + 1).read_to_end(&mut self.whole)?;
        if count as u64 > room {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let result = self.searcher.search_slice(&self.matcher, &self.whole, sink);
        if self.whole.capacity() > KEPT {
            self.whole = Vec::new();
        }
        result
    }
}

fn is_wide(start: &[u8]) -> bool {
    start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF])
}

fn refuse_binary(bytes: &[u8]) -> io::Result<()> {
    if memchr::memchr(0, bytes).is_some() {
        return Err(io::Error::other("binary"));
    }
    Ok(())
}

/// The rest of a file in whole blocks, each of which is free of NUL bytes before
/// any of it is handed out.
struct Blocks<'a> {
    source: Watched<'a>,
    /// A block for which the caller had too little room.
    block: &'a mut Vec<u8>,
    delivered: usize,
}

impl Read for Blocks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(waiting) = self
            .block
            .get(self.delivered..)
            .filter(|rest| !rest.is_empty())
        {
            let count = waiting.len().min(buffer.len());
            if let (Some(to), Some(from)) = (buffer.get_mut(..count), waiting.get(..count)) {
                to.copy_from_slice(from);
            }
            self.delivered += count;
            return Ok(count);
        }
        self.block.clear();
        self.delivered = 0;
        if let Some(room) = buffer.get_mut(..BLOCK) {
            let count = self.source.fill(room)?;
            refuse_binary(room.get(..count).unwrap_or_default())?;
            return Ok(count);
        }
        self.block.resize(BLOCK, 0);
        let count = self.source.fill(self.block)?;
        self.block.truncate(count);
        if let Err(error) = refuse_binary(self.block) {
            self.block.clear();
            return Err(error);
        }
        if count == 0 { Ok(0) } else { self.read(buffer) }
    }
}

/// A file that fails to read once the search is stopped, and ends where it may grow no further.
struct Watched<'a> {
    file: &'a File,
    stop: &'a Stop,
    left: u64,
}

impl Watched<'_> {
    /// Reads until the room is full or the file ends.
    fn fill(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest)? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_stopped() {
            return Err(io::Error::other("stopped"));
        }
        let most = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let room = buffer.get_mut(..most).unwrap_or_default();
        loop {
            match self.file.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    self.left -= result.as_ref().map_or(0, |count| *count as u64);
                    return result;
                }
            }
        }
    }
}
