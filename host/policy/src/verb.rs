//! The verbs of the rule language that reach beyond one tool.
//!
//! A deny rule `Read(pattern)` closes the matching files to *every* tool, and
//! `Edit(pattern)` or `Write(pattern)` closes them to every writer. The words are
//! part of the rule language that users already write. They must hold whether or
//! not a tool of that name is installed, so they are fixed here and nowhere else.

/// The word of rules about commands: `Bash(curl:*)` is about every script, whoever runs it.
pub(crate) const COMMANDS: &str = "Bash";

/// What a path rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    Write,
}

impl Verb {
    /// The verb that a rule's first word means, if it is one.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "Read" => Some(Self::Read),
            "Edit" | "Write" => Some(Self::Write),
            _ => None,
        }
    }
}
