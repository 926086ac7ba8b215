//! A jq program, read token by token. A name counts where it is called; a field
//! (`.env`), a key (`{env: 1}`) or a text does not.

use crate::check::{Check, Finding};

/// What is open around a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis,
    Bracket,
    Brace,
    /// `\(` inside a text: code until its `)`, then text again.
    Interpolation,
}

/// With one of these in the program a comma between braces may be something else than the
/// end of an entry, so that nothing counts as a key.
const STATEMENTS: &[&str] = &[
    "as", "def", "elif", "else", "foreach", "if", "label", "reduce", "then", "try",
];

/// No jq that is known has these, some of its relatives do.
const RUNS: &[&str] = &["eval", "exec", "popen", "sh", "shell", "spawn", "system"];

/// Read the environment or files.
const READS: &[&str] = &["env", "getenv", "import", "include", "modulemeta"];

/// Have no end of their own.
const LOOPS: &[&str] = &["repeat", "until", "while"];

pub(super) fn judge(program: &str) -> Result<(), Finding> {
    Reader {
        text: program,
        bytes: program.as_bytes(),
        at: 0,
        open: Vec::new(),
        previous: 0,
        names: Vec::new(),
    }
    .read()
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// The last byte of the token before, blanks and comments left out.
    previous: u8,
    /// Names that are called, and those that may be keys.
    names: Vec<(&'a str, bool)>,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Result<(), Finding> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' => {
                    self.at += 1;
                    continue;
                }
                b'#' => {
                    self.comment()?;
                    continue;
                }
                b'"' => {
                    self.at += 1;
                    self.string()?;
                    continue;
                }
                b'(' => self.enter(Open::Parenthesis),
                b'[' => self.enter(Open::Bracket),
                b'{' => self.enter(Open::Brace),
                b')' => match self.open.pop() {
                    Some(Open::Parenthesis) => self.at += 1,
                    // The text around it goes on, with the bracket for its first letter.
                    Some(Open::Interpolation) => {
                        self.string()?;
                        continue;
                    }
                    _ => return Err(unclear()),
                },
                b']' => self.leave(Open::Bracket)?,
                b'}' => self.leave(Open::Brace)?,
                b'.' => self.dot(),
                b'0'..=b'9' => self.number(),
                b'@' => {
                    self.at += 1;
                    self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                }
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.name()?,
                b'$' | b'|' | b',' | b':' | b';' | b'=' | b'<' | b'>' | b'!' | b'+' | b'-'
                | b'*' | b'/' | b'%' | b'?' => self.at += 1,
                _ => return Err(unclear()),
            }
            self.previous = self.bytes[self.at - 1];
        }
        if self.open.is_empty() {
            self.verdict()
        } else {
            Err(unclear())
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.peek(0).is_some_and(&wanted) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn enter(&mut self, open: Open) {
        self.open.push(open);
        self.at += 1;
    }

    fn leave(&mut self, open: Open) -> Result<(), Finding> {
        if self.open.pop() != Some(open) {
            return Err(unclear());
        }
        self.at += 1;
        Ok(())
    }

    /// Newer versions continue a comment behind a backslash, older ones do not.
    fn comment(&mut self) -> Result<(), Finding> {
        let comment = self.take(|byte| byte != b'\n');
        if comment.contains(['\\', '\r']) {
            return Err(unclear());
        }
        Ok(())
    }

    /// From behind the quote, or behind an interpolation, to the end of the text or the
    /// next interpolation.
    fn string(&mut self) -> Result<(), Finding> {
        loop {
            match self.peek(0) {
                None => return Err(unclear()),
                Some(b'"') => {
                    self.at += 1;
                    self.previous = b'"';
                    return Ok(());
                }
                Some(b'\\') if self.peek(1) == Some(b'(') => {
                    self.at += 2;
                    self.open.push(Open::Interpolation);
                    self.previous = b'(';
                    return Ok(());
                }
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }

    /// `..`, a field, a number such as `.5`, or the input itself.
    fn dot(&mut self) {
        self.at += 1;
        match self.peek(0) {
            Some(b'.') => self.at += 1,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.take(in_name);
            }
            _ => {}
        }
    }

    fn number(&mut self) {
        self.take(|byte| byte.is_ascii_digit());
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            self.take(|byte| byte.is_ascii_digit());
        }
    }

    fn name(&mut self) -> Result<(), Finding> {
        let variable = self.previous == b'$';
        let first_of_entry = matches!(self.previous, b'{' | b',');
        let name = self.take(in_name);
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\n']);
        if rest.starts_with("::") {
            return Err(Check::JqFileArguments.found("a name of a module that is read"));
        }
        if variable {
            if name == "ENV" {
                return Err(Check::JqFileArguments.found("`$ENV` holds the environment"));
            }
            return Ok(());
        }
        let key = self.open.last() == Some(&Open::Brace)
            && first_of_entry
            && rest.starts_with([':', ',', '}']);
        self.names.push((name, key));
        Ok(())
    }

    fn verdict(&self) -> Result<(), Finding> {
        let has = |wanted: &str| self.names.iter().any(|(name, _)| *name == wanted);
        let keys_count = !STATEMENTS.iter().any(|statement| has(statement));
        for (name, key) in &self.names {
            if *key && keys_count {
                continue;
            }
            if RUNS.contains(name) {
                return Err(Check::JqSystemFunction.found(format!("jq `{name}` runs something")));
            }
            if READS.contains(name) {
                let message = format!("jq `{name}` reads the environment or a file");
                return Err(Check::JqFileArguments.found(message));
            }
            if LOOPS.contains(name) {
                return Err(Check::Endless.found(format!("jq `{name}` may have no end")));
            }
        }
        if has("range") && has("infinite") {
            return Err(Check::Endless.found("a range without an end"));
        }
        Ok(())
    }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn unclear() -> Finding {
    Check::UnsafeProgram.found("a jq program that cannot be read")
}
