//! A line of the log, byte by byte.
//!
//! `{"seq":N,"kind":"…",…,"prev":"…","hash":"…"}`: the number comes first, the hash of the
//! line before and the line's own come last, and nothing stands between them but what is
//! written here. So the hash is over the very bytes of the line without its last member;
//! nothing is parsed and written anew to verify it, and no two texts have the same hash.

use crate::error::LogError;
use crate::record::Body;
use crate::seal::{HEX, Hash, Seal};

/// More than the longest record that is ever written, and little enough to hold. Longer
/// lines are nobody's of ours.
pub(crate) const LONGEST: usize = 1 << 20;

const SEQ: &[u8] = b"{\"seq\":";
const KIND: &[u8] = b",\"kind\":\"";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";
const END: &[u8] = b"\"}";

/// A record that lacks only its place in the chain.
pub(crate) struct Draft(Vec<u8>);

impl Draft {
    pub(crate) fn new(body: &Body<'_>) -> Result<Self, LogError> {
        let mut json = serde_json::to_vec(body)?;
        // Its members go between the number and the hashes.
        json.pop();
        if let Some(first) = json.first_mut() {
            *first = b',';
        }
        Ok(Self(json))
    }
}

/// Writes a line with its newline, and answers with its hash.
pub(crate) fn write(out: &mut Vec<u8>, seal: &Seal, seq: u64, draft: &Draft, prev: Hash) -> Hash {
    let start = out.len();
    out.extend_from_slice(SEQ);
    out.extend_from_slice(seq.to_string().as_bytes());
    out.extend_from_slice(&draft.0);
    out.extend_from_slice(PREV);
    out.extend_from_slice(prev.hex().as_bytes());
    out.push(b'"');
    let hash = seal.of(&[&out[start..], b"}"]);
    out.extend_from_slice(HASH);
    out.extend_from_slice(hash.hex().as_bytes());
    out.extend_from_slice(END);
    out.push(b'\n');
    hash
}

/// A line that has the form of one.
pub(crate) struct Line<'a> {
    pub(crate) seq: u64,
    pub(crate) kind: &'a [u8],
    pub(crate) prev: Hash,
    /// The hash that the line says it has.
    pub(crate) hash: Hash,
    /// Whether it really has it.
    pub(crate) holds: bool,
}

/// Reads a line without its newline. `None` if it has not the form of one.
pub(crate) fn read<'a>(bytes: &'a [u8], seal: &Seal) -> Option<Line<'a>> {
    let rest = bytes.strip_suffix(END)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(HEX)?)?;
    let body = rest.strip_suffix(HASH)?;
    let rest = body.strip_suffix(b"\"")?;
    let (rest, prev) = rest.split_at_checked(rest.len().checked_sub(HEX)?)?;
    let rest = rest.strip_suffix(PREV)?.strip_prefix(SEQ)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(digits);
    let rest = rest.strip_prefix(KIND)?;
    let kind = &rest[..rest.iter().position(|byte| *byte == b'"')?];
    let hash = Hash::parse(hash)?;
    Some(Line {
        seq: std::str::from_utf8(digits).ok()?.parse().ok()?,
        kind,
        prev: Hash::parse(prev)?,
        hash,
        holds: seal.of(&[body, b"}"]) == hash,
    })
}

/// Whether the bytes could be what a crash left of the line with this number: its start,
/// or the zeros that some file systems leave in its place when the power fails.
pub(crate) fn is_torn(bytes: &[u8], seq: u64) -> bool {
    let mut start = SEQ.to_vec();
    start.extend_from_slice(seq.to_string().as_bytes());
    start.extend_from_slice(KIND);
    let common = bytes.len().min(start.len());
    let starts = bytes[..common] == start[..common];
    !bytes.is_empty() && (starts || bytes.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::record::{Actor, Kind, What};

    fn line(seal: &Seal, prev: Hash) -> Vec<u8> {
        let actor = Actor::default();
        let what = What {
            reason: Some("\"prev\":\"\n\u{1b}é".into()),
            ..What::default()
        };
        let body = Body {
            kind: Kind::Call,
            time: "t",
            session: "s",
            actor: &actor,
            what: &what,
        };
        let mut out = Vec::new();
        write(&mut out, seal, 7, &Draft::new(&body).unwrap(), prev);
        out
    }

    #[test]
    fn a_line_is_json_and_comes_back() {
        let seal = Seal::new(None);
        let out = line(&seal, Hash::START);
        let bytes = out.strip_suffix(b"\n").unwrap();
        assert!(!bytes.contains(&b'\n'));
        let read = read(bytes, &seal).unwrap();
        assert_eq!(
            (read.seq, read.kind, read.prev),
            (7, &b"call"[..], Hash::START)
        );
        assert!(read.holds);
        let json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(json["hash"], read.hash.hex());
        assert_eq!(json["what"]["reason"], "\"prev\":\"\n\u{1b}é");
    }

    #[test]
    fn every_other_byte_at_every_place_breaks_it() {
        let seal = Seal::new(None);
        let out = line(&seal, Hash::START);
        let good = out.strip_suffix(b"\n").unwrap();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.to_vec();
                bad[at] ^= 1 << bit;
                assert!(read(&bad, &seal).is_none_or(|line| !line.holds), "{at}");
            }
        }
    }

    /// The walk over a log takes a line only if it holds, so that what is found here is found
    /// there: the line ends are bytes like the others.
    #[test]
    fn every_byte_of_ten_thousand_lines_counts() {
        let seal = Seal::new(Some(&Key::from_bytes([7; 32])));
        let actor = Actor::default();
        let mut prev = Hash::START;
        let mut log = Vec::new();
        for seq in 1..=10_000 {
            let what = What {
                call: Some(format!("call-{seq}")),
                ..What::default()
            };
            let body = Body {
                kind: Kind::Call,
                time: "2026-01-31T12:30:00.000Z",
                session: "s",
                actor: &actor,
                what: &what,
            };
            prev = write(&mut log, &seal, seq, &Draft::new(&body).unwrap(), prev);
        }
        let holds = |bytes: &[u8]| read(bytes, &seal).is_some_and(|line| line.holds);
        let mut changed = 0_u64;
        let mut start = 0;
        while start < log.len() {
            let length = log[start..].iter().position(|byte| *byte == b'\n').unwrap();
            let end = start + length;
            assert!(holds(&log[start..end]));
            for at in start..end {
                let good = log[at];
                log[at] ^= 1 << (at % 8);
                // A new line end makes two lines of one.
                let mut lines = log[start..end].split(|byte| *byte == b'\n');
                assert!(!lines.all(holds), "byte {at}");
                log[at] = good;
                changed += 1;
            }
            // Without its end it is one with the next.
            let next = log[end + 1..].iter().position(|byte| *byte == b'\n');
            if let Some(next) = next {
                log[end] ^= 1 << (end % 8);
                assert!(!holds(&log[start..end + 1 + next]), "byte {end}");
                log[end] = b'\n';
                changed += 1;
            }
            start = end + 1;
        }
        assert_eq!(changed, log.len() as u64 - 1);
    }

    #[test]
    fn only_the_start_of_the_next_line_is_torn() {
        let seal = Seal::new(None);
        let out = line(&seal, Hash::START);
        for length in 1..out.len() {
            assert!(is_torn(&out[..length], 7));
        }
        assert!(is_torn(&[0; 9], 7));
        assert!(!is_torn(&out, 8));
        assert!(!is_torn(b"something", 7));
        assert!(!is_torn(b"", 7));
    }
}
