//! Finds out where the log really ends, when its head does not say so.
//!
//! That is so after a crash (a line without its entry in the head, a line that is not
//! whole, a rotation that was begun), and when somebody else had a hand in the folder.
//! The writer goes on in either case, since what happens next is worth keeping too, and
//! says in its next line what it found; what cannot come from a crash stays a finding of
//! `verify` for good.

use crate::error::LogError;
use crate::head::{Found, Head};
use crate::line;
use crate::lines::Lines;
use crate::place::{CURRENT, Folder, number_of, rotated_name};
use crate::record::{Chain, Kind, Missing, Record, Torn};
use crate::seal::{Hash, Seal};

/// The end of the log, and what has to be said about it.
pub(crate) struct End {
    pub(crate) head: Head,
    /// What the next line must be, if it cannot be just any.
    pub(crate) note: Option<(Kind, Chain)>,
    /// The end is not the end of a line; the next one must begin with a newline.
    pub(crate) wants_newline: bool,
}

/// Which form the lines have.
const FORMAT: u32 = 1;

pub(crate) fn find_end(folder: &Folder, seal: &Seal, found: &Found) -> Result<End, LogError> {
    let rotated = folder.rotated()?;
    let current = scan(folder, seal, CURRENT)?;
    let known = match found {
        Found::Head(head) => Some(head),
        Found::Empty | Found::Damaged => None,
    };
    let newest = rotated.last().copied();
    let number = current
        .number
        .or(newest.map(|number| number + 1))
        .or(known.map(|head| head.file))
        .unwrap_or(1);
    let before = match (current.last, newest) {
        (None, Some(newest)) => scan(folder, seal, &rotated_name(newest))?,
        (Some(_), _) | (None, None) => Scanned::default(),
    };
    let last = current.last.or(before.last);
    // Lines, but none of ours, and a head that is not ours: to go on here would make
    // one log of two, and neither could be verified.
    if known.is_none() && last.is_none() && current.foreign + before.foreign > 0 {
        return Err(LogError::OtherKey(folder.path().join(CURRENT)));
    }
    let (seq, hash) = last.unwrap_or((0, Hash::START));
    let is_new = matches!(found, Found::Empty) && current.length == 0 && rotated.is_empty();

    let mut chain = Chain {
        torn: current.torn,
        ..Chain::default()
    };
    let mut head = Head {
        seq,
        hash,
        file: number,
        length: current.length,
        synced: known.map_or(0, |head| head.synced.min(seq)),
    };
    match known {
        Some(known) if known.seq > seq => {
            chain.missing = Some(Missing {
                from: seq + 1,
                to: known.seq,
            });
            // Numbers are never given twice: the gap stays to be seen.
            head.seq = known.seq;
        }
        Some(_) => {}
        None => chain.head_lost = !is_new,
    }
    let note = if current.last.is_some() {
        (chain != Chain::default()).then_some((Kind::Recovered, chain))
    } else if number > 1 {
        Some((Kind::Rotated, rotation(chain, number - 1, seq, hash)))
    } else {
        chain.format = Some(FORMAT);
        chain.keyed = Some(seal.is_keyed());
        Some((Kind::Begun, chain))
    };
    Ok(End {
        head,
        note,
        wants_newline: current.wants_newline,
    })
}

/// What the first line of a file says about the one before.
pub(crate) fn rotation(chain: Chain, number: u64, seq: u64, hash: Hash) -> Chain {
    Chain {
        file: Some(rotated_name(number)),
        last_seq: Some(seq),
        last: Some(hash.hex()),
        ..chain
    }
}

/// What is in a file.
#[derive(Default)]
struct Scanned {
    length: u64,
    /// The last line that holds.
    last: Option<(u64, Hash)>,
    /// Which file of the log it is, if its first line says so.
    number: Option<u64>,
    /// What comes after the last line that holds.
    torn: Option<Torn>,
    wants_newline: bool,
    /// Lines that have the form of one and another hash.
    foreign: u64,
}

fn scan(folder: &Folder, seal: &Seal, name: &str) -> Result<Scanned, LogError> {
    let mut scanned = Scanned::default();
    let Some(file) = folder.open_to_read(name)? else {
        return Ok(scanned);
    };
    let fail = |error| folder.fail(name, error);
    let mut lines = Lines::new(file, u64::MAX);
    let mut rest = (0, seal.start());
    while let Some(piece) = lines.next().map_err(fail)? {
        scanned.length += piece.raw.len() as u64;
        scanned.wants_newline = piece.line().is_none();
        // A line that lacks only its newline is whole once it has one.
        let line = line::read(piece.without_newline(), seal);
        scanned.foreign += u64::from(line.as_ref().is_some_and(|line| !line.holds));
        match line.filter(|line| line.holds) {
            Some(line) => {
                if scanned.last.is_none() {
                    scanned.number = file_number(piece.raw);
                }
                scanned.last = Some((line.seq, line.hash));
                rest = (0, seal.start());
            }
            None => {
                rest.0 += piece.raw.len() as u64;
                rest.1.add(piece.raw);
            }
        }
    }
    if rest.0 > 0 {
        if scanned.wants_newline {
            // The writer ends it before it speaks of it.
            rest.0 += 1;
            rest.1.add(b"\n");
        }
        scanned.torn = Some(Torn {
            bytes: rest.0,
            hash: rest.1.end().hex(),
        });
    }
    Ok(scanned)
}

/// Which file of its log starts with this line.
fn file_number(line: &[u8]) -> Option<u64> {
    let record: Record = serde_json::from_slice(line).ok()?;
    match record.kind {
        Kind::Begun => Some(1),
        Kind::Rotated => Some(number_of(record.what.chain?.file.as_deref()?)? + 1),
        Kind::Decision
        | Kind::Call
        | Kind::Refusal
        | Kind::Ended
        | Kind::Dropped
        | Kind::Pruned
        | Kind::Recovered
        | Kind::Lost => None,
    }
}
