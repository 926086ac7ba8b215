//! Which tools a hook wants to know of.

use std::iter;

use regex_lite::{Regex, RegexBuilder};

/// The compiled pattern may take this many bytes. Names are short and so are sensible
/// patterns; a project's settings must not fill the memory with large ones.
const LARGEST_PATTERN: usize = 256 * 1024;

#[derive(Debug, Clone)]
pub(super) enum Matcher {
    Every,
    Names(Vec<String>),
    /// Found anywhere in the name, as the agents do for which such patterns were
    /// written: a guard that says `^mcp__` must not miss. Linear in time.
    Pattern(Regex),
}

impl Matcher {
    /// Reads `""`, `*`, a name, names with `|` between them, or a regular expression.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::Every);
        }
        let names = text.split('|').map(str::trim);
        if names.clone().all(is_name) {
            return Ok(Self::Names(names.map(str::to_owned).collect()));
        }
        compile(text)
            .map(Self::Pattern)
            .map_err(|error| format!("`{text}` is no regular expression: {error}"))
    }

    /// By the name of a tool or by one of its other names: a guard for an old name guards the tool that
    /// has it now.
    pub(super) fn matches(&self, tool: &str, aliases: &[String]) -> bool {
        let mut names = iter::once(tool).chain(aliases.iter().map(String::as_str));
        match self {
            Self::Every => true,
            Self::Names(wanted) => names.any(|name| wanted.iter().any(|wanted| wanted == name)),
            Self::Pattern(pattern) => names.any(|name| pattern.is_match(name)),
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.chars().all(is_part)
}

fn compile(pattern: &str) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(pattern)
        .size_limit(LARGEST_PATTERN)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matcher_names_tools_or_describes_them() {
        for (text, hits, misses) in [
            ("", &["Edit", "x"][..], &[][..]),
            ("*", &["Edit", "mcp__a__b"], &[]),
            ("Edit", &["Edit"], &["edit", "MultiEdit", "Edits", ""]),
            ("Edit|Write", &["Edit", "Write"], &["Edit|Write", "Rewrite"]),
            ("Edit | Write", &["Edit", "Write"], &["Edit "]),
            ("mcp__a-b__c", &["mcp__a-b__c"], &["mcp__a-b__cd"]),
            ("mcp__.*", &["mcp__a__b"], &["mcp_", "Edit"]),
            ("^mcp__", &["mcp__a__b"], &["xmcp__a"]),
            (
                "Notebook.*|Edit",
                &["NotebookEdit", "Edit", "MultiEdit"],
                &["Read"],
            ),
            ("^Ed.t$", &["Edit"], &["Edits"]),
            ("(?i)edit$", &["EDIT"], &["EDITS"]),
            (".*", &["Edit"], &[]),
            ("Edit|", &["Edit", "Write"], &[]),
        ] {
            let matcher = Matcher::parse(text).unwrap();
            for name in hits {
                assert!(matcher.matches(name, &[]), "{text:?} misses {name:?}");
            }
            for name in misses {
                assert!(!matcher.matches(name, &[]), "{text:?} hits {name:?}");
            }
        }
    }

    #[test]
    fn a_matcher_finds_a_tool_by_its_other_names() {
        let aliases = ["Old".to_owned(), "Older".to_owned()];
        for (text, wanted) in [
            ("Old", true),
            ("x|Older", true),
            ("^Old", true),
            ("Ol", false),
        ] {
            let matcher = Matcher::parse(text).unwrap();
            assert_eq!(matcher.matches("New", &aliases), wanted, "{text}");
            assert!(!matcher.matches("New", &[]), "{text}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_so() {
        for text in [
            "Edit(",
            "a)|(b",
            "[",
            "(?=a)b",
            "(a)\\1",
            "((a{999}){999}){999}",
            &"(".repeat(10_000),
        ] {
            let error = Matcher::parse(text).unwrap_err();
            assert!(error.contains("is no regular expression"), "{error}");
        }
    }

    /// A backtracking engine would still be at it when the sun goes out.
    #[test]
    fn a_hostile_pattern_takes_linear_time() {
        let matcher = Matcher::parse("(a+)+b").unwrap();
        assert!(!matcher.matches(&"a".repeat(10_000), &[]));
    }
}
