//! Command patterns with `*` in the middle: `git * main`, `npm run test*`.
//!
//! A `*` stands for any run of characters, over words too. A blank in the pattern is the border
//! of two words and never a blank inside of one, so that quotes cannot move the border.

/// Between words. No command holds it: the validator refuses such a text.
pub(super) const BORDER: char = '\0';

/// A pattern, cut at its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wild {
    /// What stands between the stars, two pieces at least.
    pieces: Vec<String>,
    /// `:*` or ` *` at the end: more words may follow, and need not.
    is_open: bool,
}

impl Wild {
    /// `text` is without its open end; none if it has no star.
    pub(super) fn parse(text: &str, is_open: bool) -> Option<Self> {
        let mut pieces = vec![String::new()];
        for (at, word) in text.split_whitespace().enumerate() {
            let mut chars = word.chars().peekable();
            let put = |c: char, pieces: &mut Vec<String>| {
                if let Some(piece) = pieces.last_mut() {
                    piece.push(c);
                }
            };
            if at > 0 {
                put(BORDER, &mut pieces);
            }
            while let Some(c) = chars.next() {
                match (c, chars.peek()) {
                    ('\\', Some(&next @ ('*' | '\\'))) => {
                        put(next, &mut pieces);
                        chars.next();
                    }
                    ('*', _) => pieces.push(String::new()),
                    (c, _) => put(c, &mut pieces),
                }
            }
        }
        (pieces.len() > 1).then_some(Self { pieces, is_open })
    }

    /// The program, if the pattern names one.
    pub(crate) fn program(&self) -> Option<&str> {
        let (program, _) = self.pieces[0].split_once(BORDER)?;
        Some(program)
    }

    /// The whole words before the first star.
    pub(crate) fn leading_words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.pieces[0].split(BORDER).collect();
        words.pop();
        words
    }

    /// Whether it matches words joined by borders.
    pub(super) fn matches(&self, joined: &str) -> bool {
        if matches(&self.pieces, joined, false) {
            return true;
        }
        if !self.is_open {
            return false;
        }
        let mut pieces = self.pieces.clone();
        if let Some(last) = pieces.last_mut() {
            last.push(BORDER);
        }
        matches(&pieces, joined, true)
    }
}

/// Takes each piece as early as it comes, which leaves the most for the rest.
fn matches(pieces: &[String], text: &str, is_open: bool) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return false;
    };
    let Some(mut text) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    let (last, middle) = match rest.split_last() {
        Some((last, middle)) if !is_open => (Some(last), middle),
        _ => (None, rest),
    };
    for piece in middle {
        let Some(at) = text.find(piece.as_str()) else {
            return false;
        };
        text = &text[at + piece.len()..];
    }
    last.is_none_or(|last| text.ends_with(last.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_over_words_and_blanks_only_between_them() {
        for (pattern, is_open, words, wanted) in [
            ("git * main", false, &["git", "push", "main"][..], true),
            (
                "git * main",
                false,
                &["git", "push", "origin", "main"],
                true,
            ),
            ("git * main", false, &["git", "push", "mainly"], false),
            ("git * main", false, &["git", "main"], false),
            ("git * main", false, &["git", "push main"], false),
            ("git * main", true, &["git", "push", "main", "-f"], true),
            ("git * main", true, &["git", "push", "mainly"], false),
            ("npm run test*", false, &["npm", "run", "test"], true),
            (
                "npm run test*",
                false,
                &["npm", "run", "test:unit", "x"],
                true,
            ),
            ("npm run test*", false, &["npm run", "test"], false),
            ("npm run test*", false, &["npm", "run", "tes"], false),
            ("* --version", false, &["rustc", "--version"], true),
            ("*a*a", false, &["a"], false),
            ("*a*a", false, &["aa"], true),
            ("ls \\**", false, &["ls", "*.rs"], true),
            ("ls \\**", false, &["ls", "a.rs"], false),
            ("a\\\\*", false, &["a\\b"], true),
        ] {
            let wild = Wild::parse(pattern, is_open).unwrap();
            let joined = words.join(&BORDER.to_string());
            assert_eq!(wild.matches(&joined), wanted, "{pattern} on {words:?}");
        }
        assert_eq!(Wild::parse("ls \\*", false), None);
    }

    #[test]
    fn the_program_is_known_where_it_stands_before_the_first_star() {
        for (pattern, wanted) in [("git * x", Some("git")), ("git* x", None), ("* x", None)] {
            let wild = Wild::parse(pattern, false).unwrap();
            assert_eq!(wild.program(), wanted, "{pattern}");
        }
    }
}
