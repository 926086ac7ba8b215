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
    /// What is shown so far, always valid UTF-8. Bytes, because a line of ASCII is
    /// copied here before it is known to be one.
    out: Vec<u8>,
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
            out: Vec::new(),
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
            if let Some(end) = self.show_plain(rest) {
                rest = self.end_line(rest, end);
                continue;
            }
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
            text: String::from_utf8(self.out)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
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

    /// Shows a line that needs no second look: ASCII, and neither continued nor too
    /// long. Says where it ends, or nothing and leaves no trace.
    fn show_plain(&mut self, rest: &[u8]) -> Option<usize> {
        if self.carry_length > 0 {
            return None;
        }
        let before = self.out.len();
        self.begin_line();
        let start = self.out.len();
        let most = LINE_CHARS.min(self.room.saturating_sub(NUMBER_CHARS + 1));
        // One byte more, for the line's end.
        let Some(end) = copy_plain(&rest[..rest.len().min(most + 1)], &mut self.out) else {
            self.out.truncate(before);
            return None;
        };
        if self.out[start..].last() == Some(&b'\r') {
            self.out.pop();
        }
        self.room -= NUMBER_CHARS + (self.out.len() - start) + 1;
        self.shown += 1;
        Some(end)
    }

    /// Ends the line before, and writes the number of this one, right-aligned, and a
    /// tab. By hand and of fixed size: formatting the usual way takes longer than
    /// all else that is done to a line.
    fn begin_line(&mut self) {
        let mut begin = *b"\n      \t";
        let Some(mut rest) = u32::try_from(self.current)
            .ok()
            .filter(|line| *line < 1_000_000)
        else {
            let wide = format!("\n{}\t", self.current);
            let from = usize::from(self.shown == 0);
            self.out.extend_from_slice(&wide.as_bytes()[from..]);
            return;
        };
        for digit in begin[1..NUMBER_CHARS].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if self.shown > 0 {
            self.out.extend_from_slice(&begin);
        } else {
            self.out.extend_from_slice(&begin[1..]);
        }
    }

    /// Writes one line, of which `bytes` may be only the beginning.
    fn show(&mut self, bytes: &[u8], length: usize) {
        let bytes = match bytes.strip_suffix(b"\r") {
            Some(stripped) if bytes.len() == length => stripped,
            Some(_) | None => bytes,
        };
        let bytes = &bytes[..bytes.len().min(LINE_BYTES)];
        let text = decode(bytes);
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

        let chars = NUMBER_CHARS + shown.chars().count() + note.chars().count() + 1;
        if chars > self.room {
            self.out_of_room = true;
            return;
        }
        self.room -= chars;
        self.begin_line();
        self.out.extend_from_slice(shown.as_bytes());
        self.out.extend_from_slice(note.as_bytes());
        self.shown += 1;
        self.cut += u64::from(limit.is_some());
        self.lossy |= limit.is_none() && matches!(text, Cow::Owned(_));
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// Copies a line of ASCII without NUL, as nearly all lines are, and says where it
/// ends; nothing is said of other lines, nor of one that does not end here.
///
/// Looks and copies in one go, a block at a time: a guest pays much for each
/// separate search or copy, since the engine does those.
fn copy_plain(from: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let (blocks, rest) = from.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        let before = out.len();
        out.extend_from_slice(block);
        if let Some(at) = first_special(block) {
            out.truncate(before + at);
            return (block[at] == b'\n').then_some(index * BLOCK + at);
        }
    }
    let at = rest.iter().position(|byte| is_special(*byte))?;
    out.extend_from_slice(&rest[..at]);
    (rest[at] == b'\n').then_some(blocks.len() * BLOCK + at)
}

/// Whether a byte is not simply copied.
fn is_special(byte: u8) -> bool {
    !byte.is_ascii() || matches!(byte, 0 | b'\n')
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn first_special(block: &[u8; BLOCK]) -> Option<usize> {
    use core::arch::wasm32::{i8x16, i8x16_bitmask, i8x16_eq, i8x16_lt, i8x16_splat, v128_or};

    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = block.map(u8::cast_signed);
    let bytes = i8x16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    // As signed numbers, what is not ASCII is negative.
    let foreign = i8x16_lt(bytes, i8x16_splat(1));
    let ends = i8x16_eq(bytes, i8x16_splat(b'\n'.cast_signed()));
    let special = i8x16_bitmask(v128_or(foreign, ends));
    (special != 0).then(|| special.trailing_zeros() as usize)
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn first_special(block: &[u8; BLOCK]) -> Option<usize> {
    block.iter().position(|byte| is_special(*byte))
}

/// The text of a line. NUL is shown as its picture: text must survive consumers
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

/// How many lines end in these bytes. Most of a large file is only counted, so this
/// is made for vectors: blocks of fixed size, each counted in single bytes.
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
