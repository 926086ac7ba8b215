//! Rust text by its parts: code, comments, literals, and what is compiled for tests only.
//!
//! A scanner, not a parser: it knows just enough of the language that a word in a
//! comment is not taken for code, and a brace in a string not for the end of a block.

/// What a byte of the text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Literal,
}

/// A Rust file, scanned.
pub struct Source<'a> {
    text: &'a str,
    parts: Vec<Part>,
    in_tests: Vec<bool>,
}

/// A piece of the text and the number of the line on which it starts.
pub struct Piece<'a> {
    pub line: usize,
    pub text: &'a str,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Self {
        let parts = scan(text.as_bytes());
        let mut source = Self {
            text,
            in_tests: vec![false; parts.len()],
            parts,
        };
        source.mark_tests();
        source
    }

    /// The code alone, with everything else blank, line for line.
    pub fn code(&self) -> String {
        self.keep(|index| self.parts[index] == Part::Code)
    }

    /// The code that also runs outside of tests.
    pub fn shipped_code(&self) -> String {
        self.keep(|index| self.parts[index] == Part::Code && !self.in_tests[index])
    }

    /// Everything but what is compiled for tests only.
    pub fn shipped_text(&self) -> String {
        self.keep(|index| !self.in_tests[index])
    }

    /// The comments alone, line for line.
    pub fn comments(&self) -> String {
        self.keep(|index| self.parts[index] == Part::Comment)
    }

    /// The literals outside of tests, without their quotes.
    pub fn shipped_literals(&self) -> Vec<Piece<'a>> {
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.parts.len() {
            if self.parts[start] != Part::Literal {
                start += 1;
                continue;
            }
            let length = self.parts[start..]
                .iter()
                .take_while(|part| **part == Part::Literal)
                .count();
            if !self.in_tests[start] {
                let quoted = &self.text[start..start + length];
                found.push(Piece {
                    line: line_of(self.text, start),
                    text: quoted
                        .trim_start_matches(['r', '#'])
                        .trim_end_matches('#')
                        .trim_matches(['"', '\'']),
                });
            }
            start += length;
        }
        found
    }

    fn keep(&self, wanted: impl Fn(usize) -> bool) -> String {
        self.text
            .char_indices()
            .map(|(index, c)| if c == '\n' || wanted(index) { c } else { ' ' })
            .collect()
    }

    /// Marks each item behind `#[cfg(test)]`, to its closing brace or semicolon.
    fn mark_tests(&mut self) {
        let code = self.code();
        // `code` has one character for each one of the text, but not one byte.
        let offsets: Vec<usize> = self.text.char_indices().map(|(index, _)| index).collect();
        let code: Vec<char> = code.chars().collect();
        let mark: Vec<char> = "#[cfg(test)]".chars().collect();
        let mut from = 0;
        while from + mark.len() <= code.len() {
            if code[from..from + mark.len()] != mark {
                from += 1;
                continue;
            }
            let end = item_end(&code, from + mark.len());
            let last = offsets.get(end).copied().unwrap_or(self.text.len());
            self.in_tests[offsets[from]..last].fill(true);
            from = end.max(from + 1);
        }
    }
}

/// The line number of a byte, counted from 1.
pub fn line_of(text: &str, index: usize) -> usize {
    text.as_bytes()[..index]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// The lines on which a word stands by itself, counted from 1.
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| has_word(line, word))
        .map(|(index, _)| index + 1)
        .collect()
}

/// Whether the word occurs with no letter, digit or underscore next to it.
pub fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(index, _)| {
        let before = text[..index].chars().next_back();
        let after = text[index + word.len()..].chars().next();
        let starts_alone = !before.is_some_and(part_of_word) || !word.starts_with(part_of_word);
        let ends_alone = !after.is_some_and(part_of_word) || !word.ends_with(part_of_word);
        starts_alone && ends_alone
    })
}

/// The position behind the item that starts at `from`.
fn item_end(code: &[char], from: usize) -> usize {
    let mut braces = 0_usize;
    let mut others = 0_usize;
    for (index, c) in code.iter().enumerate().skip(from) {
        match c {
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return index + 1;
                }
            }
            '(' | '[' => others += 1,
            ')' | ']' => others = others.saturating_sub(1),
            ';' if braces == 0 && others == 0 => return index + 1,
            _ => {}
        }
    }
    code.len()
}

