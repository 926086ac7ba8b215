//! The characters of a script, with a place in them.

use crate::check::{Check, Finding};

pub(super) struct Text<'a> {
    rest: &'a str,
}

impl<'a> Text<'a> {
    pub(super) fn new(script: &'a str) -> Self {
        Self { rest: script }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let taken = characters.next();
        self.rest = characters.as_str();
        taken
    }

    pub(super) fn next_two(&self) -> [Option<char>; 2] {
        let mut characters = self.rest.chars();
        [characters.next(), characters.next()]
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub(super) fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Blanks, and line ends that a backslash takes away between two words.
    pub(super) fn skip_blanks(&mut self) -> Result<(), Finding> {
        loop {
            let trimmed = self.rest.trim_start_matches([' ', '\t']);
            let moved = trimmed.len() < self.rest.len();
            self.rest = trimmed;
            if !moved || !self.skip("\\\n") {
                return Ok(());
            }
            // Glued to the next word it would be easy to misread.
            if !matches!(self.peek(), Some(' ' | '\t')) {
                return self.continued();
            }
        }
    }

    /// Behind a line end that was taken away a word may stand at once, as people write it, but
    /// not another operator.
    fn continued(&self) -> Result<(), Finding> {
        match self.peek() {
            Some('\\' | '\n' | '#') => {
                Err(Check::Newlines.found("a line end behind a backslash is hard to read"))
            }
            _ => Ok(()),
        }
    }

    /// The rest of the line, without its end.
    pub(super) fn take_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }

    /// Whether the next character is a word of its own.
    pub(super) fn is_alone(&self) -> bool {
        let mut characters = self.rest.chars();
        characters.next();
        matches!(
            characters.next(),
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')')
        )
    }

    /// Text up to a character, which is taken too; `None` if it does not come.
    pub(super) fn take_until(&mut self, end: char) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(taken)
    }
}
