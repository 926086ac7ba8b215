//! Colour where a person looks, plain text where a program reads.

use std::io::IsTerminal;

use crate::places::wants_no_colour;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Coloured if standard output is a terminal and nobody objects.
    pub fn for_output() -> Self {
        Self {
            colour: std::io::stdout().is_terminal() && !wants_no_colour(),
        }
    }

    pub fn for_errors() -> Self {
        Self {
            colour: std::io::stderr().is_terminal() && !wants_no_colour(),
        }
    }

    pub const PLAIN: Self = Self { colour: false };

    #[cfg(test)]
    pub const COLOURED: Self = Self { colour: true };

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn note(self, text: &str) -> String {
        self.paint("36", text)
    }

    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }
}
