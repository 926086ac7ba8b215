//! The key `flags`: which flags a command may have, and what they take.

use std::collections::HashMap;

use super::names::{Words, is_name};
use crate::program;
use crate::reading::Word;

/// The flags of a table, by name with their dashes.
#[derive(Debug, Clone, Default)]
pub(super) struct Flags {
    names: HashMap<String, Takes>,
    /// `-20`
    pub(super) number: bool,
    /// `+20`
    pub(super) plus_number: bool,
}

/// Whether a flag has a value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// In the same word or the next.
    Value(Kind),
    /// Only in the same word, and it may be left out.
    Attached(Kind),
}

/// What a value may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Path,
    Number,
    OneOf(Words),
    /// A name and nothing more.
    Name,
    /// A program for `jq` that other commands have built in.
    Jq,
}

impl Flags {
    pub(super) fn get(&self, name: &str) -> Option<&Takes> {
        self.names.get(name)
    }

    /// A short flag by its letter.
    pub(super) fn letter(&self, letter: char) -> Option<&Takes> {
        let mut name = [b'-', 0, 0, 0, 0];
        let length = letter.encode_utf8(&mut name[1..]).len();
        self.names.get(std::str::from_utf8(&name[..=length]).ok()?)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Takes over the flags of another table. What this one says itself stays.
    pub(super) fn include(&mut self, other: &Flags) {
        self.number |= other.number;
        self.plus_number |= other.plus_number;
        for (name, takes) in &other.names {
            if !self.names.contains_key(name) {
                self.names.insert(name.clone(), takes.clone());
            }
        }
    }

    /// Reads the key's text. An error is a sentence for who writes tables.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut flags = Self::default();
        for written in text.split_ascii_whitespace() {
            match written {
                "-NUM" => flags.number = true,
                "+NUM" => flags.plus_number = true,
                _ => {
                    let (name, takes) = flag(written)?;
                    if flags.names.insert(name.to_owned(), takes).is_some() {
                        return Err(format!("the flag `{name}` stands there twice"));
                    }
                }
            }
        }
        Ok(flags)
    }
}

fn flag(written: &str) -> Result<(&str, Takes), String> {
    let dashes = written.len() - written.trim_start_matches('-').len();
    let letters = written.get(dashes..).unwrap_or_default();
    if !(1..=2).contains(&dashes) || !letters.starts_with(|first| first != '=') {
        return Err(format!("`{written}` is no flag"));
    }
    // From the second letter on, so that `-?` may be a flag.
    let end = written
        .char_indices()
        .skip(dashes + 1)
        .find(|(_, character)| matches!(character, '=' | '?' | '('));
    let Some((end, separator)) = end else {
        return Ok((written, Takes::Nothing));
    };
    let kind = kind(&written[end + 1..]).ok_or_else(|| format!("what may `{written}` take?"))?;
    match separator {
        '=' => Ok((&written[..end], Takes::Value(kind))),
        '?' => Ok((&written[..end], Takes::Attached(kind))),
        _ => Err(format!("`{written}` lacks a `=` or `?`")),
    }
}

fn kind(written: &str) -> Option<Kind> {
    match written {
        "" => Some(Kind::Text),
        "path" => Some(Kind::Path),
        "number" => Some(Kind::Number),
        "name" => Some(Kind::Name),
        "jq" => Some(Kind::Jq),
        _ => {
            let words = written.strip_prefix('(')?.strip_suffix(')')?;
            Words::of(words.split(',')).map(Kind::OneOf)
        }
    }
}

impl Kind {
    /// Whether a value is of this kind.
    pub(super) fn allows(&self, value: &str) -> bool {
        match self {
            Self::Text | Self::Path => true,
            Self::Number => is_number(value),
            Self::OneOf(words) => words.hold(value),
            Self::Name => is_name(value),
            Self::Jq => is_harmless_jq(value),
        }
    }
}

fn is_harmless_jq(program: &str) -> bool {
    let judge = program::named("jq");
    !program.starts_with('-') && judge.is_some_and(|judge| judge(&[Word::plain(program)]).is_ok())
}

/// A whole number, signed or not, with an optional unit such as `K` or `MiB`.
pub(super) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let unit = unsigned.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = unsigned.len() - unit.len();
    (1..=18).contains(&digits) && unit.len() <= 3 && unit.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_write_a_flag_are_read() {
        let flags = Flags::parse("-b --long -k= --key= -I? --f=path -n=number -NUM --c?(a,b) -?");
        let flags = flags.unwrap();
        assert!(flags.number && !flags.plus_number);
        for (name, takes) in [
            ("-b", Takes::Nothing),
            ("--long", Takes::Nothing),
            ("-k", Takes::Value(Kind::Text)),
            ("--key", Takes::Value(Kind::Text)),
            ("-I", Takes::Attached(Kind::Text)),
            ("--f", Takes::Value(Kind::Path)),
            ("-n", Takes::Value(Kind::Number)),
            ("--c", Takes::Attached(Kind::OneOf(Words::parse("a b")))),
            ("-?", Takes::Nothing),
        ] {
            assert_eq!(flags.get(name), Some(&takes), "{name}");
        }
        assert_eq!(flags.letter('b'), Some(&Takes::Nothing));
        assert_eq!(flags.letter('ö'), None);
    }

    #[test]
    fn a_table_takes_over_the_flags_of_another() {
        let mut flags = Flags::parse("-b -k=").unwrap();
        flags.include(&Flags::parse("-k -c -NUM +NUM").unwrap());
        assert!(flags.number && flags.plus_number);
        assert_eq!(flags.get("-c"), Some(&Takes::Nothing));
        assert_eq!(flags.get("-k"), Some(&Takes::Value(Kind::Text)));
        flags.include(&Flags::default());
        assert!(flags.number && flags.plus_number);
    }

    #[test]
    fn nonsense_is_no_flag() {
        for text in [
            "b", "-", "--", "---x", "-=", "-k=file", "-c=(", "-c=()", "-c(a)", "-b -b",
        ] {
            assert!(Flags::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_whole() {
        for good in ["1", "-5", "+3", "1K", "10MiB"] {
            assert!(is_number(good), "{good}");
        }
        for bad in ["", "-", "K", "1.5", "0x10", "1 2", "1kiloB", "--5"] {
            assert!(!is_number(bad), "{bad}");
        }
    }
}
