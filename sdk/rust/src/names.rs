//! Names of files in sentences and lists.
//!
//! Whoever made a repository chose its names, and they may hold anything but `/`: line ends, behind
//! which a name could imitate other lines, orders to terminals, marks that turn text around.

use std::path::Path;

/// A name on one line, with a sign for each character that is not seen.
pub fn one_line(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else if turns_or_breaks(character) {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
    }
    line
}

/// A path on one line.
pub fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// Line ends beside the control characters, and what changes the direction of text.
fn turns_or_breaks(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_and_shows_what_it_holds() {
        for (name, wanted) in [
            ("/w/é b.rs", "/w/é b.rs"),
            ("a\nFAKE\u{1b}[31m", "a\\nFAKE\\u{1b}[31m"),
            ("a\rb\tc\u{85}", "a\\rb\\tc\\u{85}"),
            ("a\u{202e}txt\u{2028}", "a\\u{202e}txt\\u{2028}"),
        ] {
            assert_eq!(shown(Path::new(name)), wanted);
        }
    }
}
