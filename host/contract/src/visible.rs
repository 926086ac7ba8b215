//! Text of tools and models as an approver can see it.
//!
//! Terminals and clients act on some characters and draw nothing for others. A command that is
//! approved must be the command that is seen, so each such character is replaced by a sign for
//! it. None is dropped: what is missing cannot be noticed.

use std::fmt::Write as _;

/// The text with every control character, direction mark and invisible character shown by a
/// sign: `␍` and `␛` for controls, `<U+202E>` for the rest. Line ends and tabs stay.
pub fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => seen.push(c),
            '\0'..='\u{1f}' => seen.push(picture(c)),
            '\u{7f}' => seen.push('\u{2421}'),
            _ if is_joint(c) && joins(before, c, rest.peek().copied()) => seen.push(c),
            _ if c.is_control() || is_joint(c) || is_unseen(c) => {
                // Writing to a string cannot fail.
                let _ = write!(seen, "<U+{:04X}>", u32::from(c));
            }
            _ => seen.push(c),
        }
        before = Some(c);
    }
    seen
}

/// The same on one line: text that could begin a new one could imitate the lines around it.
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "⏎").replace('\t', " ")
}

/// The control picture of a C0 control character.
fn picture(c: char) -> char {
    char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')
}

/// Parts of letters and emoji that have no width of their own.
fn is_joint(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a joint is where writing systems have it: behind a letter that is not ASCII, and for
/// joiners before another one. Elsewhere it only makes two texts look alike.
fn joins(before: Option<char>, joint: char, after: Option<char>) -> bool {
    let is_letter = |c: char| !c.is_ascii() && !c.is_control() && !is_unseen(c);
    let is_joiner = matches!(joint, '\u{200c}' | '\u{200d}');
    // An emoji may have a selector before its joiner.
    let follows =
        before.is_some_and(|c| is_letter(c) && (!is_joint(c) || is_joiner && is_selector(c)));
    follows && (!is_joiner || after.is_some_and(|c| is_letter(c) && !is_joint(c)))
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Characters that are not drawn but change what is seen or meant: they turn the direction of
/// text around, break lines, or hide among letters.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_or_hides_is_shown_by_a_sign() {
        for (text, seen) in [
            ("a\u{1b}[2J\tb\n", "a␛[2J\tb\n"),
            ("curl evil\rls", "curl evil␍ls"),
            ("\u{0}\u{7}\u{8}\u{7f}", "␀␇␈␡"),
            ("\u{9b}31m\u{85}", "<U+009B>31m<U+0085>"),
            ("\u{202e}txt\u{2066}", "<U+202E>txt<U+2066>"),
            ("a\u{200b}b\u{2028}c\u{feff}", "a<U+200B>b<U+2028>c<U+FEFF>"),
            ("\u{e0061}\u{e0100}\u{ad}", "<U+E0061><U+E0100><U+00AD>"),
            // Joiners and selectors among ASCII letters only hide.
            ("cu\u{200d}rl x\u{fe0f}", "cu<U+200D>rl x<U+FE0F>"),
            ("\u{4e2d}\u{200c}", "\u{4e2d}<U+200C>"),
            (
                "\u{1f469}\u{fe0f}\u{fe01}\u{fe02}",
                "\u{1f469}\u{fe0f}<U+FE01><U+FE02>",
            ),
        ] {
            assert_eq!(visible(text), seen, "{text:?}");
        }
    }

    #[test]
    fn letters_of_all_scripts_stay_as_they_are() {
        let letters = "a\u{308} \u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}\u{200d}\u{1f525} \
                       \u{627}\u{5d0} \u{915}\u{94d}\u{200d}\u{937}\u{3000}\u{a0}";
        assert_eq!(visible(letters), letters);
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(visible_line("a\nb\tc\r\n"), "a⏎b c␍⏎");
    }
}
