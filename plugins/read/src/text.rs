//! Draws a text file: numbered lines, and notes about what is not shown.

use serde_json::json;
use toolbay_sdk::ToolError;

use crate::kind::Encoding;
use crate::lines::{Lines, Shown};
use crate::reading::{Check, OUTPUT_CHARS, Reading};
use crate::request::Window;
use crate::source::Source;

/// Kept free of the output limit for the notes behind the lines.
const NOTE_CHARS: usize = 500;
/// Up to here a file's lines are counted and looked for; beyond it the wait would
/// cost more than the number is worth. The host looks at whole files up to here too.
const COUNTED_BYTES: u64 = 1024 * 1024 * 1024;

pub fn read(
    mut source: Source,
    encoding: Encoding,
    window: Window,
    check: Check<'_>,
) -> Result<Reading, ToolError> {
    let mut decoder = Decoder::new(encoding);
    let mut lines = Lines::new(window, OUTPUT_CHARS - NOTE_CHARS);
    let mut bytes = source.head.len() as u64;
    decoder.feed(&source.head, &mut lines);

    // Somebody has counted the lines already, unless a line end is two bytes.
    let known = match encoding {
        Encoding::Utf8 | Encoding::Utf8Marked => source.size.lines,
        Encoding::Utf16Little | Encoding::Utf16Big => None,
    };
    let is_large = source.size.bytes > COUNTED_BYTES;
    let mut chunk = std::mem::take(&mut source.head);
    let mut stopped;
    loop {
        // A file without an end, or with one line of a terabyte, is left at the bound.
        let too_far = bytes > COUNTED_BYTES;
        let may_stop = known.is_some() || is_large || too_far;
        stopped = (may_stop && lines.is_complete() || too_far) && !source.ended;
        if stopped || !source.next(&mut chunk)? {
            break;
        }
        check()?;
        decoder.feed(&chunk, &mut lines);
        bytes += chunk.len() as u64;
    }
    let mut shown = lines.finish();
    if let (true, Some(known)) = (stopped, known) {
        // Never fewer than were seen: the file may have grown since.
        shown.total = shown.total.max(known);
    }
    let count = match !stopped || known.is_some() {
        true => Count::Taken,
        false => Count::NotTaken {
            bytes: bytes.max(source.size.bytes),
        },
    };
    Ok(draw(shown, window, count))
}

/// Whether all lines of the file were counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Taken,
    /// The file is too large; it has at least so many bytes.
    NotTaken {
        bytes: u64,
    },
}

/// Draws text that is in memory already.
pub fn draw_bytes(bytes: &[u8], window: Window) -> Reading {
    let mut lines = Lines::new(window, OUTPUT_CHARS - NOTE_CHARS);
    lines.feed(bytes);
    draw(lines.finish(), window, Count::Taken)
}

fn draw(shown: Shown, window: Window, count: Count) -> Reading {
    let Shown { lines, total, .. } = shown;
    let mut structured = json!({
        "kind": "text",
        "first_line": window.first,
        "lines": lines,
        "total_lines": total,
    });
    if let (Count::NotTaken { bytes }, Some(fields)) = (count, structured.as_object_mut()) {
        fields.remove("total_lines");
        fields.insert("bytes".into(), json!(bytes));
    }
    if total == 0 {
        return Reading::text("(The file exists, but it is empty.)", structured).with_whole(true);
    }
    if let (0, Count::NotTaken { bytes }) = (lines, count) {
        let text = format!(
            "(The file has {bytes} bytes, and line {} does not lie in the first GiB, which is as far as \
             lines are looked for; use a shell command such as tail -c or sed -n for the rest.)",
            window.first
        );
        return Reading::notice(text, structured);
    }
    if lines == 0 {
        let text = format!(
            "(The file has {}, so offset {} is beyond its end.)",
            plural(total, "line"),
            window.first
        );
        return Reading::notice(text, structured);
    }

    let last = window.first + lines - 1;
    let mut text = shown.text;
    if let Count::NotTaken { bytes } = count {
        text.push_str(&format!(
            "\n\n(Lines {}-{last} are shown. The file has {bytes} bytes, too many to count its lines or to \
             edit it; use offset {} and limit to read on.)",
            window.first,
            last + 1
        ));
    } else if last < total {
        let why = if shown.out_of_room {
            format!("The limit of {OUTPUT_CHARS} characters is reached. ")
        } else {
            String::new()
        };
        text.push_str(&format!(
            "\n\n({why}Lines {}-{last} of {total} are shown; continue with offset {}.)",
            window.first,
            last + 1
        ));
    }
    if shown.lossy {
        text.push_str("\n\n(Bytes that are not valid UTF-8 are shown as \u{fffd}.)");
    }
    let whole = lines == total && count == Count::Taken && shown.cut == 0;
    Reading::text(text, structured).with_whole(whole)
}

pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Turns chunks of a file into chunks of UTF-8.
enum Decoder {
    Utf8 {
        /// Bytes of the byte order mark still to be skipped.
        skip: usize,
    },
    Utf16 {
        unit: fn([u8; 2]) -> u16,
        skip: usize,
        /// Half a unit, or the first half of a pair, at the end of a chunk.
        left: Vec<u8>,
    },
}

impl Decoder {
    fn new(encoding: Encoding) -> Self {
        let utf16 = |unit| Self::Utf16 {
            unit,
            skip: 2,
            left: Vec::new(),
        };
        match encoding {
            Encoding::Utf8 => Self::Utf8 { skip: 0 },
            Encoding::Utf8Marked => Self::Utf8 { skip: 3 },
            Encoding::Utf16Little => utf16(u16::from_le_bytes),
            Encoding::Utf16Big => utf16(u16::from_be_bytes),
        }
    }

    fn feed(&mut self, chunk: &[u8], lines: &mut Lines) {
        match self {
            Self::Utf8 { skip } => {
                // The mark was seen in the head, so it lies in the first chunk.
                let from = std::mem::take(skip).min(chunk.len());
                lines.feed(&chunk[from..]);
            }
            Self::Utf16 { unit, skip, left } => {
                let from = std::mem::take(skip).min(chunk.len());
                left.extend_from_slice(&chunk[from..]);
                let (pairs, half) = left.as_chunks::<2>();
                let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
                let mut keep = half.len();
                if let Some(0xd800..=0xdbff) = units.last() {
                    units.pop();
                    keep += 2;
                }
                lines.feed(String::from_utf16_lossy(&units).as_bytes());
                left.drain(..left.len() - keep);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoding: Encoding, bytes: &[u8], chunk: usize) -> String {
        let mut decoder = Decoder::new(encoding);
        let mut lines = Lines::new(
            Window {
                first: 1,
                limit: 10,
            },
            1000,
        );
        let first = chunk.max(3).min(bytes.len());
        decoder.feed(&bytes[..first], &mut lines);
        for part in bytes[first..].chunks(chunk) {
            decoder.feed(part, &mut lines);
        }
        lines.finish().text
    }

    #[test]
    fn every_encoding_gives_the_same_lines_in_any_chunks() {
        let text = "aä€\n𝄞 end\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (encoding, bytes) in [
            (Encoding::Utf8, text.as_bytes().to_vec()),
            (
                Encoding::Utf8Marked,
                [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            ),
            (Encoding::Utf16Little, [&b"\xff\xfe"[..], &little].concat()),
            (Encoding::Utf16Big, [&b"\xfe\xff"[..], &big].concat()),
        ] {
            for chunk in [1, 2, 3, 5, 100] {
                assert_eq!(
                    decode(encoding, &bytes, chunk),
                    "     1\taä€\n     2\t𝄞 end",
                    "{encoding:?} in chunks of {chunk}"
                );
            }
        }
    }

    #[test]
    fn only_a_complete_reading_counts_as_whole() {
        let long = "x".repeat(2_001);
        let wide = format!("{}\n", "x".repeat(1_900)).repeat(60);
        for (text, first, limit, whole, part) in [
            ("a\nb\n", 1, 2_000, true, "     2\tb"),
            ("", 1, 2_000, true, "empty"),
            ("a\nb\n", 2, 2_000, false, "     2\tb"),
            (
                "a\nb\n",
                1,
                1,
                false,
                "(Lines 1-1 of 2 are shown; continue with offset 2.)",
            ),
            (
                "a\nb\n",
                3,
                1,
                false,
                "(The file has 2 lines, so offset 3 is beyond its end.)",
            ),
            (&long, 1, 2_000, false, "line cut"),
            (
                &wide,
                1,
                2_000,
                false,
                "limit of 100000 characters is reached. Lines 1-52 of 60",
            ),
        ] {
            let reading = draw_bytes(text.as_bytes(), Window { first, limit });
            assert_eq!(reading.whole, whole, "{part}");
            let text = reading.into_outcome().plain_text();
            assert!(text.contains(part), "{part} in {text}");
            assert!(text.chars().count() <= OUTPUT_CHARS);
        }
    }
}
