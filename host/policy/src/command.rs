//! What the content of a rule says about commands.
//!
//! A rule that forbids is looked for in everything that a script mentions, however it is
//! wrapped; a rule that allows must cover every command of a script that was understood.

use globset::Glob;
use toolbay_shell::{Report, SimpleCommand};

/// The commands that a rule speaks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandPattern {
    /// `*`
    Every,
    /// `git commit:*` and `git commit *`: these words, and whatever follows them.
    Prefix(Vec<String>),
    /// This command and no other.
    Exact { text: String, words: Vec<String> },
}

impl CommandPattern {
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        if matches!(text, "*" | ":*") {
            return Self::Every;
        }
        match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(prefix) => Self::Prefix(words(prefix)),
            None => Self::Exact {
                text: text.to_owned(),
                words: words(text),
            },
        }
    }

    /// Whether the script holds such a command anywhere.
    pub(crate) fn is_mentioned(&self, script: &str, report: &Report) -> bool {
        let in_text = match self {
            Self::Every => true,
            Self::Prefix(_) => false,
            Self::Exact { text, .. } => script.trim() == text,
        };
        in_text
            || report
                .mentions
                .iter()
                .any(|mention| self.covers_words(&mention.words) || self.may_be(&mention.words))
    }

    /// Whether a command whose name is a pattern of file names may turn out to be one of these.
    fn may_be(&self, words: &[String]) -> bool {
        let (Self::Prefix(wanted) | Self::Exact { words: wanted, .. }) = self else {
            return false;
        };
        let (Some(name), Some(program)) = (words.first(), wanted.first()) else {
            return false;
        };
        if !name.contains(['*', '?', '[']) {
            return false;
        }
        let may_name = Glob::new(name).is_ok_and(|glob| glob.compile_matcher().is_match(program));
        let mut named = words.to_vec();
        named[0].clone_from(program);
        may_name && self.covers_words(&named)
    }

    /// Whether it covers a command that a script is made of.
    pub(crate) fn covers(&self, command: &SimpleCommand) -> bool {
        command.for_rules.is_some() && self.covers_words(&command.words)
    }

    fn covers_words(&self, words: &[String]) -> bool {
        match self {
            Self::Every => true,
            Self::Prefix(prefix) => words.starts_with(prefix),
            Self::Exact { words: exact, .. } => words == exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use toolbay_shell::{Place, inspect};

    use super::*;

    #[test]
    fn prefixes_end_at_a_word() {
        for (pattern, script, mentioned) in [
            ("git commit:*", "git commit -m x", true),
            ("git commit:*", "git commit", true),
            ("git commit:*", "git commit-graph write", false),
            ("git commit *", "git commit -m x", true),
            ("npm publish", "npm publish", true),
            ("npm publish", "npm publish --tag x", false),
            ("curl:*", "ls; timeout 5 curl x", true),
            ("curl:*", "curlx", false),
            ("curl:*", "/usr/bin/cur? x", true),
            ("git push:*", "gi* push", true),
            ("git push:*", "gi* pull", false),
            ("curl:*", "echo 'curl x'", false),
            ("*", "anything", true),
        ] {
            let report = inspect(script, &Place::new("/p"));
            let pattern = CommandPattern::parse(pattern);
            assert_eq!(pattern.is_mentioned(script, &report), mentioned, "{script}");
        }
    }

    #[test]
    fn quotes_do_not_make_other_words() {
        let pattern = CommandPattern::parse("git commit:*");
        let covered = |script| {
            let report = inspect(script, &Place::new("/p"));
            report
                .commands
                .iter()
                .all(|command| pattern.covers(command))
        };
        assert!(covered("git 'commit' -m x"));
        assert!(!covered("'git commit' -m x"));
        assert!(!covered("git 'commit -m' x"));
        assert!(!covered("LD_PRELOAD=x git commit"));
        assert!(covered("LANG=C git commit"));
    }
}
