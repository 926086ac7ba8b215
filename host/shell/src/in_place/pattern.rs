//! Patterns of `sed`, as far as they mean the same to it and to the library that matches here.
//!
//! `sed` takes the longest of the leftmost matches, the library the first that its pattern leads
//! to. Where each repetition repeats a single letter and nothing is an alternative, the two are the
//! same: whoever takes a letter early has all later parts of the pattern still before it. So
//! groups only remember here; they are never repeated, and there is no `|`.

use super::Dialect;

/// A pattern for the library.
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) groups: usize,
    /// Letters alone.
    pub(super) is_plain: bool,
}

/// What was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that could be repeated.
    Nothing,
    /// One letter, or one of several.
    Letter,
    /// Something that is, but must not be.
    Repeated,
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    out: Pattern,
    last: Last,
    open: usize,
    /// Letters that must be there. A pattern that may match nothing at all is a riddle.
    needed: usize,
}

/// What a pattern means; none if that is not certain.
pub(super) fn read(text: &str, delimiter: char, dialect: Dialect) -> Option<Pattern> {
    if text.is_empty() {
        // The one that was used last.
        return None;
    }
    let mut reader = Reader {
        rest: text.chars().peekable(),
        out: Pattern {
            text: String::new(),
            groups: 0,
            is_plain: true,
        },
        last: Last::Nothing,
        open: 0,
        needed: 0,
    };
    let mut is_anchored = false;
    if reader.rest.next_if_eq(&'^').is_some() {
        reader.out.text.push('^');
        is_anchored = true;
    }
    while let Some(c) = reader.rest.next() {
        match (c, dialect) {
            ('$', _) if reader.rest.peek().is_none() && reader.open == 0 => {
                reader.out.text.push('$');
                is_anchored = true;
            }
            ('^' | '$', _) => return None,
            ('.', _) => reader.one_of("."),
            ('[', _) => reader.bracket()?,
            ('*', _) => reader.repeat('*')?,
            ('+' | '?', Dialect::Extended) => reader.repeat(c)?,
            ('(', Dialect::Extended) => reader.begin(),
            (')', Dialect::Extended) => reader.end()?,
            ('{' | '}' | '|', Dialect::Extended) => return None,
            ('\\', _) => {
                let c = reader.rest.next()?;
                reader.escaped(c, delimiter, dialect)?;
            }
            ('\n', _) => return None,
            (c, _) => reader.letter(c),
        }
    }
    let matches_something = reader.needed > 0 || is_anchored && reader.last == Last::Nothing;
    (reader.open == 0 && matches_something).then_some(reader.out)
}

impl Reader<'_> {
    fn escaped(&mut self, c: char, delimiter: char, dialect: Dialect) -> Option<()> {
        let always = r".*[]^$\/";
        let in_extended = "+?(){}|";
        match (c, dialect) {
            // Whether it is itself then or what it means, versions do not agree.
            (c, _) if c == delimiter && (in_extended.contains(c) || ".*[]^$".contains(c)) => None,
            (c, _) if c == delimiter && !c.is_ascii_alphanumeric() => {
                self.letter(c);
                Some(())
            }
            (c, _) if always.contains(c) => {
                self.letter(c);
                Some(())
            }
            (c, Dialect::Extended) if in_extended.contains(c) => {
                self.letter(c);
                Some(())
            }
            ('+' | '?', Dialect::Basic) => self.repeat(c),
            ('(', Dialect::Basic) => {
                self.begin();
                Some(())
            }
            (')', Dialect::Basic) => self.end(),
            ('t', _) => {
                self.letter('\t');
                Some(())
            }
            _ => None,
        }
    }

    fn letter(&mut self, c: char) {
        let text = letter(c);
        self.out.text.push_str(&text);
        self.last = Last::Letter;
        self.needed += 1;
    }

    fn one_of(&mut self, text: &str) {
        self.out.text.push_str(text);
        self.out.is_plain = false;
        self.last = Last::Letter;
        self.needed += 1;
    }

    fn repeat(&mut self, sign: char) -> Option<()> {
        // `**`, `a+*` and a star after nothing are read differently here and there.
        if self.last != Last::Letter {
            return None;
        }
        self.out.text.push(sign);
        self.out.is_plain = false;
        self.last = Last::Repeated;
        if sign != '+' {
            self.needed -= 1;
        }
        Some(())
    }

    fn begin(&mut self) {
        self.out.text.push('(');
        self.out.groups += 1;
        self.open += 1;
        self.last = Last::Nothing;
    }

    fn end(&mut self) -> Option<()> {
        self.open = self.open.checked_sub(1)?;
        self.out.text.push(')');
        self.last = Last::Repeated;
        Some(())
    }

    /// `[abc]`, `[^a-z]`, `[[:alpha:]_]`.
    fn bracket(&mut self) -> Option<()> {
        let mut text = String::from("[");
        if self.rest.next_if_eq(&'^').is_some() {
            text.push('^');
        }
        let mut is_first = true;
        loop {
            let c = self.rest.next()?;
            match c {
                ']' if !is_first => break,
                '\\' | '\n' => return None,
                '[' if matches!(self.rest.peek(), Some(':' | '.' | '=')) => {
                    text.push_str(self.class()?);
                }
                '-' if !is_first && self.rest.peek() != Some(&']') => return None,
                c => {
                    text.push_str(&letter(c));
                    self.range(c, &mut text)?;
                }
            }
            is_first = false;
        }
        text.push(']');
        self.one_of(&text);
        Some(())
    }

    /// The end of `a-z`, if this is one. Others than of digits and of letters of one case depend
    /// on the language.
    fn range(&mut self, from: char, text: &mut String) -> Option<()> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.next()?, ']') {
            return Some(());
        }
        self.rest.next();
        let to = self.rest.next()?;
        let kinds: [fn(&char) -> bool; 3] = [
            char::is_ascii_digit,
            char::is_ascii_lowercase,
            char::is_ascii_uppercase,
        ];
        if from > to || !kinds.iter().any(|is| is(&from) && is(&to)) {
            return None;
        }
        text.push('-');
        text.push_str(&letter(to));
        Some(())
    }

    fn class(&mut self) -> Option<&'static str> {
        const NAMES: [(&str, &str); 8] = [
            (":alpha:]", "[:alpha:]"),
            (":digit:]", "[:digit:]"),
            (":alnum:]", "[:alnum:]"),
            (":upper:]", "[:upper:]"),
            (":lower:]", "[:lower:]"),
            (":space:]", "[:space:]"),
            (":blank:]", "[:blank:]"),
            (":punct:]", "[:punct:]"),
        ];
        let ahead: String = self.rest.clone().take(":alpha:]".len()).collect();
        let (name, class) = NAMES.into_iter().find(|(name, _)| *name == ahead)?;
        for _ in name.chars() {
            self.rest.next();
        }
        Some(class)
    }
}

/// A letter that means itself, whatever it is.
fn letter(c: char) -> String {
    format!("\\x{{{:X}}}", u32::from(c))
}