fn scan(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(text.len());
    while parts.len() < text.len() {
        let at = parts.len();
        let rest = &text[at..];
        let in_word = at > 0 && (text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_');
        let (part, length) = match rest[0] {
            b'/' if rest.starts_with(b"//") => (Part::Comment, line(rest)),
            b'/' if rest.starts_with(b"/*") => (Part::Comment, block_comment(rest)),
            b'"' => (Part::Literal, quoted(rest, b'"')),
            b'r' => match raw_string(rest) {
                // `br"…"` and `cr"…"` are raw too; in `for"` the `r` ends a word.
                Some(length) if !in_word || matches!(text[at - 1], b'b' | b'c') => {
                    (Part::Literal, length)
                }
                _ => (Part::Code, 1),
            },
            b'\'' => match character(rest) {
                Some(length) => (Part::Literal, length),
                None => (Part::Code, 1),
            },
            _ => (Part::Code, 1),
        };
        parts.resize(at + length.clamp(1, rest.len()), part);
    }
    parts
}

fn line(rest: &[u8]) -> usize {
    rest.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `r"…"` or `r#"…"#`; none for a raw identifier or a plain `r`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    let body = 1 + hashes + 1;
    if rest.get(body - 1) != Some(&b'"') {
        return None;
    }
    let end: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    let length = rest[body..]
        .windows(end.len())
        .position(|window| window == end);
    Some(length.map_or(rest.len(), |length| body + length + end.len()))
}

/// The length of `'x'`; none for a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    // One character of up to four bytes, then the closing quote.
    (2..=5)
        .find(|at| rest.get(*at) == Some(&b'\''))
        .filter(|at| {
            std::str::from_utf8(&rest[1..*at]).is_ok_and(|inside| inside.chars().count() == 1)
        })
        .map(|at| at + 1)
}

#[test]
fn comments_and_literals_are_told_from_code() {
    for (text, code, literals) in [
        ("a(\"b // c\"); // d", "a(        );     ", vec!["b // c"]),
        ("/* a /* b */ c */ d", "                  d", vec![]),
        ("r#\"a\" b\"# c", "          c", vec!["a\" b"]),
        ("let r#type = 'x';", "let r#type =    ;", vec!["x"]),
        (
            "f::<'a>('\\'', '\u{e4}')",
            "f::<'a>(    ,    )",
            vec!["\\", "\u{e4}"],
        ),
        ("\"a\\\"b\" c", "       c", vec!["a\\\"b"]),
        ("b\"x\" for\"y\"", "b    for   ", vec!["x", "y"]),
    ] {
        let source = Source::new(text);
        let found: Vec<_> = source
            .shipped_literals()
            .iter()
            .map(|piece| piece.text)
            .collect();
        assert_eq!(source.code(), code, "{text}");
        assert_eq!(found, literals, "{text}");
    }
    assert_eq!(Source::new("a // b\nc").comments(), "  // b\n ");
}

#[test]
fn what_is_compiled_for_tests_only_is_not_shipped() {
    let text = "//! \u{e4}\na();\n#[cfg(test)]\nmod tests {\n    fn b() { \"}\"; }\n}\nc();\n#[cfg(test)]\nmod d;\ne();";
    let shipped = Source::new(text).shipped_code();
    for (word, expected) in [
        ("a", true),
        ("b", false),
        ("c", true),
        ("d", false),
        ("e", true),
    ] {
        assert_eq!(has_word(&shipped, word), expected, "{word} in {shipped}");
    }
    assert_eq!(
        Source::new(text).shipped_text().lines().count(),
        text.lines().count()
    );
}

#[test]
fn a_word_stands_by_itself() {
    for (text, word, expected) in [
        ("unsafe {", "unsafe", true),
        ("unsafe_code", "unsafe", false),
        ("tokio::fs", "std::fs", false),
        ("use std::fs;", "std::fs", true),
    ] {
        assert_eq!(has_word(text, word), expected, "{text}");
    }
    assert_eq!(lines_with_word("a\nb a\nab", "a"), [1, 2]);
}
