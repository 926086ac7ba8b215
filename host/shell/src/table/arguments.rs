//! Tells the flags of a command from its operands, and holds them against its table.

use super::flags::{Kind, Takes, is_number};
use super::format::{Dash, Operands, Table};
use crate::check::{Check, Finding};
use crate::reading::Word;

/// Goes through a command's words, from operand to operand.
pub(super) struct Arguments<'a> {
    pub(super) table: &'a Table,
    /// For messages.
    pub(super) command: &'a str,
    words: &'a [Word],
    at: usize,
    /// The command looks for no more flags.
    ended: bool,
    /// What the values of flags name.
    pub(super) reads: Vec<Word>,
    /// A flag gives the pattern that would else be the first operand.
    pub(super) has_pattern: bool,
    /// Of the groups of flags that make the command harmless, those without one yet.
    lacking: Vec<&'a [String]>,
    /// No operand yet.
    is_first: bool,
    /// Flags that were seen and say something about links.
    about_links: Vec<&'a str>,
}

/// A word that is no flag.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) word: &'a Word,
    /// It stands where the command looks for no more flags.
    pub(super) behind: bool,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(table: &'a Table, command: &'a str, words: &'a [Word]) -> Self {
        Self {
            table,
            command,
            words,
            at: 0,
            ended: table.dash == Dash::None,
            reads: Vec::new(),
            has_pattern: false,
            lacking: table.requires.iter().map(Vec::as_slice).collect(),
            is_first: true,
            about_links: Vec::new(),
        }
    }

    /// What comes after the last operand.
    pub(super) fn rest(&self) -> &'a [Word] {
        self.words.get(self.at..).unwrap_or_default()
    }

    /// The next word that is no flag, if all flags before it are harmless.
    pub(super) fn next_operand(&mut self) -> Result<Option<Operand<'a>>, Finding> {
        while let Some(word) = self.words.get(self.at) {
            self.at += 1;
            if self.table.at_files && word.text.starts_with('@') {
                return Err(self.unknown(&word.text));
            }
            let behind = self.ended;
            if !behind && self.looks_like_flag(word) {
                self.flag(word)?;
                continue;
            }
            self.ended |= self.table.dash == Dash::Posix;
            self.is_first = false;
            return Ok(Some(Operand { word, behind }));
        }
        Ok(None)
    }

    fn looks_like_flag(&self, word: &Word) -> bool {
        // Listed words may look like flags.
        let may_be_word = match self.table.operands {
            Operands::Words => true,
            Operands::WordsText => self.is_first,
            _ => false,
        };
        if may_be_word && self.table.words.hold(&word.text) && word.plain == word.text.len() {
            return false;
        }
        let is_plus_number = self.table.flags.plus_number && is_bare_number(&word.text, '+');
        (word.text.starts_with('-') && word.text.len() > 1) || is_plus_number
    }

    fn flag(&mut self, word: &'a Word) -> Result<(), Finding> {
        let text = &*word.text;
        let is_number = self.table.flags.number && is_bare_number(text, '-');
        if text == "--" && !self.table.double_dash {
            return Err(self.unknown(text));
        }
        if text == "--" || is_number || text.starts_with('+') {
            self.ended |= text == "--";
            return self.written_plainly(word, text.len());
        }
        if text.starts_with("--") || self.table.dash == Dash::Long {
            self.long(word)
        } else {
            self.cluster(word)
        }
    }

    fn long(&mut self, word: &'a Word) -> Result<(), Finding> {
        let equals = word.text.find('=');
        let name = &word.text[..equals.unwrap_or(word.text.len())];
        self.written_plainly(word, equals.map_or(name.len(), |equals| equals + 1))?;
        let takes = self
            .table
            .flags
            .get(name)
            .ok_or_else(|| self.unknown(name))?;
        self.note(name);
        match (takes, equals) {
            (Takes::Value(kind) | Takes::Attached(kind), Some(equals)) => {
                self.attached(word, equals + 1, kind)
            }
            (Takes::Nothing, Some(_)) => Err(self.unknown(&word.text)),
            (Takes::Value(kind), None) => self.separate(name, kind),
            (Takes::Nothing | Takes::Attached(_), None) => self.no_glob(word),
        }
    }

    /// Short flags in one word, such as `-la` or `-n5`.
    fn cluster(&mut self, word: &'a Word) -> Result<(), Finding> {
        for (at, letter) in word.text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            self.written_plainly(word, end)?;
            let name = format!("-{letter}");
            let Some(takes) = self.table.flags.letter(letter) else {
                return Err(self.unknown(&name));
            };
            self.note(&name);
            match takes {
                Takes::Nothing => {}
                Takes::Attached(_) if end == word.text.len() => {}
                Takes::Value(kind) if end == word.text.len() => return self.separate(&name, kind),
                Takes::Value(kind) | Takes::Attached(kind) => {
                    // Some programs leave out the `=` of `-f=x`, others take it for a
                    // part of the name.
                    let is_unclear = word.text[end..].starts_with('=')
                        && !matches!(kind, Kind::Text | Kind::OneOf(_));
                    if is_unclear || !self.table.attached {
                        return Err(self.unknown(&word.text));
                    }
                    return self.attached(word, end, kind);
                }
            }
        }
        self.no_glob(word)
    }

    /// A value in the flag's own word.
    fn attached(&mut self, word: &Word, begin: usize, kind: &Kind) -> Result<(), Finding> {
        // Names that match begin with the flag, so they are the same flag with another
        // text. That is no matter, unless somebody looks at the text.
        if *kind != Kind::Text || self.table.check.is_some() {
            self.no_glob(word)?;
        }
        let value = &word.text[begin..];
        if !kind.allows(value) {
            return Err(self.unknown(&word.text));
        }
        if *kind == Kind::Path {
            self.read(Word {
                text: value.to_owned(),
                glob: false,
                // Bash leaves it alone here, but the program may not.
                tilde: value.starts_with('~'),
                plain: word.plain.saturating_sub(begin),
            })?;
        }
        Ok(())
    }

    /// A value in the word behind the flag.
    fn separate(&mut self, name: &str, kind: &Kind) -> Result<(), Finding> {
        let Some(word) = self.words.get(self.at) else {
            return Err(self.found(format!("`{name}` of `{}` lacks its value", self.command)));
        };
        self.at += 1;
        self.no_glob(word)?;
        // Programs differ in whether `-a -b` gives `-b` to `-a`. A pattern is told by
        // its flag because it begins with a dash.
        let mut letters = word.text.chars();
        let is_dashed = letters.next() == Some('-')
            && letters
                .next()
                .is_some_and(|second| !second.is_ascii_digit());
        let is_at_file = self.table.at_files && word.text.starts_with('@');
        if is_at_file || (is_dashed && !self.gives_pattern(name)) || !kind.allows(&word.text) {
            return Err(self.unknown(&format!("{name} {}", word.text)));
        }
        if *kind == Kind::Path {
            self.read(word.clone())?;
        }
        Ok(())
    }

    /// Notes that a word names something that is read.
    pub(super) fn read(&mut self, word: Word) -> Result<(), Finding> {
        if self.table.remote_colon && word.text.contains(':') {
            let message = format!("`{}` may be on another machine", word.text);
            return Err(self.found(message));
        }
        if word.text != "-" {
            self.reads.push(word);
        }
        Ok(())
    }

    /// Whether the flags that were read make the command harmless.
    pub(super) fn enough(&self) -> Result<(), Finding> {
        let Some(required) = self.lacking.first() else {
            return Ok(());
        };
        let required = required.join("` or `");
        Err(self.found(format!(
            "`{}` is only known with `{required}`",
            self.command
        )))
    }

    /// Whether the flags that were read make it follow links below what is named.
    pub(super) fn follows_links(&self) -> bool {
        let has = |flags: &[String]| flags.iter().any(|flag| self.about_links.contains(&&**flag));
        has(&self.table.follows) && !has(&self.table.follows_unless)
    }

    fn note(&mut self, flag: &str) {
        self.has_pattern |= self.gives_pattern(flag);
        let table = self.table;
        let mut listed = table.follows.iter().chain(&table.follows_unless);
        self.about_links
            .extend(listed.find(|listed| *listed == flag).map(String::as_str));
        self.lacking
            .retain(|group| !group.iter().any(|required| required == flag));
    }

    fn gives_pattern(&self, name: &str) -> bool {
        self.table.pattern_flags.iter().any(|flag| flag == name)
    }

    /// The part of a word that makes it a flag must be readable as it stands.
    fn written_plainly(&self, word: &Word, end: usize) -> Result<(), Finding> {
        if word.plain >= end {
            return Ok(());
        }
        let message = format!("quotes or backslashes inside the flag `{}`", word.text);
        Err(Check::ObfuscatedFlags.found(message))
    }

    pub(super) fn no_glob(&self, word: &Word) -> Result<(), Finding> {
        if !word.glob {
            return Ok(());
        }
        let message = format!(
            "nobody knows what `{}` becomes for `{}`",
            word.text, self.command
        );
        Err(self.found(message))
    }

    pub(super) fn unknown(&self, argument: &str) -> Finding {
        self.found(format!(
            "`{argument}` is not known to be harmless for `{}`",
            self.command
        ))
    }

    pub(super) fn found(&self, message: String) -> Finding {
        Check::UnknownArgument.found(message)
    }
}

/// `-20` and the like, without a unit.
fn is_bare_number(text: &str, sign: char) -> bool {
    text.strip_prefix(sign)
        .is_some_and(|digits| is_number(digits) && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
