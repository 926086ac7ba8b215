//! Where a quote, a substitution or a bracket ends.

use super::Lexer;

/// Substitutions in substitutions; deeper ones are refused when they are read as commands.
const MOST_SKIPPED: usize = 64;

/// What a text up to a closing sign is to a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// `$(…)` and other brackets with commands in them: comments and here-documents count.
    Commands,
    /// `$((…))`.
    Numbers,
    /// `${…}`.
    Value,
    /// `${…}` in double quotes, where an apostrophe is one.
    QuotedValue,
}

impl Lexer {
    /// The text up to the closing bracket of commands; the rest if there is none.
    pub(super) fn commands(&mut self) -> String {
        let inside = match self.peek() {
            Some('(') => Inside::Numbers,
            Some(_) | None => Inside::Commands,
        };
        self.enclosed(inside)
    }

    pub(super) fn enclosed(&mut self, inside: Inside) -> String {
        let first = self.at;
        self.skip_to_end(inside, MOST_SKIPPED);
        let has_end = self.at > first && self.chars[self.at - 1] == inside.end();
        let end = self.at - usize::from(has_end);
        self.chars[first..end].iter().collect()
    }

    fn skip_to_end(&mut self, inside: Inside, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.at = self.chars.len();
            return;
        };
        let mut signs = Vec::new();
        while let Some(c) = self.next() {
            let before = self.at.checked_sub(2).map(|at| self.chars[at]);
            match c {
                c if c == inside.end() => return,
                '\\' => self.step(),
                '\'' if inside != Inside::QuotedValue => self.skip_single(),
                '(' if inside.end() == ')' => {
                    let next = match inside {
                        Inside::Numbers => Inside::Numbers,
                        Inside::Commands | Inside::Value | Inside::QuotedValue => Inside::Commands,
                    };
                    self.skip_to_end(next, depth);
                }
                '#' if inside == Inside::Commands
                    && before.is_none_or(|c| c.is_whitespace() || ";|&(".contains(c)) =>
                {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '<' if inside == Inside::Commands && self.peek() == Some('<') => {
                    self.at += 1;
                    match self.peek() {
                        Some('<') => self.at += 1,
                        Some(_) | None => signs.push(self.sign()),
                    }
                }
                '\n' => {
                    for sign in std::mem::take(&mut signs) {
                        self.document_of(&sign);
                    }
                }
                c => self.skip_part(c, depth),
            }
        }
        self.at = self.chars.len();
    }

    /// Behind what opens a quote or a substitution: to its end. Anything else is a character.
    pub(super) fn skip_part(&mut self, c: char, depth: usize) {
        match (c, self.peek()) {
            ('"', _) => self.skip_double(depth),
            ('`', _) => self.skip_until('`'),
            ('$', Some('(')) => {
                self.at += 1;
                let inside = match self.peek() {
                    Some('(') => Inside::Numbers,
                    Some(_) | None => Inside::Commands,
                };
                self.skip_to_end(inside, depth);
            }
            ('$', Some('{')) => {
                self.at += 1;
                self.skip_to_end(Inside::Value, depth);
            }
            ('$', Some('\'')) => {
                self.at += 1;
                self.skip_until('\'');
            }
            (_, _) => {}
        }
    }

    /// A quote of any kind, or a substitution.
    pub(super) fn skip_any(&mut self, c: char) {
        match c {
            '\\' => self.step(),
            '\'' => self.skip_single(),
            c => self.skip_part(c, MOST_SKIPPED),
        }
    }

    fn skip_single(&mut self) {
        let mut rest = self.chars[self.at..].iter();
        if let Some(length) = rest.position(|c| *c == '\'') {
            self.at += length + 1;
        }
    }

    fn skip_until(&mut self, end: char) {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.step(),
                c if c == end => return,
                _ => {}
            }
        }
        self.at = self.chars.len();
    }

    fn skip_double(&mut self, depth: usize) {
        if !super::quotes::closes_double(&self.chars[self.at..]) {
            return;
        }
        let Some(depth) = depth.checked_sub(1) else {
            self.at = self.chars.len();
            return;
        };
        while let Some(c) = self.next() {
            match (c, self.peek()) {
                ('"', _) => return,
                ('\\', _) => self.step(),
                ('$', Some('{')) => {
                    self.at += 1;
                    let inside = self.quoted_value();
                    self.skip_to_end(inside, depth);
                }
                ('$', Some('(')) | ('`', _) => self.skip_part(c, depth),
                (_, _) => {}
            }
        }
        self.at = self.chars.len();
    }

    /// What `${` opens in double quotes: in a pattern, quotes are quotes again.
    pub(super) fn quoted_value(&self) -> Inside {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let is_name = |c: &&char| c.is_ascii_alphanumeric() || "_@*!".contains(**c);
        let name = rest.iter().take_while(is_name).count();
        match rest.get(name) {
            Some('#' | '%' | '/' | '^' | ',' | '[') => Inside::Value,
            Some(_) | None => Inside::QuotedValue,
        }
    }
}

impl Inside {
    fn end(self) -> char {
        match self {
            Self::Commands | Self::Numbers => ')',
            Self::Value | Self::QuotedValue => '}',
        }
    }
}
