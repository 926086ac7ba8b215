//! JSON as people write it: with comments, and with a comma behind the last element.

use anyhow::bail;

/// The same text as plain JSON: comments and trailing commas have become spaces, so whatever
/// reads it finds mistakes at the lines and columns at which they are in the file.
pub fn read_jsonc(text: &str) -> anyhow::Result<String> {
    let mut scan = Scan {
        text: text.as_bytes(),
        out: Vec::with_capacity(text.len()),
        comma: None,
        before: None,
    };
    scan.all()?;
    // Only whole characters were replaced, each byte by a space.
    Ok(String::from_utf8(scan.out)?)
}

struct Scan<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    /// Where a comma stands that may turn out to be a trailing one.
    comma: Option<usize>,
    /// The last byte that was neither space nor comment.
    before: Option<u8>,
}

impl Scan<'_> {
    fn all(&mut self) -> anyhow::Result<()> {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'/', Some(b'/')) => self.line_comment(),
                (b'/', Some(b'*')) => self.block_comment()?,
                (b' ' | b'\t' | b'\r' | b'\n', _) => self.out.push(byte),
                (b'"', _) => self.string(),
                (b',', _) => {
                    // A comma without a value before it is a mistake, not a trailing one.
                    let follows = !matches!(self.before, None | Some(b'[' | b'{' | b',' | b':'));
                    let here = self.out.len();
                    self.significant(byte);
                    self.comma = follows.then_some(here);
                }
                (b']' | b'}', _) => {
                    if let Some(comma) = self.comma.and_then(|at| self.out.get_mut(at)) {
                        *comma = b' ';
                    }
                    self.significant(byte);
                }
                _ => self.significant(byte),
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.out.len() + ahead).copied()
    }

    fn significant(&mut self, byte: u8) {
        self.out.push(byte);
        self.before = Some(byte);
        self.comma = None;
    }

    /// A string stays as it is. One that does not end is the JSON reader's to refuse.
    fn string(&mut self) {
        self.significant(b'"');
        while let Some(byte) = self.peek(0) {
            self.out.push(byte);
            match byte {
                b'"' => return,
                b'\\' => self.out.extend(self.peek(0)),
                _ => {}
            }
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.blank();
        }
    }

    fn block_comment(&mut self) -> anyhow::Result<()> {
        let begin = self.out.len();
        self.blank();
        self.blank();
        while self.peek(0).is_some() {
            if (self.peek(0), self.peek(1)) == (Some(b'*'), Some(b'/')) {
                self.blank();
                self.blank();
                return Ok(());
            }
            self.blank();
        }
        let lines = self.text.iter().take(begin);
        let line = 1 + lines.filter(|byte| **byte == b'\n').count();
        bail!("the comment that begins at line {line} does not end")
    }

    /// The next byte as a space; line ends stay.
    fn blank(&mut self) {
        match self.peek(0) {
            Some(byte @ (b'\r' | b'\n')) => self.out.push(byte),
            Some(_) => self.out.push(b' '),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        for (text, expected) in [
            ("", ""),
            ("{}", "{}"),
            ("// a\n{}", "    \n{}"),
            ("//\u{e4}\n1", "    \n1"),
            ("// a\r\n{}", "    \r\n{}"),
            ("{} // a", "{}     "),
            ("/* a\n b */{}", "    \n     {}"),
            ("/**/{}", "    {}"),
            ("/***/{}", "     {}"),
            ("/*/ */{}", "      {}"),
            ("[1,]", "[1 ]"),
            ("[1, // a\n]", "[1      \n]"),
            ("[1 /* , */ , /* ] */ ]", "[1                   ]"),
            ("{\"a\": 1,}", "{\"a\": 1 }"),
            ("{\"a\": [\"b\",],}", "{\"a\": [\"b\" ] }"),
            // A comma that has something behind it stays.
            ("[1, 2]", "[1, 2]"),
            ("[1, /* a */ 2]", "[1,         2]"),
            // Strings are not looked into.
            ("\"// a\"", "\"// a\""),
            ("[\"/* a */\", \",]\"]", "[\"/* a */\", \",]\"]"),
            ("\"a\\\"// b\"", "\"a\\\"// b\""),
            ("\"\\\\\"// b", "\"\\\\\"    "),
            // What is wrong stays wrong, for the JSON reader to say.
            ("[,]", "[,]"),
            ("[1,,]", "[1,,]"),
            ("{,}", "{,}"),
            ("{\"a\":,}", "{\"a\":,}"),
            (",", ","),
            ("/ a", "/ a"),
            ("\"// a", "\"// a"),
            ("\"a\\", "\"a\\"),
            ("[1, /", "[1, /"),
        ] {
            let read = read_jsonc(text).unwrap();
            assert_eq!(read, expected, "{text:?}");
            assert_eq!(read.len(), text.len(), "{text:?}");
        }
    }

    #[test]
    fn a_comment_without_an_end_is_named_with_its_line() {
        for (text, line) in [("/*", 1), ("{\n\n/* a\nb * /", 3), ("{}\n/*/", 2)] {
            let error = read_jsonc(text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("line {line} ")),
                "{text:?}: {error}"
            );
        }
    }

    #[test]
    fn mistakes_keep_their_places() {
        let text = "{\n  // \u{e4}\u{f6}\u{fc}\n  \"a\": 1, /* x\n  */ \"b\" 2\n}";
        let read = read_jsonc(text).unwrap();
        let error = serde_json::from_str::<serde_json::Value>(&read).unwrap_err();
        assert_eq!((error.line(), error.column()), (4, 10));
    }
}
