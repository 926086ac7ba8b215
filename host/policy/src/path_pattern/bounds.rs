//! How complex a pattern of paths may be. Patterns come from projects, models and commands, and
//! the libraries behind them recurse into braces and give up on large automata by ending the
//! process; so nothing reaches them that has not passed here.
//!
//! Signs are counted wherever they stand, escaped or in a set, too: a count that had to agree
//! with the libraries about what is escaped would be wrong one day.

use thiserror::Error;

/// The longest path that the kernel takes has 4,096 bytes, and with each of them in a set of its
/// own (`[*]`) three times that. What is longer matches no file.
pub(super) const MOST_BYTES: usize = 16 << 10;
/// Braces that open. Each costs the stack some frames if they nest, and their automaton nests
/// three times as deep, of which 250 is the most. People write two or three.
pub(super) const MOST_BRACES: usize = 32;
/// Wildcards, sets and alternatives. A list of all kinds of source files has about a hundred; a
/// thousand are still compiled in a millisecond.
pub(super) const MOST_SIGNS: usize = 1_000;

/// Why a pattern is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GlobTooComplex {
    #[error("a pattern may have {MOST_BYTES} bytes, and this one has {0}")]
    Bytes(usize),
    #[error("a pattern may have {MOST_BRACES} `{{`, and this one has {0}")]
    Braces(usize),
    #[error("a pattern may have {MOST_SIGNS} wildcards and alternatives, and this one has {0}")]
    Signs(usize),
}

/// Whether a pattern is simple enough to be read. Goes before every library that reads patterns.
pub fn check_glob(pattern: &str) -> Result<(), GlobTooComplex> {
    check_length(pattern)?;
    let count = |signs: &[u8]| pattern.bytes().filter(|byte| signs.contains(byte)).count();
    let braces = count(b"{");
    if braces > MOST_BRACES {
        return Err(GlobTooComplex::Braces(braces));
    }
    let signs = count(b"*?[,");
    if signs > MOST_SIGNS {
        return Err(GlobTooComplex::Signs(signs));
    }
    Ok(())
}

/// The same for what may turn out to name one path: it is compared part by part, over and over.
pub(super) fn check_length(pattern: &str) -> Result<(), GlobTooComplex> {
    match pattern.len() {
        0..=MOST_BYTES => Ok(()),
        more => Err(GlobTooComplex::Bytes(more)),
    }
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;

    use super::*;

    #[test]
    fn what_is_too_long_too_deep_or_too_wide_is_refused() {
        let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        for (pattern, refused) in [
            ("**/*.{rs,toml}".to_owned(), None),
            (nested(MOST_BRACES), None),
            (
                nested(MOST_BRACES + 1),
                Some(GlobTooComplex::Braces(MOST_BRACES + 1)),
            ),
            (nested(100_000), Some(GlobTooComplex::Bytes(200_001))),
            // Closed in a set, where a brace is a letter.
            ("{[}]".repeat(33), Some(GlobTooComplex::Braces(33))),
            (
                "{a,b}".repeat(400_000),
                Some(GlobTooComplex::Bytes(2_000_000)),
            ),
            ("*".repeat(1_001), Some(GlobTooComplex::Signs(1_001))),
            ("a".repeat(MOST_BYTES), None),
        ] {
            let start: String = pattern.chars().take(20).collect();
            assert_eq!(check_glob(&pattern).err(), refused, "{start}");
        }
    }

    /// Compiling panics where the automaton would be too large or too deep.
    #[test]
    fn what_is_let_through_can_be_compiled() {
        let filled = |mut text: String| {
            text.push_str(&"é".repeat((MOST_BYTES - text.len()) / 2));
            text
        };
        let deep = |inner: &str, after: &str| {
            let (open, close) = ("{x,".repeat(MOST_BRACES), format!("{after}}}"));
            format!("{open}{inner}{}", close.repeat(MOST_BRACES))
        };
        for pattern in [
            deep("a*", "*"),
            deep("[!é]", "?b"),
            deep("", ""),
            "{,".repeat(MOST_BRACES) + &"}".repeat(MOST_BRACES),
            "{".repeat(MOST_BRACES) + &"}".repeat(MOST_BRACES),
            "/**/a".repeat(MOST_SIGNS / 2),
            "?".repeat(MOST_SIGNS),
            "[!a]*".repeat(MOST_SIGNS / 2),
            "*a".repeat(MOST_SIGNS),
            format!("{{{}}}", "é*,".repeat(MOST_SIGNS / 2)),
        ]
        .map(filled)
        {
            assert_eq!(check_glob(&pattern), Ok(()), "{pattern}");
            for separator in [true, false] {
                let glob = GlobBuilder::new(&pattern)
                    .literal_separator(separator)
                    .build()
                    .unwrap();
                glob.compile_matcher().is_match("/a/b");
            }
        }
    }
}
