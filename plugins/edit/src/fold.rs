//! A text in which differences that should not matter are gone.
//!
//! Models write `\n` and straight quotes; files have CRLF and curly quotes. A
//! folded text is searched in their stead, and every position in it leads back
//! to the original, so that only the original is ever changed.

/// Which differences are folded away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    LineEnds,
    LineEndsAndQuotes,
}

/// A folded text that remembers where its characters come from.
pub struct Folded {
    pub text: String,
    /// Where a character became shorter: its place here, and how much longer the
    /// original is up to the end of that character.
    shifts: Vec<(usize, usize)>,
}

impl Folded {
    pub fn new(original: &str, fold: Fold) -> Self {
        let mut folded = Self {
            text: String::with_capacity(original.len()),
            shifts: Vec::new(),
        };
        let mut rest = original;
        // Copied in runs, since nearly all characters stay as they are.
        while let Some((start, length, short)) = next(rest, fold) {
            folded.text.push_str(&rest[..start]);
            let before = folded.shifts.last().map_or(0, |(_, shift)| *shift);
            folded
                .shifts
                .push((folded.text.len(), before + length - short.len_utf8()));
            folded.text.push(short);
            rest = &rest[start + length..];
        }
        folded.text.push_str(rest);
        folded
    }

    /// The place in the original of a place in the folded text.
    pub fn original(&self, place: usize) -> usize {
        let passed = self.shifts.partition_point(|(at, _)| *at < place);
        match passed.checked_sub(1) {
            Some(last) => place + self.shifts[last].1,
            None => place,
        }
    }
}

/// The straight quote for a curly one.
pub const fn straight(quote: char) -> Option<char> {
    match quote {
        '\u{2018}' | '\u{2019}' => Some('\''),
        '\u{201C}' | '\u{201D}' => Some('"'),
        _ => None,
    }
}

/// The next thing to fold: where, how long it is, and what stands for it.
fn next(text: &str, fold: Fold) -> Option<(usize, usize, char)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    // A byte search: `\r` and the lead byte of the quotes are never a part of
    // another character.
    while let Some(found) = bytes[from..]
        .iter()
        .position(|byte| *byte == b'\r' || (*byte == 0xE2 && fold == Fold::LineEndsAndQuotes))
    {
        let at = from + found;
        if bytes[at] == b'\r' {
            if bytes.get(at + 1) == Some(&b'\n') {
                return Some((at, 2, '\n'));
            }
        } else if let Some(quote) = text[at..].chars().next()
            && let Some(short) = straight(quote)
        {
            return Some((at, quote.len_utf8(), short));
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_original() {
        for (original, fold, text, places) in [
            (
                "plain",
                Fold::LineEndsAndQuotes,
                "plain",
                vec![(0, 0), (5, 5)],
            ),
            (
                "a\r\nb\r\n",
                Fold::LineEnds,
                "a\nb\n",
                vec![(1, 1), (2, 3), (3, 4), (4, 6)],
            ),
            ("a\rb\n", Fold::LineEnds, "a\rb\n", vec![(4, 4)]),
            (
                "\u{201C}a\u{201D}",
                Fold::LineEnds,
                "\u{201C}a\u{201D}",
                vec![(4, 4)],
            ),
            (
                "\u{201C}a\u{2019}\u{2014}\r\n",
                Fold::LineEndsAndQuotes,
                "\"a'\u{2014}\n",
                vec![(0, 0), (1, 3), (2, 4), (3, 7), (6, 10), (7, 12)],
            ),
        ] {
            let folded = Folded::new(original, fold);
            assert_eq!(folded.text, text);
            for (place, wanted) in places {
                assert_eq!(folded.original(place), wanted, "{original:?} at {place}");
            }
        }
    }
}
