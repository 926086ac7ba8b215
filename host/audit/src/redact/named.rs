//! Values behind names that announce a secret: assignments, JSON members, headers, flags.

use std::ops::Range;

use super::names::{Says, judge, looks_random};

/// Longer names are no names.
const LONGEST_NAME: usize = 64;

pub(super) fn values(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'=' | b':' => {
                let name = name_before(text, at);
                push(text, at + 1, judge(name), found);
            }
            // `--token abc`, and `-u` is nobody's.
            b' ' => {
                let flag = bytes[..at]
                    .iter()
                    .rev()
                    .take_while(|b| is_name(**b))
                    .count();
                let flag = &text[at - flag..at];
                if flag.len() <= LONGEST_NAME && flag.starts_with("--") {
                    let next = bytes.get(at + 1);
                    // Another flag, or the flag stood alone.
                    if next.is_some_and(|next| *next != b'-' && *next != b'&' && *next != b'|') {
                        push(text, at + 1, judge(flag), found);
                    }
                }
            }
            _ => {}
        }
    }
}

fn push(text: &str, from: usize, says: Says, found: &mut Vec<Range<usize>>) {
    let range = match says {
        Says::Nothing => return,
        Says::Perhaps | Says::Secret => value(text, from),
        Says::Header => header(text, from),
    };
    let value = &text[range.clone()];
    let is_secret = match says {
        Says::Perhaps => looks_random(value),
        Says::Nothing | Says::Secret | Says::Header => !is_plain(value),
    };
    if is_secret {
        found.push(range);
    }
}

/// What cannot be a secret: nothing, a word of JSON, a name of a variable.
fn is_plain(value: &str) -> bool {
    const WORDS: [&str; 8] = [
        "null",
        "true",
        "false",
        "none",
        "None",
        "nil",
        "undefined",
        "string",
    ];
    value.is_empty()
        || WORDS.contains(&value)
        || value.starts_with('$')
        || value.starts_with('{')
        || value.starts_with("[redacted")
}

/// The name that ends just before here; blanks and quotes may stand between.
fn name_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end_matches([' ', '"', '\'', '\\', '`', ']']);
    let name = before
        .bytes()
        .rev()
        .take_while(|byte| is_name(*byte))
        .count();
    if name > LONGEST_NAME {
        return "";
    }
    let name = &before[before.len() - name..];
    // In JSON a line may end just before it: `\nPASSWORD=`.
    let escaped = before[..before.len() - name.len()].ends_with('\\');
    let name = match name.strip_prefix(['n', 't', 'r']) {
        Some(rest) if escaped => rest,
        Some(_) | None => name,
    };
    name.trim_start_matches(['-', '.'])
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// The value from here: quoted in any depth of JSON, a list, or a word.
fn value(text: &str, from: usize) -> Range<usize> {
    let from = skip_blanks(text, from);
    let rest = &text[from..];
    let depth = rest.bytes().take_while(|byte| *byte == b'\\').count();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = rest.as_bytes().get(depth).copied() {
        let start = from + depth + 1;
        return start..closing(text, start, quote, depth);
    }
    if let Some(inner) = rest
        .strip_prefix('[')
        .filter(|inner| !inner.starts_with("redacted"))
    {
        let length = inner.find(']').unwrap_or(inner.len());
        return from + 1..from + 1 + length;
    }
    from..from + word(rest)
}

/// Where a quote closes: the next one behind no more backslashes than the first had.
fn closing(text: &str, start: usize, quote: u8, depth: usize) -> usize {
    let bytes = text.as_bytes();
    let mut escapes = 0;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        if *byte == quote && escapes <= depth {
            return at - escapes;
        }
        escapes = if *byte == b'\\' { escapes + 1 } else { 0 };
    }
    text.len()
}

/// How long an unquoted value is.
fn word(rest: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || "\"'`&;,|()<>]}\\".contains(c);
    // `$(command)` and `${NAME}` are no values, and end where they like.
    rest.find(ends).unwrap_or(rest.len())
}

/// The value of a header, without the scheme: to the end of the line or the quotes.
fn header(text: &str, from: usize) -> Range<usize> {
    let mut from = skip_blanks(text, from);
    let rest = &text[from..];
    let opening = rest
        .bytes()
        .take_while(|byte| b"\\\"'".contains(byte))
        .count();
    from += opening;
    let rest = &text[from..];
    let end = rest
        .find(['"', '\'', '\n', '\r', '\\'])
        .unwrap_or(rest.len());
    let scheme = rest[..end].find(' ').map_or(0, |at| {
        let known = ["basic", "bearer", "digest", "token", "negotiate"];
        let scheme = rest[..at].to_ascii_lowercase();
        if known.contains(&scheme.as_str()) {
            at + 1
        } else {
            0
        }
    });
    from + scheme..from + end
}

fn skip_blanks(text: &str, from: usize) -> usize {
    from + text[from..]
        .bytes()
        .take_while(|byte| *byte == b' ')
        .count()
}
