//! Keeps the kind of quotes that a file has.

use crate::fold::straight;

/// Which quotes a passage of a file uses, for one of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Curly,
    Straight,
    /// The passage has none, so it says nothing about style.
    Unknown,
}

/// The quotes of `new` in the style of the passage that it replaces. `before` is
/// the character of the file in front of the passage; without one the passage
/// starts the file.
pub fn restyle(new: &str, passage: &str, before: Option<char>) -> String {
    let (single, double) = (style(passage, '\''), style(passage, '"'));
    let mut text = String::with_capacity(new.len());
    let mut previous = before;
    for character in new.chars() {
        let plain = straight(character).unwrap_or(character);
        let wanted = match plain {
            '\'' => single,
            '"' => double,
            _ => Style::Unknown,
        };
        let written = match wanted {
            // A quote that is curly already was turned on purpose.
            Style::Curly if character == plain => curly(plain, previous),
            Style::Straight => plain,
            Style::Curly | Style::Unknown => character,
        };
        text.push(written);
        previous = Some(written);
    }
    text
}

fn style(passage: &str, plain: char) -> Style {
    let mut found = Style::Unknown;
    for character in passage.chars() {
        if straight(character) == Some(plain) {
            return Style::Curly;
        }
        if character == plain {
            found = Style::Straight;
        }
    }
    found
}

/// The curly quote for a straight one, turned by what stands before it. An
/// apostrophe follows a letter, so it comes out as the closing one, as it should.
fn curly(plain: char, previous: Option<char>) -> char {
    let (open, close) = if plain == '\'' {
        ('\u{2018}', '\u{2019}')
    } else {
        ('\u{201C}', '\u{201D}')
    };
    let opens = match previous {
        None => true,
        Some('(' | '[' | '{' | '<' | '\u{2013}' | '\u{2014}') => true,
        // A quote inside a quote opens; the same one again closes an empty pair.
        Some(quote @ ('\u{2018}' | '\u{201C}')) => quote != open,
        Some(other) => other.is_whitespace(),
    };
    if opens { open } else { close }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_text_takes_the_quotes_of_the_passage() {
        for (new, passage, before, wanted) in [
            ("say \"hi\"", "“a”", None, "say “hi”"),
            ("\"hi\"", "“a”", None, "“hi”"),
            ("\"hi\"", "“a”", Some('('), "“hi”"),
            ("don't", "can’t", Some(' '), "don’t"),
            ("'t stop", "’t go", Some('n'), "’t stop"),
            ("(\"a\", 'b')", "“x” ‘y’", None, "(“a”, ‘b’)"),
            ("\"'a' b\"", "“‘x’”", None, "“‘a’ b”"),
            ("\"\"", "“x”", None, "“”"),
            ("x = \"it's\"", "“a”", None, "x = “it's”"),
            ("“hi”", "\"a\"", None, "\"hi\""),
            ("“hi”", "“a”", None, "“hi”"),
            ("\"hi\"", "no quotes", None, "\"hi\""),
        ] {
            assert_eq!(
                restyle(new, passage, before),
                wanted,
                "{new:?} for {passage:?}"
            );
        }
    }
}
