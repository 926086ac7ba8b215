//! Where the log ends, in a file of its own.
//!
//! A chain alone cannot tell that its last lines were cut off: what is left is a chain.
//! So after each line its number and hash are written here, sealed like a line. The file
//! is also the lock, since it alone is never renamed, and it spares the writer a look at
//! the end of the log. It has one length for ever and is written in one go, so that no
//! reader and no crash sees half of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

use crate::seal::{HEX, Hash, Seal};

/// Room for the largest numbers, and less than a sector of any disk.
const BYTES: usize = 320;

/// Where the chain ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    /// Counts the files of the log, from 1.
    pub(crate) file: u64,
    /// Bytes in the current file.
    pub(crate) length: u64,
    /// The last line that is known to be on the disk, and not only with the kernel.
    pub(crate) synced: u64,
}

/// What the file says.
pub(crate) enum Found {
    Head(Head),
    /// It was made just now; nothing was ever written into it.
    Empty,
    /// It is not as this log's writer leaves it.
    Damaged,
}

impl Head {
    pub(crate) fn read(file: &File, seal: &Seal) -> io::Result<Found> {
        // One byte more, so that a longer file is noticed.
        let mut bytes = [0; BYTES + 1];
        let mut length = 0;
        while length < bytes.len() {
            match file.read_at(&mut bytes[length..], length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if length == 0 {
            return Ok(Found::Empty);
        }
        Ok(match Self::parse(&bytes[..length], seal) {
            Some(head) => Found::Head(head),
            None => Found::Damaged,
        })
    }

    pub(crate) fn write(&self, file: &File, seal: &Seal) -> io::Result<()> {
        file.write_all_at(&self.text(seal)?, 0)
    }

    /// Accepts only what `text` would write: each byte counts.
    fn parse(bytes: &[u8], seal: &Seal) -> Option<Self> {
        let json = bytes.trim_ascii_end();
        let raw: Raw = serde_json::from_slice(json).ok()?;
        let head = Self {
            seq: raw.seq,
            hash: Hash::parse(raw.hash.as_bytes())?,
            file: raw.file,
            length: raw.length,
            synced: raw.synced,
        };
        (head.text(seal).ok()? == bytes).then_some(head)
    }

    fn text(&self, seal: &Seal) -> io::Result<Vec<u8>> {
        let mut raw = Raw {
            head: 1,
            seq: self.seq,
            hash: self.hash.hex(),
            file: self.file,
            length: self.length,
            synced: self.synced,
            seal: String::with_capacity(HEX),
        };
        // It starts unlike any line, so that neither can be passed off as the other.
        raw.seal = seal.of(&[&serde_json::to_vec(&raw)?]).hex();
        let mut text = serde_json::to_vec(&raw)?;
        text.resize(BYTES - 1, b' ');
        text.push(b'\n');
        Ok(text)
    }
}

#[derive(Serialize, Deserialize)]
struct Raw {
    head: u32,
    seq: u64,
    hash: String,
    file: u64,
    length: u64,
    synced: u64,
    seal: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_and_no_byte_of_it_may_change() {
        let seal = Seal::new(None);
        let head = Head {
            seq: u64::MAX,
            hash: seal.of(&[b"x"]),
            file: u64::MAX,
            length: u64::MAX,
            synced: u64::MAX,
        };
        let text = head.text(&seal).unwrap();
        assert_eq!(text.len(), BYTES);
        assert_eq!(Head::parse(&text, &seal), Some(head));
        for at in 0..text.len() {
            let mut bad = text.clone();
            bad[at] ^= 1;
            assert_eq!(Head::parse(&bad, &seal), None, "{at}");
        }
        assert_eq!(Head::parse(&text[..BYTES - 1], &seal), None);
    }
}
