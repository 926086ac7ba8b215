//! The hash that makes a chain of lines.
//!
//! Without a key it is SHA-256: whoever may write the files can make a whole new chain.
//! With a key it is HMAC-SHA-256: whoever lacks the key can make no line at all.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::key::Key;

/// Hexadecimal digits of a hash.
pub(crate) const HEX: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    /// What stands before the first line.
    pub(crate) const START: Self = Self([0; 32]);

    /// Reads lower-case digits only: one hash has one text, so no byte of it may change.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        if text.len() != HEX {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    pub(crate) fn hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(HEX);
        for byte in self.0 {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// How the lines of one log are hashed.
#[derive(Clone)]
pub(crate) enum Seal {
    Plain,
    /// Ready to start from: the key's own two blocks are hashed once.
    Keyed(Box<Hmac<Sha256>>),
}

impl Seal {
    pub(crate) fn new(key: Option<&Key>) -> Self {
        match key.and_then(|key| Hmac::new_from_slice(key.bytes()).ok()) {
            Some(mac) => Self::Keyed(Box::new(mac)),
            None => Self::Plain,
        }
    }

    pub(crate) fn is_keyed(&self) -> bool {
        matches!(self, Self::Keyed(_))
    }

    pub(crate) fn start(&self) -> Sum {
        match self {
            Self::Plain => Sum::Plain(Sha256::new()),
            Self::Keyed(mac) => Sum::Keyed(mac.clone()),
        }
    }

    pub(crate) fn of(&self, parts: &[&[u8]]) -> Hash {
        let mut sum = self.start();
        for part in parts {
            sum.add(part);
        }
        sum.end()
    }
}

/// A hash under way.
pub(crate) enum Sum {
    Plain(Sha256),
    Keyed(Box<Hmac<Sha256>>),
}

impl Sum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(sum) => Digest::update(sum, bytes),
            Self::Keyed(sum) => Mac::update(&mut **sum, bytes),
        }
    }

    pub(crate) fn end(self) -> Hash {
        match self {
            Self::Plain(sum) => Hash(sum.finalize().into()),
            Self::Keyed(sum) => Hash(sum.finalize().into_bytes().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_hashes_are_the_ones_that_others_know() {
        assert_eq!(
            Seal::new(None).of(&[b"ab", b"c"]).hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        // RFC 4231, case 2, has a short key; padded with zeros it is the same one.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            Seal::new(Some(&Key::from_bytes(key)))
                .of(&[b"what do ya want for nothing?"])
                .hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_hash_has_one_text() {
        let hash = Seal::new(None).of(&[b"x"]);
        let text = hash.hex();
        assert_eq!(Hash::parse(text.as_bytes()), Some(hash));
        assert_eq!(Hash::parse(text.to_uppercase().as_bytes()), None);
        assert_eq!(Hash::parse(&text.as_bytes()[1..]), None);
    }
}
