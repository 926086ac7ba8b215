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

use serde::Deserialize;

use crate::seal::{Hash, Seal};

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
    /// What the bytes of the file say.
    pub(crate) fn found(bytes: &[u8], seal: &Seal) -> Found {
        if bytes.is_empty() {
            return Found::Empty;
        }
        match Self::parse(bytes, seal) {
            Some(head) => Found::Head(head),
            None => Found::Damaged,
        }
    }

    /// What is in the file, up to one byte more than belongs there: a longer file must
    /// not pass.
    pub(crate) fn read_bytes(file: &File) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; BYTES + 1];
        loop {
            // So few bytes of a regular file come all at once, or the file ends.
            match file.read_at(&mut bytes, 0) {
                Ok(length) => {
                    bytes.truncate(length);
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Accepts only what `text` would write: each byte counts.
    pub(crate) fn parse(bytes: &[u8], seal: &Seal) -> Option<Self> {
        let raw: Raw = serde_json::from_slice(bytes).ok()?;
        let head = Self {
            seq: raw.seq,
            hash: Hash::parse(raw.hash.as_bytes())?,
            file: raw.file,
            length: raw.length,
            synced: raw.synced,
        };
        (head.text(seal) == bytes).then_some(head)
    }

    /// The whole file. It starts unlike any line, so that neither can be passed off as the
    /// other.
    pub(crate) fn text(&self, seal: &Seal) -> Vec<u8> {
        let body = format!(
            "{{\"head\":1,\"seq\":{},\"hash\":\"{}\",\"file\":{},\"length\":{},\"synced\":{}",
            self.seq,
            self.hash.hex(),
            self.file,
            self.length,
            self.synced
        );
        let sum = seal.of(&[body.as_bytes()]);
        let mut text = body.into_bytes();
        text.extend_from_slice(b",\"seal\":\"");
        text.extend_from_slice(sum.hex().as_bytes());
        text.extend_from_slice(b"\"}");
        text.resize(BYTES - 1, b' ');
        text.push(b'\n');
        text
    }
}

#[derive(Deserialize)]
struct Raw {
    seq: u64,
    hash: String,
    file: u64,
    length: u64,
    synced: u64,
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
        let text = head.text(&seal);
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
