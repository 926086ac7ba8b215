//! In which line of a JSON text the rules of a list stand.
//!
//! The parser of settings does not tell; a rule's provenance should. It is asked only about texts
//! that have been parsed already, so that anything unexpected just ends the search.

/// The lines of the strings in the list that the keys lead to, counted from one and in order;
/// empty if there is no such list. Of a key that stands twice the last counts, as for parsers.
pub fn lines_of(text: &str, keys: &[&str]) -> Vec<u32> {
    let mut scanner = Scanner {
        rest: text,
        line: 1,
        found: Vec::new(),
    };
    // A text that ends too early has no more lines to tell.
    let _ = scanner.value(Some(keys));
    scanner.found
}

struct Scanner<'a> {
    rest: &'a str,
    line: u32,
    found: Vec<u32>,
}

impl<'a> Scanner<'a> {
    /// Reads a value; with keys left it may hold the list.
    fn value(&mut self, keys: Option<&[&str]>) -> Option<()> {
        match self.peek()? {
            '{' => self.object(keys),
            '[' => self.list(keys.is_some_and(<[&str]>::is_empty)),
            '"' => self.string().map(drop),
            _ => {
                let end = self.rest.find([',', ']', '}']).unwrap_or(self.rest.len());
                self.skip(end);
                (end > 0).then_some(())
            }
        }
    }

    fn object(&mut self, keys: Option<&[&str]>) -> Option<()> {
        self.skip(1);
        while self.peek()? != '}' {
            let key = self.string()?;
            self.peek().filter(|c| *c == ':')?;
            self.skip(1);
            let below = match keys.and_then(<[&str]>::split_first) {
                Some((wanted, below)) if *wanted == key => Some(below),
                _ => None,
            };
            self.value(below)?;
            self.comma()?;
        }
        self.skip(1);
        Some(())
    }

    fn list(&mut self, is_wanted: bool) -> Option<()> {
        self.skip(1);
        if is_wanted {
            self.found.clear();
        }
        while self.peek()? != ']' {
            if is_wanted {
                self.found.push(self.line);
            }
            self.value(None)?;
            self.comma()?;
        }
        self.skip(1);
        Some(())
    }

    /// The text of a string, escapes left as they are: keys that matter have none.
    fn string(&mut self) -> Option<&'a str> {
        self.peek().filter(|c| *c == '"')?;
        let inner = &self.rest[1..];
        let mut is_escaped = false;
        let end = inner.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        self.skip(end + 2);
        Some(&inner[..end])
    }

    fn comma(&mut self) -> Option<()> {
        if self.peek()? == ',' {
            self.skip(1);
        }
        Some(())
    }

    fn peek(&mut self) -> Option<char> {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.skip(blank);
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        let lines = skipped.bytes().filter(|byte| *byte == b'\n').count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        self.line = self.line.saturating_add(lines);
        self.rest = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_line_by_line() {
        let text = r#"{
  "x": {"allow": ["no"]},
  "permissions": {
    "deny": ["a", "b\"]",
      "c"
    ],
    "allow": [
      "d",

      "\\"
    ], "ask": []
  }
}"#;
        for (keys, wanted) in [
            (&["permissions", "deny"][..], &[4, 4, 5][..]),
            (&["permissions", "allow"], &[8, 10]),
            (&["permissions", "ask"], &[]),
            (&["permissions", "none"], &[]),
            (&["x", "allow"], &[2]),
            (&["allow"], &[]),
        ] {
            assert_eq!(lines_of(text, keys), wanted, "{keys:?}");
        }
    }

    #[test]
    fn broken_texts_end_the_search() {
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\": [\"x",
            "[",
            "{\"a\": [1, {\"b\": [}]}",
            "nonsense",
        ] {
            lines_of(text, &["a"]);
        }
        assert_eq!(lines_of("{\"a\": [\"x\"], \"a\":\n[\"y\"]}", &["a"]), [2]);
        assert_eq!(
            lines_of("{\"n\": 1, \"t\": true,\n\"a\": [\"x\"]}", &["a"]),
            [2]
        );
    }
}
