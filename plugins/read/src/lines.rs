//! Cuts a stream of bytes into numbered lines and keeps those that are asked for.
//!
//! One collector serves files in memory (one piece) and files in chunks alike.
//! Only shown lines are checked, copied and formatted; all others are counted.

use std::borrow::Cow;

use memchr::memchr;

use crate::request::Window;

/// Characters of a line that are shown; longer ones are seldom written by hand.
pub const LINE_CHARS: usize = 2_000;
/// Bytes that surely hold one character more than is shown.
const LINE_BYTES: usize = 4 * (LINE_CHARS + 1);
/// Width of the number and the tab behind it.
const NUMBER_CHARS: usize = 7;

pub struct Lines {
    window: Window,
    /// Characters that may still be written.
    room: usize,
    /// The line that the next byte belongs to, from 1.
    current: u64,
    /// Whether that line has a byte already.
    begun: bool,
    /// The beginning of a shown line that the last chunk did not end.
    carry: Vec<u8>,
    carry_length: usize,
    out: String,
    shown: u64,
    cut: u64,
    out_of_room: bool,
    lossy: bool,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The numbered lines, without a line end behind the last.
    pub text: String,
    pub lines: u64,
    /// Lines fed.
    pub total: u64,
    /// Lines of which only the beginning is shown.
    pub cut: u64,
    /// Whether the room ended before the window did.
    pub out_of_room: bool,
    /// Whether bytes were replaced because they are not UTF-8.
    pub lossy: bool,
}

impl Lines {
    pub fn new(window: Window, room: usize) -> Self {
        Self {
            window,
            room,
            current: 1,
            begun: false,
            carry: Vec::new(),
            carry_length: 0,
            out: String::new(),
            shown: 0,
            cut: 0,
            out_of_room: false,
            lossy: false,
        }
    }

    pub fn feed(&mut self, chunk: &[u8]) {
        if self.out.capacity() == 0 {
            // Growing little by little would copy it, and touch twice the memory.
            self.out.reserve(self.room.min(2 * chunk.len()));
        }
        let mut rest = chunk;
        while self.current < self.window.first {
            match memchr(b'\n', rest) {
                Some(end) => rest = self.end_line(rest, end),
                None => {
                    self.begun |= !rest.is_empty();
                    return;
                }
            }
        }
        while self.wants_more() {
            match memchr(b'\n', rest) {
                Some(end) => {
                    self.line(&rest[..end]);
                    rest = self.end_line(rest, end);
                }
                None => {
                    self.begun |= !rest.is_empty();
                    self.stash(rest);
                    return;
                }
            }
        }
        if let Some(last) = rest.last() {
            self.current += count_line_ends(rest);
            self.begun = *last != b'\n';
        }
    }

    pub fn finish(mut self) -> Shown {
        if self.begun && self.current >= self.window.first && self.wants_more() {
            self.line(b"");
        }
        Shown {
            text: self.out,
            lines: self.shown,
            total: self.current - 1 + u64::from(self.begun),
            cut: self.cut,
            out_of_room: self.out_of_room,
            lossy: self.lossy,
        }
    }

    /// Whether no further byte can add to what is shown.
    pub fn is_complete(&self) -> bool {
        self.current >= self.window.first && !self.wants_more()
    }

    fn wants_more(&self) -> bool {
        self.shown < self.window.limit && !self.out_of_room
    }

    fn end_line<'a>(&mut self, rest: &'a [u8], end: usize) -> &'a [u8] {
        self.current += 1;
        self.begun = false;
        &rest[end + 1..]
    }

    fn stash(&mut self, part: &[u8]) {
        let free = LINE_BYTES.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(&part[..part.len().min(free)]);
        self.carry_length += part.len();
    }

    /// Takes the end of a line, and with it the line.
    fn line(&mut self, end: &[u8]) {
        if self.carry_length == 0 {
            return self.show(end, end.len());
        }
        self.stash(end);
        let carry = std::mem::take(&mut self.carry);
        let length = std::mem::take(&mut self.carry_length);
        self.show(&carry, length);
    }

    /// Writes one line, of which `bytes` may be only the beginning.
    fn show(&mut self, bytes: &[u8], length: usize) {
        let bytes = match bytes.strip_suffix(b"\r") {
            Some(stripped) if bytes.len() == length => stripped,
            Some(_) | None => bytes,
        };
        let bytes = &bytes[..bytes.len().min(LINE_BYTES)];
        let plain = is_plain(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) if plain => Cow::Borrowed(text),
            Ok(_) | Err(_) => decode(bytes),
        };
        let limit = if text.len() <= LINE_CHARS {
            None
        } else {
            text.char_indices().nth(LINE_CHARS).map(|(at, _)| at)
        };
        let shown = &text[..limit.unwrap_or(text.len())];
        let note = match limit {
            None => String::new(),
            Some(_) => format!(" … [line cut: {LINE_CHARS} characters of {length} bytes shown]"),
        };

        let shown_chars = if plain {
            shown.len()
        } else {
            shown.chars().count()
        };
        let chars = NUMBER_CHARS + shown_chars + note.chars().count() + 1;
        if chars > self.room {
            self.out_of_room = true;
            return;
        }
        self.room -= chars;
        if self.shown > 0 {
            self.out.push('\n');
        }
        push_number(&mut self.out, self.current);
        self.out.push_str(shown);
        self.out.push_str(&note);
        self.shown += 1;
        self.cut += u64::from(limit.is_some());
        self.lossy |= limit.is_none() && matches!(text, Cow::Owned(_));
    }
}

/// Whether a line is ASCII without NUL, as nearly all are: then it is shown as it is,
/// a character a byte. Whole blocks are looked at without a branch, for vectors.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn is_plain(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let plain = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(true, |plain, byte| plain & matches!(byte, 1..=0x7f))
    };
    blocks.iter().all(|block| plain(block)) && plain(rest)
}

/// The text of a line that is not plain. NUL is shown as its picture: text must survive consumers
/// that end at NUL.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // The lossy decoder goes byte by byte; most lines need none of it.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    if memchr(0, bytes).is_some() {
        Cow::Owned(text.replace('\0', "\u{2400}"))
    } else {
        text
    }
}

/// Writes a line number, right-aligned, and the tab behind it. By hand: formatting
/// the usual way takes longer than all else that is done to a line.
fn push_number(out: &mut String, number: u64) {
    const WIDTH: usize = NUMBER_CHARS - 1;
    let mut digits = [b' '; 20];
    let mut rest = number;
    let mut first = digits.len();
    while first == digits.len() || rest > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let from = first.min(digits.len() - WIDTH);
    out.extend(digits[from..].iter().map(|digit| char::from(*digit)));
    out.push('\t');
}

/// How many lines end in these bytes. Most of a large file is only counted, so this
/// is made for vectors: blocks of fixed size, each counted in single bytes.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn count_line_ends(bytes: &[u8]) -> u64 {
    // A byte can count so far; a multiple of the width of a vector.
    const BLOCK: usize = 240;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let ends = |bytes: &[u8]| -> u8 { bytes.iter().map(|byte| u8::from(*byte == b'\n')).sum() };
    let in_blocks: u64 = blocks.iter().map(|block| u64::from(ends(block))).sum();
    in_blocks + u64::from(ends(rest))
}

#[cfg(test)]
mod tests;
