//! Sets, choices and groups: what is not known exactly is any text.

use super::{ANY, Lexer, ONE};

/// Longer ones are text for a set, and any text for a choice; each sign that could begin one is looked
/// behind.
const LONGEST: usize = 256;
/// Names of classes are short.
const LONGEST_CLASS: usize = 32;

impl Lexer {
    /// `[abc]`, if it is closed in this word.
    pub(super) fn set(&mut self) {
        let first = self.at;
        match self.set_mark() {
            Ok(mark) => {
                let text: String = self.chars[first..self.at].iter().collect();
                if text.contains(['$', '`']) {
                    self.inner.push(text);
                }
                self.push(mark);
            }
            Err(ONE) => {
                self.at = first;
                self.plain('[');
            }
            // A value may close it: the rest of the word may be anything.
            Err(_) => {
                self.push(ANY);
                let text: String = self.chars[first..self.at].iter().collect();
                self.inner.push(text);
            }
        }
    }

    /// What stands for the set, or for all that was passed if it opens none.
    fn set_mark(&mut self) -> Result<char, char> {
        let end = self.at + LONGEST;
        let (mut mark, mut sign) = (ONE, ONE);
        if let Some('!' | '^') = self.peek() {
            self.at += 1;
        }
        // A closing sign that comes first is one of the set.
        if self.peek() == Some(']') {
            self.at += 1;
        }
        while let Some(c) = self.next().filter(|_| self.at < end) {
            match (c, self.peek()) {
                (']', _) => return Ok(mark),
                ('[', Some(kind @ (':' | '=' | '.'))) => {
                    mark = ANY;
                    let rest = self.chars[self.at + 1..].windows(2);
                    let closing = rest.take(LONGEST_CLASS).position(|two| two == [kind, ']']);
                    self.at += closing.map_or(0, |length| length + 3);
                }
                ('\\' | '\'' | '"' | '$' | '`', _) => {
                    // A value may close the set.
                    if let '$' | '`' = c {
                        sign = ANY;
                    }
                    mark = ANY;
                    self.skip_any(c);
                }
                (c, _) if c.is_whitespace() || ";|&()<>".contains(c) => {
                    self.at -= 1;
                    return Err(sign);
                }
                (_, _) => {}
            }
        }
        Err(sign)
    }

    /// `{a,b}` and `{1..9}`, if they are closed in this word.
    pub(super) fn choice(&mut self) {
        let first = self.at;
        let end = first + LONGEST;
        let (mut depth, mut is_choice) = (1, false);
        while let Some(c) = self.next() {
            match c {
                _ if self.at > end => {
                    // Any text, and what is in it as well.
                    self.push(ANY);
                    self.at = first;
                    return;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' => is_choice |= depth == 1,
                '.' => is_choice |= depth == 1 && self.peek() == Some('.'),
                '\\' | '\'' | '"' | '$' | '`' => self.skip_any(c),
                c if c.is_whitespace() || ";|&()<>".contains(c) => break,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        if depth > 0 || !is_choice {
            self.at = first;
            self.plain('{');
            return;
        }
        let text: String = self.chars[first..self.at - 1].iter().collect();
        if text.contains(['$', '`']) {
            self.inner.push(text.clone());
        }
        self.variable(&format!("{{{text}"));
    }

    /// `@(a|b)` and its like.
    pub(super) fn group(&mut self) {
        self.at += 1;
        let text = self.commands();
        self.inner.push(text);
        self.push(ANY);
    }
}

/// What a choice stands for, each as it is written.
pub(in crate::hooks::files) fn alternatives(choice: &str) -> Vec<String> {
    let mut lexer = Lexer::new(choice);
    let mut all = Vec::new();
    let (mut first, mut depth) = (0, 0);
    while let Some(c) = lexer.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(lexer.chars[first..lexer.at - 1].iter().collect());
                first = lexer.at;
            }
            '\\' | '\'' | '"' | '$' | '`' => lexer.skip_any(c),
            _ => {}
        }
    }
    all.push(lexer.chars[first.min(lexer.chars.len())..].iter().collect());
    all
}
