//! Several globs in one string.

/// Splits at spaces and commas, but not inside braces or brackets, where a comma
/// belongs to the glob, nor after a backslash.
pub fn split(globs: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    let (mut braces, mut in_class, mut escaped) = (0_u32, false, false);
    for letter in globs.chars() {
        let separates = (letter == ',' || letter.is_whitespace()) && braces == 0 && !in_class;
        if separates && !escaped {
            found.push(std::mem::take(&mut current));
            continue;
        }
        if !escaped {
            match letter {
                '{' if !in_class => braces += 1,
                '}' if !in_class => braces = braces.saturating_sub(1),
                '[' => in_class = true,
                ']' => in_class = false,
                _ => {}
            }
        }
        escaped = letter == '\\' && !escaped;
        current.push(letter);
    }
    found.push(current);
    found.retain(|glob| !glob.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_split_outside_braces_only() {
        for (given, wanted) in [
            ("*.rs", &["*.rs"][..]),
            ("*.rs *.md", &["*.rs", "*.md"]),
            ("*.rs,*.md", &["*.rs", "*.md"]),
            ("*.rs, *.md ,", &["*.rs", "*.md"]),
            ("*.{ts,tsx}", &["*.{ts,tsx}"]),
            ("src/**/*.{c,h} !test", &["src/**/*.{c,h}", "!test"]),
            ("{a,{b,c}}.x d", &["{a,{b,c}}.x", "d"]),
            ("[ ,]x y", &["[ ,]x", "y"]),
            (r"a\ b c", &[r"a\ b", "c"]),
            ("", &[]),
            (" , ", &[]),
        ] {
            assert_eq!(split(given), wanted, "{given}");
        }
    }
}
