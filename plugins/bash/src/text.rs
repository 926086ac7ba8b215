//! Output of programs as text for a model: no colours, no cursor movements, no broken letters.

/// Makes text of what a program wrote. What is no UTF-8 becomes a mark; a line that was written
/// over (`\r`, as progress bars do) is shown as it was left.
pub fn plain(bytes: &[u8]) -> String {
    let text = without_escapes(&String::from_utf8_lossy(bytes));
    let lines: Vec<String> = text.split('\n').map(as_it_was_left).collect();
    lines.join("\n")
}

fn as_it_was_left(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let last = line.rsplit('\r').next().unwrap_or(line);
    let seen = |c: &char| *c == '\t' || !c.is_control();
    last.chars().filter(seen).collect()
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
