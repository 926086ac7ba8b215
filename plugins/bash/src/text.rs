//! Output of programs as text for a model: no colours, no cursor movements, no broken letters.

/// Bytes of text that one result may have. It is handed over twice, the second time as JSON, where
/// a line end has two bytes; the host takes sixteen MiB in all.
const MOST: usize = 5 << 20;

/// What a program wrote, as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Plain {
    pub text: String,
    /// Bytes of text before it that are left out. The newest part says how it ended.
    pub left_out: usize,
}

impl Plain {
    pub fn of(bytes: &[u8]) -> Self {
        Self::within(bytes, MOST)
    }

    fn within(bytes: &[u8], most: usize) -> Self {
        let mut text = plain(bytes);
        let Some(mut cut) = text.len().checked_sub(most).filter(|cut| *cut > 0) else {
            return Self { text, left_out: 0 };
        };
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        // From the beginning of a line, if one is near.
        let near = text[cut..].find('\n').filter(|end| *end < most / 16);
        cut += near.map_or(0, |end| end + 1);
        text.drain(..cut);
        Self {
            text,
            left_out: cut,
        }
    }

    /// What to say above it.
    pub fn note(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            bytes => Some(format!("[{bytes} bytes before this are left out]")),
        }
    }
}

/// Makes text of what a program wrote. What is no UTF-8 becomes a mark; a line that was written
/// over (`\r`, as progress bars do) is shown as it was left.
pub fn plain(bytes: &[u8]) -> String {
    let text = without_escapes(&String::from_utf8_lossy(bytes));
    let mut plain = String::with_capacity(text.len());
    // Line by line into one text: millions of small ones would fill the memory.
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            plain.push('\n');
        }
        plain.extend(as_it_was_left(line));
    }
    plain
}

fn as_it_was_left(line: &str) -> impl Iterator<Item = char> {
    let line = line.trim_end_matches('\r');
    let last = line.rsplit('\r').next().unwrap_or(line);
    last.chars().filter(|c| *c == '\t' || !c.is_control())
}

/// Leaves out what terminals take for orders: `ESC [ … letter`, `ESC ] … BEL`, and short ones.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            Some('[') => {
                // Up to the letter that ends it; a line end means that it was none.
                while let Some(next) = rest.peek() {
                    let ends = ('\u{40}'..='\u{7e}').contains(next);
                    if *next == '\n' {
                        break;
                    }
                    rest.next();
                    if ends {
                        break;
                    }
                }
            }
            Some(']' | 'P' | '^' | '_' | 'X') => {
                while let Some(next) = rest.peek() {
                    if *next == '\n' {
                        break;
                    }
                    let ends = rest.next();
                    if ends == Some('\u{7}') {
                        break;
                    }
                    if ends == Some('\u{1b}') {
                        rest.next_if_eq(&'\\');
                        break;
                    }
                }
            }
            Some('(' | ')' | '#' | '%') => {
                rest.next();
            }
            Some('\n') => plain.push('\n'),
            Some(_) | None => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_part_of_much_is_kept() {
        for (bytes, most, text, left_out) in [
            (&b"abc"[..], 3, "abc", 0),
            (b"abcd", 3, "bcd", 1),
            ("€€".as_bytes(), 4, "€", 3),
            (b"first\nsecond and more\n", 16, "second and more\n", 6),
        ] {
            let text = text.to_owned();
            assert_eq!(Plain::within(bytes, most), Plain { text, left_out });
        }
        let lines = Plain::within(&b"0123456789\n".repeat(100), 1_000);
        assert!(lines.text.starts_with("0123456789\n"), "{lines:?}");
        assert_eq!(lines.text.len() + lines.left_out, 1_100);
        assert!(lines.note().is_some_and(|note| note.contains("left out")));
    }

    #[test]
    fn output_becomes_text() {
        for (bytes, wanted) in [
            (&b"a\nb\n"[..], "a\nb\n"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07x", "x"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            (b"a\x00b\x07c\td", "abc\td"),
            (b"\x1b(Bx\x1b=y", "xy"),
            (b"\x1b[31", ""),
            (b"\x1b[31\nnext", "\nnext"),
            (b"\x1b", ""),
        ] {
            assert_eq!(plain(bytes), wanted, "{bytes:?}");
        }
    }
}
