//! Before anything is read: is the text what it looks like?

use crate::check::{Check, Finding};

/// A person is asked about the whole text, and nobody reads more than a few screens.
pub(crate) const MOST_BYTES: usize = 10_000;

/// At most one finding a row; the first offender is named.
pub(crate) fn check(script: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if script.len() > MOST_BYTES {
        findings.push(Check::TooLong.found(format!(
            "the script has {} bytes, more than {MOST_BYTES}",
            script.len()
        )));
    }
    if script
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    {
        return findings;
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
    // NUL, CR, the other controls of ASCII but tab and line end, DEL, and C1.
    (
        Check::ControlCharacters,
        "a control character",
        |character| character.is_control() && !matches!(character, '\n' | '\t'),
    ),
    (
        Check::UnicodeWhitespace,
        "a change of writing direction",
        |character| {
            matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
        },
    ),
    (
        Check::UnicodeWhitespace,
        "an invisible character",
        |character| {
            matches!(character, '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
        },
    ),
    (
        Check::UnicodeWhitespace,
        "a blank that is no space to bash",
        |character| {
            let looks_blank = matches!(
                character,
                '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
            );
            looks_blank
                || (character.is_whitespace() && !character.is_ascii() && !character.is_control())
        },
    ),
];

#[cfg(test)]
mod tests {
    use crate::{Place, Verdict, inspect};

    #[test]
    fn a_character_that_misleads_is_named_and_nothing_else_is_looked_at() {
        for (script, wanted) in [
            ("cat a\u{a0}b", "a blank that is no space to bash (U+00A0)"),
            (
                "cat a\u{3000}b",
                "a blank that is no space to bash (U+3000)",
            ),
            (
                "cat a\u{2800}b",
                "a blank that is no space to bash (U+2800)",
            ),
            ("cat a\u{85}b", "a control character (U+0085)"),
            ("cat a\rb", "a control character (U+000D)"),
            ("cat a\u{200b}b", "an invisible character (U+200B)"),
            ("cat a\u{202e}b", "a change of writing direction (U+202E)"),
            (
                "for f in a; do cat $f; done\r",
                "a control character (U+000D)",
            ),
            (
                "for f in a; do cat $f; done\u{a0}",
                "a blank that is no space to bash (U+00A0)",
            ),
        ] {
            let report = inspect(script, &Place::new("/p"));
            let found: Vec<&str> = report
                .findings
                .iter()
                .filter_map(|finding| finding.message.strip_prefix("the script holds "))
                .collect();
            assert_eq!(found, [wanted], "{script:?}");
            assert_eq!(report.verdict, Verdict::TooComplex, "{script:?}");
            assert!(report.commands.is_empty(), "{script:?}");
        }
    }
}
