//! Where a rule comes from: whose word it is, and in which file and line it stands.
//!
//! Deny beats ask beats allow whatever the source, so that a source never makes a deny
//! weaker. It matters in two places: what a managed policy lets others allow, and that a
//! project's own settings are the word of whoever made the project.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Who wrote a rule, the strongest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The organisation that owns the machine.
    Managed,
    /// Switches that the organisation sets from afar.
    Flags,
    /// What the person has said yes to in this session.
    Session,
    #[default]
    CommandLine,
    /// The person's own file in the project, which is not shared.
    Local,
    /// The file that comes with the project: anybody's.
    Project,
    /// The person's own file for all projects.
    User,
}

impl Source {
    /// All of them, the strongest first.
    pub const ALL: [Self; 7] = [
        Self::Managed,
        Self::Flags,
        Self::Session,
        Self::CommandLine,
        Self::Local,
        Self::Project,
        Self::User,
    ];

    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Flags => "flags",
            Self::Session => "session",
            Self::CommandLine => "command-line",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }

    /// The same for people.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Managed => "the managed policy",
            Self::Flags => "feature flags",
            Self::Session => "this session",
            Self::CommandLine => "the command line",
            Self::Local => "your settings for this project",
            Self::Project => "the project's settings",
            Self::User => "your settings",
        }
    }
}

/// The place of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Provenance {
    pub source: Source,
    /// The file, where it stands in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Counted from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Provenance {
    pub fn of(source: Source) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(out, "{}:{line}", file.display()),
            (Some(file), None) => write!(out, "{}", file.display()),
            (None, _) => out.write_str(self.source.phrase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_in_order_and_have_one_word_each() {
        assert!(Source::ALL.is_sorted());
        for source in Source::ALL {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(json, format!("\"{}\"", source.word()));
        }
    }

    #[test]
    fn each_source_has_a_phrase_of_its_own() {
        let mut all: Vec<&str> = Source::ALL.map(Source::phrase).to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Source::ALL.len());
    }

    #[test]
    fn a_place_is_shown_as_editors_understand_it() {
        let of = Provenance::of(Source::User);
        let in_file = of.clone().in_file("/p/settings.json");
        for (provenance, wanted) in [
            (of, "your settings"),
            (in_file.clone(), "/p/settings.json"),
            (in_file.at_line(7), "/p/settings.json:7"),
        ] {
            assert_eq!(provenance.to_string(), wanted);
        }
    }
}
