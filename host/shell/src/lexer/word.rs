//! One word: its quotes are taken away, and whatever bash would expand is refused or
//! marked.

use super::text::Text;
use super::too_complex;
use crate::check::{Check, Finding};
use crate::reading::Word;

/// A word, and what its spelling says.
pub(super) struct Spelled {
    pub(super) word: Word,
    /// An unquoted `~` stands behind a `=` or `:`, where bash expands it in assignments.
    pub(super) inner_tilde: bool,
}

impl Spelled {
    pub(super) fn is_descriptor(&self) -> bool {
        let Word { text, plain, .. } = &self.word;
        *plain == text.len() && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// The two sides, if the word assigns a variable.
    pub(super) fn assignment(&self) -> Result<Option<(String, String)>, Finding> {
        let Some((name, value)) = self.word.text.split_once('=') else {
            return Ok(None);
        };
        if name.len() >= self.word.plain {
            return Ok(None);
        }
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.starts_with(|first: char| !first.is_ascii_digit());
        if is_name {
            if self.inner_tilde || self.word.glob {
                return Err(too_complex("an assignment of more than a plain text"));
            }
            return Ok(Some((name.to_owned(), value.to_owned())));
        }
        let stem = name.trim_end_matches('+');
        let begins_as_name =
            stem.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if begins_as_name && (name.ends_with('+') || name.contains('[')) {
            return Err(too_complex("an assignment to a part of a variable"));
        }
        Ok(None)
    }
}

pub(super) struct Builder<'t, 'a> {
    text: &'t mut Text<'a>,
    word: Word,
    /// Nothing was quoted yet.
    is_plain: bool,
    /// It begins with `~`, and what would name the home is quoted.
    quoted_home: bool,
    /// It would be the command's name.
    is_name: bool,
    inner_tilde: bool,
    /// Unquoted braces that are open.
    braces: usize,
    /// The last character, if it was written plainly.
    last: Option<char>,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(super) fn new(text: &'t mut Text<'a>, is_name: bool) -> Self {
        Self {
            text,
            word: Word::default(),
            is_plain: true,
            quoted_home: false,
            is_name,
            inner_tilde: false,
            braces: 0,
            last: None,
        }
    }

