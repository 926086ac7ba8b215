//! Quotes, escapes and what a dollar stands for.

use std::iter;

use super::{ANY, Lexer, NAME, NAME_END};

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
                '\\' => text.extend(self.next()),
                c => text.push(c),
            }
        }
        self.inner.push(text);
        self.variable("");
    }

    pub(super) fn variable(&mut self, name: &str) {
        let word = self.word.get_or_insert_default();
        word.text.push(NAME);
        word.text.push_str(name);
        word.text.push(NAME_END);
    }

    pub(super) fn dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let text = self.enclosed('(', ')');
                self.inner.push(text);
                self.variable("");
            }
            Some('{') => {
                self.at += 1;
                let text = self.enclosed('{', '}');
                let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                let name: String = text.chars().take_while(is_name).collect();
                let rest = &text[name.len()..];
                // What is used if there is no value can be a path, too.
                self.inner.push(
                    rest.trim_start_matches(|c: char| ":-=+?%#".contains(c))
                        .into(),
                );
                self.variable(&name);
            }
            Some('\'') => {
                self.at += 1;
                self.escaped();
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
            Some('@' | '*' | '#' | '?' | '$' | '!' | '-' | '0'..='9') => {
                self.at += 1;
                self.variable("1");
            }
            Some(_) | None => self.plain('$'),
        }
    }

    /// `$'…'`, with its escapes.
    fn escaped(&mut self) {
        self.quoted();
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let c = self.escape();
                    c.into_iter().for_each(|c| self.plain(c));
                }
                c => self.plain(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let (radix, most) = match self.next()? {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'c' => return self.next().map(|_| ANY),
            'a' | 'b' | 'e' | 'E' | 'f' | 'r' | 'v' => return Some(ANY),
            c => return Some(c),
        };
        let mut number = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            number = number * radix + digit;
            self.at += 1;
        }
        Some(char::from_u32(number).unwrap_or(ANY))
    }

    /// The text up to the closing sign; the rest if there is none.
    pub(super) fn enclosed(&mut self, open: char, close: char) -> String {
        let mut text = String::new();
        let mut depth = 1;
        let mut quote = None;
        while let Some(c) = self.next() {
            match (c, quote) {
                ('\\', None | Some('"')) => {
                    text.push(c);
                    text.extend(self.next());
                    continue;
                }
                ('\'' | '"', None) if self.chars[self.at..].contains(&c) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                (c, None) if c == open => depth += 1,
                (c, None) if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                (_, _) => {}
            }
            text.push(c);
        }
        text
    }
}

/// Whether a text in double quotes ends.
fn closes_double(rest: &[char]) -> bool {
    let mut rest = rest.iter();
    iter::from_fn(|| match rest.next()? {
        '\\' => rest.next().map(|_| false),
        c => Some(*c == '"'),
    })
    .any(|is_end| is_end)
}
