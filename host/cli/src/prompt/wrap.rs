//! Breaks lines where a terminal ends. Only computes.

use unicode_width::UnicodeWidthChar;

/// Columns from one tab stop to the next. The terminal's own would not know of the indentation.
const TAB: usize = 4;
/// In fewer columns nothing can be read.
const LEAST: usize = 8;

/// The lines of a text, none wider than this many columns. Colours that a line has go on in the
/// lines that it becomes.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(LEAST);
    text.split('\n')
        .flat_map(|line| wrap_line(line, width))
        .collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = Row::default();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            row.colour(&mut rest);
            continue;
        }
        let columns = match c {
            '\t' => TAB - row.columns % TAB,
            c => c.width().unwrap_or(0),
        };
        if row.columns + columns > width {
            rows.push(row.break_off(width));
        }
        match c {
            '\t' => (0..columns).for_each(|_| row.push(' ', 1)),
            c => row.push(c, columns),
        }
    }
    rows.push(row.text);
    rows
}

/// A line that is being filled.
#[derive(Default)]
struct Row {
    text: String,
    columns: usize,
    /// The colour that is on, as the terminal is told; empty if none is.
    colour: String,
    /// Behind the last space.
    word: Word,
}

#[derive(Default, Clone)]
struct Word {
    bytes: usize,
    columns: usize,
    colour: String,
}

impl Row {
    fn push(&mut self, c: char, columns: usize) {
        self.text.push(c);
        self.columns += columns;
        if c == ' ' {
            self.word = self.here();
        }
    }

    fn here(&self) -> Word {
        Word {
            bytes: self.text.len(),
            columns: self.columns,
            colour: self.colour.clone(),
        }
    }

    /// Takes one of our own colour sequences over. There are no others: whatever comes from a tool
    /// was made harmless before.
    fn colour(&mut self, rest: &mut std::str::Chars<'_>) {
        let mut sequence = String::from('\u{1b}');
        for c in rest {
            sequence.push(c);
            if c == 'm' {
                break;
            }
        }
        self.text.push_str(&sequence);
        self.colour = match sequence.as_str() {
            RESET => String::new(),
            _ => sequence,
        };
    }

    /// Ends the line, between words if that does not waste half of it.
    fn break_off(&mut self, width: usize) -> String {
        let end = match self.word.columns * 2 > width {
            true => self.word.clone(),
            false => self.here(),
        };
        let next = self.text.split_off(end.bytes);
        let mut done = std::mem::take(&mut self.text);
        if !end.colour.is_empty() {
            done.push_str(RESET);
        }
        self.text = end.colour + &next;
        self.columns -= end.columns;
        self.word = Word::default();
        done
    }
}

const RESET: &str = "\u{1b}[0m";