    pub(super) fn build(mut self) -> Result<Spelled, Finding> {
        self.beginning()?;
        while let Some(next) = self.text.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' => return Err(self.parenthesis()),
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => self.escaped()?,
                '$' => self.dollar(false)?,
                '`' => return Err(substitution("`")),
                _ => {
                    self.text.take();
                    self.plain(next)?;
                }
            }
        }
        if !self.is_plain && self.word.plain == self.word.text.len() && self.word.plain > 0 {
            // `if''` is no `if`, and `-p''` no `-p` to `time`; but they look so from here on.
            return Err(too_complex("an empty quote behind a word"));
        }
        let home = self.word.text.split('/').next().unwrap_or_default();
        if self.word.tilde && home.contains(':') {
            return Err(too_complex("`~` before a colon"));
        }
        if self.quoted_home {
            return Err(too_complex("`~` with a quote before its first slash"));
        }
        if self.braces > 0 {
            return Err(Check::MalformedTokenInjection.found("a brace is not closed"));
        }
        if self.word.text.len() == 1 && self.word.text == "[" {
            self.word.glob = false;
        }
        Ok(Spelled {
            word: self.word,
            inner_tilde: self.inner_tilde,
        })
    }

    /// What means something only in front.
    fn beginning(&mut self) -> Result<(), Finding> {
        if self.text.starts_with("~[") {
            return Err(substitution("~["));
        }
        if self.text.starts_with("~") {
            self.word.tilde = true;
        }
        if let [Some('='), Some(next)] = self.text.next_two()
            && (next.is_ascii_alphabetic() || next == '_')
        {
            return Err(Check::CommandSubstitution
                .found("`=` before a name is replaced by a program's path in zsh"));
        }
        Ok(())
    }

    /// A character that stands for itself, or for a pattern.
    fn plain(&mut self, character: char) -> Result<(), Finding> {
        match character {
            '*' | '?' | '[' => self.word.glob = true,
            '#' => {
                return Err(Check::MidWordHash
                    .found("`#` inside a word is a comment to some and a letter to others"));
            }
            '~' if matches!(self.last, Some('=' | ':')) => self.inner_tilde = true,
            '{' => {
                self.braces += 1;
            }
            '}' => {
                if self.braces == 0 {
                    // Bash takes the `}` for the end of an earlier `{` if a list lies between.
                    let text = &self.word.text;
                    if text.contains('{') && (text.contains(',') || text.contains("..")) {
                        return Err(brace_expansion());
                    }
                    return Err(Check::MalformedTokenInjection.found("a brace closes nothing"));
                }
                self.braces -= 1;
            }
            ',' if self.braces > 0 => return Err(brace_expansion()),
            '.' if self.braces > 0 && self.last == Some('.') => return Err(brace_expansion()),
            _ => {}
        }
        self.push(character);
        self.last = Some(character);
        Ok(())
    }

    fn push(&mut self, character: char) {
        self.word.text.push(character);
        if self.is_plain {
            self.word.plain += character.len_utf8();
        }
    }

    fn begin_quote(&mut self) {
        // Bash leaves such a `~` alone.
        self.quoted_home |= self.word.tilde && !self.word.text.contains('/');
        self.is_plain = false;
        self.last = None;
    }

    fn parenthesis(&self) -> Finding {
        if self.last == Some('=') {
            return substitution("=(");
        }
        too_complex("`(` in a word")
    }

    fn single_quoted(&mut self) -> Result<(), Finding> {
        self.begin_quote();
        self.text.take();
        let Some(quoted) = self.text.take_until('\'') else {
            return Err(not_closed());
        };
        check_lines(quoted)?;
        self.word.text.push_str(quoted);
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), Finding> {
        self.begin_quote();
        self.text.take();
        let start = self.word.text.len();
        loop {
            let Some(next) = self.text.peek() else {
                return Err(not_closed());
            };
            match next {
                '"' => {
                    self.text.take();
                    return check_lines(&self.word.text[start..]);
                }
                '$' => self.dollar(true)?,
                '`' => return Err(substitution("`")),
                '\\' => {
                    self.text.take();
                    match self.text.take() {
                        Some(kept @ ('"' | '\\' | '$' | '`')) => self.push(kept),
                        Some('\n') => {
                            return Err(Check::Newlines.found("a line end is hidden in quotes"));
                        }
                        Some(other) => {
                            self.push('\\');
                            self.push(other);
                        }
                        None => return Err(not_closed()),
                    }
                }
                _ => {
                    self.text.take();
                    self.push(next);
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<(), Finding> {
        self.begin_quote();
        self.text.take();
        let Some(character) = self.text.take() else {
            return Err(Check::IncompleteCommands.found("it ends with a backslash"));
        };
        match character {
            '\n' => Err(Check::Newlines.found("a backslash joins a word over a line end")),
            '\t' => Err(escaped_blank()),
            ' ' if self.is_name => Err(escaped_blank()),
            ';' | '&' | '|' | '<' | '>' if !self.is_terminator(character) => {
                Err(Check::BackslashEscapedOperators
                    .found(format!("`\\{character}` is no operator")))
            }
            _ => {
                self.push(character);
                Ok(())
            }
        }
    }

    /// `\;` as a whole word, as `find -exec` wants it.
    fn is_terminator(&self, character: char) -> bool {
        let ends = matches!(
            self.text.peek(),
            None | Some(' ' | '\t' | '\n' | ';' | '|' | ')')
        );
        character == ';' && self.word.text.is_empty() && !self.is_name && ends
    }

    /// A dollar that stands for itself; any other is refused.
    fn dollar(&mut self, in_quotes: bool) -> Result<(), Finding> {
        let [_, next] = self.text.next_two();
        let refused = match next {
            None | Some(' ' | '\t' | '\n' | '/' | '%' | '.' | ',' | '|' | ')' | ';' | '&') => None,
            Some('"') if in_quotes => None,
            Some('\'') if in_quotes => None,
            Some('\'' | '"') => Some(too_complex("`$` before a quote")),
            Some('(') => Some(substitution("$(")),
            Some('{') => Some(self.parameter()),
            Some('[') => Some(substitution("$[")),
            Some(_) => Some(self.variable()),
        };
        match refused {
            Some(finding) => Err(finding),
            None => {
                self.text.take();
                self.push('$');
                self.last = None;
                Ok(())
            }
        }
    }

    fn parameter(&self) -> Finding {
        if self.text.starts_with("${IFS") {
            return ifs();
        }
        substitution("${")
    }

    fn variable(&self) -> Finding {
        if self.text.starts_with("$IFS") {
            return ifs();
        }
        if self.is_name {
            return Check::DangerousVariables.found("a variable says which command runs");
        }
        Check::TooComplex.found("a variable stands for something that cannot be seen")
    }
}

/// A line end in quotes followed by `#` can make a reader believe that the rest is a comment.
fn check_lines(quoted: &str) -> Result<(), Finding> {
    match quoted.split_once('\n') {
        Some((_, rest)) if rest.contains('#') => {
            Err(Check::QuotedNewline.found("a quoted line end is followed by `#`"))
        }
        _ => Ok(()),
    }
}

fn substitution(what: &str) -> Finding {
    Check::CommandSubstitution.found(format!(
        "`{what}` is replaced by what a command or shell makes of it"
    ))
}

fn ifs() -> Finding {
    Check::IfsInjection.found("`IFS` decides where words end")
}

fn brace_expansion() -> Finding {
    Check::BraceExpansion.found("braces make several words of one")
}

fn escaped_blank() -> Finding {
    Check::BackslashEscapedWhitespace.found("a blank behind a backslash is part of the word")
}

fn not_closed() -> Finding {
    Check::IncompleteCommands.found("a quote is not closed")
}
