//! The tokens of an awk program. Where versions of awk disagree about what a character
//! begins, above all about `/`, the program is refused.

use crate::check::{Check, Finding};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Number,
    Text,
    Pattern,
    NewLine,
    /// An operator or bracket.
    Sign(&'a str),
    /// The `)` of `if (…)` and the like: a statement follows.
    HeadEnd,
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "**=", "&&", "||", "==", "!=", "<=", ">=", ">>", "++", "--", "+=", "-=", "*=", "%=", "^=",
    "**", "!~", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "%", "^", "!", "<", ">",
    "=", "~", "?", ":", "$", "|",
];

/// Behind these every awk takes `/` for the beginning of a pattern.
const BEFORE_PATTERN: &[&str] = &[
    "{", "}", ";", "(", ",", "!", "~", "!~", "&&", "||", "=", "==", "!=", "<", ">", "<=", ">=",
    "+", "-", "*", "%", "?", ":",
];

/// The names behind which a pattern may begin.
const NAMES_BEFORE_PATTERN: &[&str] = &["print", "printf", "return", "else", "do", "case"];

/// The names behind which `/` is neither surely a pattern nor surely a division.
const NAMES_BEFORE_ANYTHING: &[&str] = &[
    "BEGIN",
    "END",
    "BEGINFILE",
    "ENDFILE",
    "break",
    "continue",
    "default",
    "delete",
    "exit",
    "func",
    "function",
    "getline",
    "in",
    "next",
    "nextfile",
];

const HEADS: &[&str] = &["if", "while", "for", "switch"];

pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Finding> {
    let mut reader = Reader {
        text,
        at: 0,
        tokens: Vec::new(),
        parentheses: Vec::new(),
    };
    while reader.at < text.len() {
        reader.step()?;
    }
    Ok(reader.tokens)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token<'a>>,
    /// The open parentheses: whether each is the head of a statement.
    parentheses: Vec<bool>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) -> Result<(), Finding> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(());
        };
        let token = match first {
            ' ' | '\t' => {
                self.at += 1;
                return Ok(());
            }
            '#' => return self.comment(),
            '\n' => {
                self.at += 1;
                Token::NewLine
            }
            '"' => self.string()?,
            '/' => self.slash()?,
            '0'..='9' => self.number(),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => Token::Name(self.name()),
            _ => self.sign()?,
        };
        self.tokens.push(token);
        Ok(())
    }

    /// Versions differ in whether a backslash continues a comment.
    fn comment(&mut self) -> Result<(), Finding> {
        let rest = self.rest();
        let length = rest.find('\n').unwrap_or(rest.len());
        if rest[..length].contains('\\') {
            return Err(unclear("a backslash in a comment"));
        }
        self.at += length;
        Ok(())
    }

    fn string(&mut self) -> Result<Token<'a>, Finding> {
        let bytes = self.rest().as_bytes();
        let mut at = 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at += at + 1;
                    return Ok(Token::Text);
                }
                Some(b'\\') if bytes.get(at + 1).is_some_and(u8::is_ascii_graphic) => at += 2,
                Some(b'\\' | b'\n') | None => return Err(unclear("a text that does not end")),
                Some(_) => at += 1,
            }
        }
    }

    fn number(&mut self) -> Token<'a> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            from + bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        self.at += end;
        Token::Number
    }

    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        self.at += length;
        &rest[..length]
    }

    fn sign(&mut self) -> Result<Token<'a>, Finding> {
        let rest = self.rest();
        let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else {
            return Err(unclear("a character that awk programs seldom have"));
        };
        self.at += sign.len();
        match *sign {
            "(" => {
                let head =
                    matches!(self.tokens.last(), Some(Token::Name(name)) if HEADS.contains(name));
                self.parentheses.push(head);
            }
            ")" if self.parentheses.pop() == Some(true) => return Ok(Token::HeadEnd),
            _ => {}
        }
        Ok(Token::Sign(sign))
    }

    /// A division or a pattern.
    fn slash(&mut self) -> Result<Token<'a>, Finding> {
        let before_line = self
            .tokens
            .iter()
            .rev()
            .find(|token| **token != Token::NewLine);
        if before_line == Some(&Token::HeadEnd) {
            return Err(unclear("a pattern or a division"));
        }
        match self.tokens.last() {
            None | Some(Token::NewLine) => self.pattern(),
            Some(Token::Sign(sign)) if BEFORE_PATTERN.contains(sign) => self.pattern(),
            Some(Token::Name(name)) if NAMES_BEFORE_PATTERN.contains(name) => self.pattern(),
            Some(Token::Name(name))
                if NAMES_BEFORE_ANYTHING.contains(name) || super::program::is_function(name) =>
            {
                Err(unclear("a pattern or a division"))
            }
            Some(Token::Name(_) | Token::Number | Token::Text | Token::Sign(")" | "]")) => {
                let length = if self.rest().starts_with("/=") { 2 } else { 1 };
                let sign = &self.rest()[..length];
                self.at += length;
                Ok(Token::Sign(sign))
            }
            Some(Token::Sign(_) | Token::Pattern | Token::HeadEnd) => {
                Err(unclear("a pattern or a division"))
            }
        }
    }

    /// Some versions end a pattern at a `/` between brackets, others do not; nor do they
    /// agree where brackets end that hold `]` or a backslash.
    fn pattern(&mut self) -> Result<Token<'a>, Finding> {
        let bytes = self.rest().as_bytes();
        let mut at = 1;
        let mut bracket = false;
        loop {
            match (bytes.get(at), bracket) {
                (None | Some(b'\n'), _) => return Err(unclear("a pattern that does not end")),
                (Some(b'/'), false) => {
                    self.at += at + 1;
                    return Ok(Token::Pattern);
                }
                (Some(b'/'), true) => return Err(unclear("`/` between brackets")),
                (Some(b'\\'), _) => match bytes.get(at + 1) {
                    Some(b']') if bracket => return Err(unclear("`\\]` between brackets")),
                    Some(next) if next.is_ascii_graphic() => at += 2,
                    _ => return Err(unclear("a backslash at the end of a pattern")),
                },
                (Some(b'['), false) => {
                    bracket = true;
                    at += 1;
                    if bytes.get(at) == Some(&b'^') {
                        at += 1;
                    }
                    if bytes.get(at) == Some(&b']') {
                        return Err(unclear("`]` between brackets"));
                    }
                }
                (Some(b'['), true) => at = class_end(bytes, at)?,
                // It is passed over next, as any character outside of brackets.
                (Some(b']'), true) => bracket = false,
                (Some(_), _) => at += 1,
            }
        }
    }
}

/// Behind a class such as `[:digit:]` that stands between brackets.
fn class_end(bytes: &[u8], at: usize) -> Result<usize, Finding> {
    if !matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) {
        return Ok(at + 1);
    }
    let letters = bytes[at + 2..]
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    let end = at + 2 + letters;
    if bytes[at + 1] == b':' && bytes[end..].starts_with(b":]") {
        return Ok(end + 2);
    }
    Err(unclear("a class between brackets"))
}

fn unclear(what: &str) -> Finding {
    Check::UnsafeProgram.found(format!("{what} in an awk program"))
}
