//! A reader of `sed` scripts that knows only what is harmless. Where versions of `sed`
//! might read a text differently, it does not know it.

use crate::check::{Check, Finding};

/// Whether a script only prints, deletes and replaces in what passes through.
pub(super) fn check(script: &str) -> Result<(), Finding> {
    let readable = |byte: u8| byte == b'\n' || byte == b' ' || byte.is_ascii_graphic();
    let mut reader = Reader {
        rest: script.as_bytes(),
    };
    if script.bytes().all(readable) && reader.commands().is_some() {
        return Ok(());
    }
    let message = format!("the `sed` script `{script}` is not known to only print");
    Err(Check::UnsafeProgram.found(message))
}

struct Reader<'a> {
    rest: &'a [u8],
}

/// `None` is "unknown" throughout.
impl<'a> Reader<'a> {
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(|byte| matches!(byte, b' ' | b';' | b'\n'));
            if self.rest.is_empty() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
            self.skip(|byte| byte == b' ');
            match self.rest.first() {
                None | Some(b';' | b'\n') => {}
                Some(_) => return None,
            }
        }
    }

    /// None, one or two addresses.
    fn addresses(&mut self) -> Option<()> {
        if !self.address()? {
            return Some(());
        }
        self.skip(|byte| byte == b' ');
        if self.eat(b',') {
            self.skip(|byte| byte == b' ');
            let is_relative = self.eat(b'+') || self.eat(b'~');
            let is_there = if is_relative {
                self.number()
            } else {
                self.address()?
            };
            if !is_there {
                return None;
            }
            self.skip(|byte| byte == b' ');
        }
        Some(())
    }

    /// Whether there is one: a line, `first~step`, `$` or a pattern.
    fn address(&mut self) -> Option<bool> {
        if self.eat(b'$') {
            return Some(true);
        }
        if self.eat(b'/') {
            self.pattern(b'/')?;
            self.skip(|byte| matches!(byte, b'I' | b'M'));
            return Some(true);
        }
        if !self.number() {
            return Some(false);
        }
        if self.eat(b'~') && !self.number() {
            return None;
        }
        Some(true)
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            b'p' | b'P' | b'=' | b'd' | b'D' | b'n' | b'N' | b'g' | b'G' | b'h' | b'H' | b'x' => {}
            b'l' | b'q' | b'Q' => {
                self.skip(|byte| byte == b' ');
                self.number();
            }
            b's' => {
                let delimiter = self.delimiter()?;
                self.pattern(delimiter)?;
                self.until(delimiter)?;
                self.skip(|byte| b"gpiImM0123456789".contains(&byte));
            }
            b'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn delimiter(&mut self) -> Option<u8> {
        self.next()
            .filter(|byte| byte.is_ascii_punctuation() && *byte != b'\\')
    }

    /// A regular expression up to its delimiter.
    fn pattern(&mut self, delimiter: u8) -> Option<()> {
        let pattern = self.until(delimiter)?;
        brackets_close(pattern).then_some(())
    }

    /// What stands before the next delimiter without a backslash, on one line.
    fn until(&mut self, delimiter: u8) -> Option<&'a [u8]> {
        let all = self.rest;
        loop {
            match self.next()? {
                b'\n' => return None,
                b'\\' => {
                    self.next().filter(|byte| *byte != b'\n')?;
                }
                byte if byte == delimiter => {
                    let length = all.len() - self.rest.len() - 1;
                    return all.get(..length);
                }
                _ => {}
            }
        }
    }

    /// Whether there is a number.
    fn number(&mut self) -> bool {
        let before = self.rest.len();
        self.skip(|byte| byte.is_ascii_digit());
        self.rest.len() < before
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.rest.first().is_some_and(|byte| is_skipped(*byte)) {
            self.next();
        }
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let is_there = self.rest.first() == Some(&wanted);
        if is_there {
            self.next();
        }
        is_there
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }
}

/// Whether each `[` has its `]`. Else the delimiter stood inside, and there some
/// versions of `sed` do not take it for the end.
fn brackets_close(pattern: &[u8]) -> bool {
    let mut rest = pattern.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => {
                rest.next();
            }
            b'[' => {
                rest.next_if_eq(&b'^');
                // In front it is itself.
                rest.next_if_eq(&b']');
                loop {
                    match rest.next() {
                        None => return false,
                        Some(b']') => break,
                        // A class such as `[:alpha:]` has brackets of its own.
                        Some(b'[') if matches!(rest.peek(), Some(b':' | b'.' | b'=')) => {
                            let kind = rest.next();
                            while let Some(byte) = rest.next() {
                                if Some(byte) == kind && rest.next_if_eq(&b']').is_some() {
                                    break;
                                }
                            }
                        }
                        Some(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
    true
}
