//! Reads a file line by line, as far as it reached when it was opened.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};

use crate::line::LONGEST;

pub(crate) struct Lines {
    reader: BufReader<Take<File>>,
    buffer: Vec<u8>,
    number: u64,
}

/// A line, or a part of one that is too long to be ours.
pub(crate) struct Piece<'a> {
    /// Counted from 1.
    pub(crate) number: u64,
    /// With its newline, if it has one.
    pub(crate) raw: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The line without its newline; `None` if it never ended.
    pub(crate) fn line(&self) -> Option<&'a [u8]> {
        self.raw.strip_suffix(b"\n")
    }

    pub(crate) fn without_newline(&self) -> &'a [u8] {
        self.line().unwrap_or(self.raw)
    }
}

impl Lines {
    pub(crate) fn new(file: File, length: u64) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, file.take(length)),
            buffer: Vec::new(),
            number: 1,
        }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.buffer.clear();
        let mut bounded = Read::by_ref(&mut self.reader).take(LONGEST as u64);
        if bounded.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        let number = self.number;
        if self.buffer.ends_with(b"\n") {
            self.number += 1;
        }
        Ok(Some(Piece {
            number,
            raw: &self.buffer,
        }))
    }
}
