//! What is kept of one file, as the searcher's sinks.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::merge::{Merge, Room};
use super::stoppable::Stoppable;
use super::{Line, Stop};

/// How far past a match the count of matches may look, for patterns that look
/// ahead. The same as in ripgrep, or counts would differ.
const LOOK_AHEAD: usize = 128;

/// Counts matches; ends at the first one when only that it matches is wanted.
pub(super) struct CountSink<'a> {
    pub matcher: &'a Stoppable,
    pub first_only: bool,
    pub spans_lines: bool,
    pub stop: &'a Stop,
    pub count: u64,
}

impl Sink for CountSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += if self.spans_lines && !self.first_only {
            self.matches_within(found)?.max(1)
        } else {
            1
        };
        Ok(!self.first_only && !self.stop.is_stopped())
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        // A count up to the first NUL byte would mislead, so there is none.
        if finish.binary_byte_offset().is_some() {
            self.count = 0;
        }
        Ok(())
    }
}

impl CountSink<'_> {
    /// The searcher joins matches that touch the same lines; this tells them
    /// apart again.
    fn matches_within(&self, found: &SinkMatch<'_>) -> io::Result<u64> {
        let range = found.bytes_range_in_buffer();
        let buffer = found.buffer();
        let end = buffer.len().min(range.end.saturating_add(LOOK_AHEAD));
        let mut count = 0;
        self.matcher
            .find_iter_at(buffer.get(..end).unwrap_or(buffer), range.start, |one| {
                let inside = one.start() < range.end;
                count += u64::from(inside);
                inside
            })
            .map_err(io::Error::other)?;
        Ok(count)
    }
}

/// A line with what it weighs uncut.
pub(super) struct Kept {
    pub line: Line,
    pub bytes: usize,
}

/// Collects lines, but no more than the window can use.
///
/// Which lines of a file the window wants depends on how many lines the files
/// before it have, and those are still being searched. So a file keeps its lines
/// from the first one on; when that grows past the window's bytes, it waits until
/// all files before it are merged and drops what the window skips.
pub(super) struct LineSink<'a> {
    index: usize,
    merge: &'a Merge,
    stop: &'a Stop,
    room: Room,
    room_is_exact: bool,
    /// Lines seen that the window skips for certain.
    pub skipped: u64,
    pub kept: Vec<Kept>,
    bytes: usize,
}

impl<'a> LineSink<'a> {
    pub(super) fn new(index: usize, merge: &'a Merge, stop: &'a Stop) -> Self {
        let room = merge.whole_room();
        Self {
            index,
            merge,
            stop,
            // Nothing to skip: lines before this file can only shorten the rest.
            room_is_exact: room.skip == 0,
            room,
            skipped: 0,
            kept: Vec::new(),
            bytes: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a line; `false` when the window can use no further one.
    fn keep(&mut self, number: u64, bytes: &[u8], is_match: bool) -> bool {
        if self.stop.is_stopped() || self.merge.is_full() {
            return false;
        }
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if self.room_is_exact && self.skipped < self.room.skip {
            self.skipped += 1;
            return true;
        }
        let text = lossy(bytes, self.room.bytes);
        self.bytes += text.len();
        self.kept.push(Kept {
            line: Line {
                number,
                text,
                is_match,
            },
            bytes: bytes.len(),
        });
        if self.bytes > self.room.bytes && !self.room_is_exact {
            self.make_exact();
        }
        // One more than fits is kept as the proof that there is more.
        let seen = self.skipped + self.kept.len() as u64;
        let enough = self.room.skip.saturating_add(self.room.limit);
        self.bytes <= self.room.bytes && seen <= enough
    }

    fn make_exact(&mut self) {
        let Some(room) = self.merge.wait_for_turn(self.index, self.stop) else {
            return;
        };
        self.room = room;
        self.room_is_exact = true;
        let skip = usize::try_from(room.skip).unwrap_or(usize::MAX);
        let dropped = skip.min(self.kept.len());
        for kept in self.kept.drain(..dropped) {
            self.bytes -= kept.line.text.len();
        }
        self.skipped = dropped as u64;
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let first = found.line_number().unwrap_or(0);
        for (number, line) in (first..).zip(found.lines()) {
            if !self.keep(number, line, true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.keep(around.line_number().unwrap_or(0), around.bytes(), false))
    }
}

/// The beginning of a line that fits into `most` bytes, as valid text.
fn lossy(bytes: &[u8], most: usize) -> String {
    let Some(start) = bytes.get(..most) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut text = String::from_utf8_lossy(start).into_owned();
    // A character cut in two became a replacement; that one is ours, not the
    // file's.
    if bytes.len() > most && text.ends_with(char::REPLACEMENT_CHARACTER) {
        text.pop();
    }
    text
}
