//! Before anything is read: is the text what it looks like?

use crate::{Check, Finding};

/// A person is asked about the whole text, and nobody reads more than a few screens.
const MOST_BYTES: usize = 10_000;

/// At most one finding a check; the first offender is named.
pub(crate) fn check(script: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if script.len() > MOST_BYTES {
        findings.push(Check::Length.found(format!(
            "the script has {} bytes, more than {MOST_BYTES}",
            script.len()
        )));
    }
    for (check, what, is_bad) in CHARACTERS {
        if let Some(bad) = script.chars().find(|character| is_bad(*character)) {
            let code = u32::from(bad);
            findings.push(check.found(format!("the script holds {what} (U+{code:04X})")));
        }
    }
    findings
}

type Characters = (Check, &'static str, fn(char) -> bool);

const CHARACTERS: &[Characters] = &[
    // A line end is honest, if too complex: the lexer speaks about it.
    (Check::Control, "a control character", |character| {
        character.is_control() && character != '\n'
    }),
    (
        Check::Direction,
        "a change of writing direction",
        |character| {
            matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
        },
    ),
    (Check::Invisible, "an invisible character", |character| {
        matches!(character, '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
    }),
    (
        Check::Blank,
        "a blank that is no space to bash",
        |character| {
            let looks_blank = matches!(
                character,
                '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
            );
            looks_blank
                || (character.is_whitespace() && !character.is_control() && character != ' ')
        },
    ),
];
