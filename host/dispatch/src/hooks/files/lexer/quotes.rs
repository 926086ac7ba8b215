//! Quotes, escapes and what a dollar stands for.

use std::iter;

use super::skips::Inside;
use super::{ANY, Lexer, MOST_DEPTH, NAME, NAME_END};

impl Lexer {
    pub(super) fn single(&mut self) {
        let mut rest = self.chars[self.at..].iter();
        let Some(length) = rest.position(|c| *c == '\'') else {
            // Perhaps none of a shell's: as if it were not there.
            return;
        };
        self.quoted();
        for at in self.at..self.at + length {
            self.plain(self.chars[at]);
        }
        self.at += length + 1;
    }

    pub(super) fn double(&mut self) {
        if !closes_double(&self.chars[self.at..]) {
            return;
        }
        self.quoted();
        self.in_double = true;
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.plain(c),
                    Some(c) => {
                        self.plain('\\');
                        self.plain(c);
                    }
                },
                '$' => self.dollar(),
                '`' => self.backticks(),
                c => self.plain(c),
            }
        }
        self.in_double = false;
    }

    pub(super) fn backticks(&mut self) {
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '`' => break,
                '\\' => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some('"') if self.in_double => text.push('"'),
                    Some(c) => text.extend(['\\', c]),
                    None => {}
                },
                c => text.push(c),
            }
        }
        self.inner.push(text);
        self.variable("");
    }

    /// A variable, or what a shell makes of one: all that stands between the braces.
    pub(super) fn variable(&mut self, name: &str) {
        let word = self.word.get_or_insert_default();
        word.text.push(NAME);
        let is_mark = |c| matches!(c, ANY..=NAME_END);
        word.text.push_str(&name.replace(is_mark, "?"));
        word.text.push(NAME_END);
    }

    pub(super) fn dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let text = self.commands();
                self.inner.push(text);
                self.variable("");
            }
            Some('{') => {
                self.at += 1;
                let inside = match self.in_double {
                    true => self.quoted_value(),
                    false => Inside::Value,
                };
                let text = self.enclosed(inside);
                self.in_expansion(&text);
                self.variable(&text);
            }
            Some('[') => {
                // The old way to write a number.
                let rest = self.chars[self.at..].iter();
                let mut rest = rest.take_while(|c| !c.is_whitespace());
                match rest.position(|c| *c == ']') {
                    Some(length) => {
                        self.at += length + 1;
                        self.variable("");
                    }
                    None => self.plain('$'),
                }
            }
            Some('\'') if !self.in_double => {
                self.at += 1;
                self.escaped(Some('\''));
            }
            // In the user's language, where that is known.
            Some('"') if !self.in_double => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .peek()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                    self.at += 1;
                }
                self.variable(&name);
            }
            Some('0') => {
                self.at += 1;
                self.variable("0");
            }
            Some('@' | '*' | '1'..='9') => {
                self.at += 1;
                self.variable("1");
            }
            Some('#' | '?' | '$' | '!' | '-') => {
                self.at += 1;
                self.variable("");
            }
            Some(_) | None => self.plain('$'),
        }
    }

    /// What is used if there is no value can be a path or a command; a pattern holds commands at most.
    fn in_expansion(&mut self, text: &str) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '!';
        let rest = text.trim_start_matches(is_name);
        let is_value = rest
            .trim_start_matches(':')
            .starts_with(['-', '=', '+', '?']);
        if is_value || self.nesting >= MOST_DEPTH {
            self.inner
                .push(rest.trim_start_matches([':', '-', '=', '+', '?']).into());
        } else if rest.contains(['$', '`']) {
            let mut pattern = Self {
                nesting: self.nesting + 1,
                ..Self::new(rest)
            };
            while let Some(c) = pattern.next() {
                pattern.in_word(c);
            }
            self.inner.extend(pattern.inner);
        }
    }

    /// What is left of `$'…'`: its escapes stand for bytes, which make up the text.
    pub(super) fn escaped(&mut self, end: Option<char>) {
        self.quoted();
        let mut bytes = Vec::new();
        let mut is_cut = false;
        while let Some(c) = self.next() {
            let mut buffer = [0; 4];
            match c {
                c if Some(c) == end => break,
                '\\' => match self.escape() {
                    // A text ends with its first zero.
                    Escape::Byte(0) => is_cut = true,
                    _ if is_cut => {}
                    Escape::Byte(byte) => bytes.push(byte),
                    Escape::Char(c) => bytes.extend(c.encode_utf8(&mut buffer).bytes()),
                    Escape::Nothing => {}
                },
                _ if is_cut => {}
                c => bytes.extend(c.encode_utf8(&mut buffer).bytes()),
            }
        }
        for c in String::from_utf8_lossy(&bytes).chars() {
            match c {
                char::REPLACEMENT_CHARACTER => self.push(ANY),
                c => self.plain(c),
            }
        }
    }

    fn escape(&mut self) -> Escape {
        let (radix, most) = match self.next() {
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('U') => (16, 8),
            Some('0'..='7') => {
                self.at -= 1;
                (8, 3)
            }
            Some('n') => return Escape::Char('\n'),
            Some('t') => return Escape::Char('\t'),
            Some('c') => {
                self.step();
                return Escape::Char(ANY);
            }
            Some('a' | 'b' | 'e' | 'E' | 'f' | 'r' | 'v') => return Escape::Char(ANY),
            Some(c) => return Escape::Char(c),
            None => return Escape::Nothing,
        };
        let mut number: u32 = 0;
        let first = self.at;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            number = number.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        match most {
            _ if self.at == first => Escape::Char(ANY),
            2 | 3 => Escape::Byte(number as u8),
            _ => Escape::Char(char::from_u32(number).unwrap_or(ANY)),
        }
    }
}

enum Escape {
    Byte(u8),
    Char(char),
    Nothing,
}

/// Whether a text in double quotes ends.
pub(super) fn closes_double(rest: &[char]) -> bool {
    let mut rest = rest.iter();
    iter::from_fn(|| match rest.next()? {
        '\\' => rest.next().map(|_| false),
        c => Some(*c == '"'),
    })
    .any(|is_end| is_end)
}
