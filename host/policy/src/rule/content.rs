//! What stands between the parentheses of a rule, read in every way that it can be meant.
//!
//! Which reading counts depends on what a call's subjects are; a rule does not know its tool.

use std::path::Path;
use std::sync::OnceLock;

use toolbay_shell::{Report, Verdict};

use super::{RuleError, start_of};
use crate::claims::Subject;
use crate::command::CommandPattern;
use crate::host::HostPattern;
use crate::path_pattern::{Anchors, PathPattern};
use crate::study::Study;

#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) path: PathContent,
    pub(crate) command: CommandPattern,
    pub(crate) domain: Option<HostPattern>,
    is_wide: OnceLock<bool>,
}

/// What a content says about paths.
#[derive(Debug, Clone)]
pub(crate) enum PathContent {
    Pattern(Box<PathPattern>),
    /// It is plainly about something else.
    None,
    /// It is most likely a command, for it is no pattern. Should it meet a path all the same,
    /// it forbids it and never allows it.
    Broken,
}

impl Content {
    pub(super) fn parse(
        inner: &str,
        rule: &str,
        must_be_path: bool,
        anchors: &Anchors,
    ) -> Result<Self, RuleError> {
        let inner = match inner.trim() {
            ":*" => "*",
            inner => inner,
        };
        let domain = inner
            .strip_prefix("domain:")
            .map(HostPattern::parse)
            .transpose()
            .map_err(|reason| RuleError::BadDomain {
                rule: start_of(rule),
                reason,
            })?;
        let path = if domain.is_some() || inner.ends_with(":*") {
            PathContent::None
        } else {
            match PathPattern::parse(inner, anchors) {
                Ok(pattern) => PathContent::Pattern(Box::new(pattern)),
                Err(_) if inner.contains(' ') && !must_be_path => PathContent::Broken,
                Err(reason) => {
                    return Err(RuleError::BadPattern {
                        rule: start_of(rule),
                        reason,
                    });
                }
            }
        };
        Ok(Self {
            text: inner.into(),
            path,
            command: CommandPattern::parse(inner),
            domain,
            is_wide: OnceLock::new(),
        })
    }

    /// Whether it covers the subject, or something that a command mentions.
    pub(crate) fn touches(&self, subject: &Subject, study: &Study) -> bool {
        match subject {
            Subject::Command(script) => study
                .on(script)
                .is_none_or(|report| self.command.is_mentioned(script, report)),
            Subject::Path(path) | Subject::Folder(path) => self.path.forbids(path),
            Subject::Url(url) => self.is_about_all_hosts_or(|host| host.may_cover_url(url)),
            Subject::Text(text) => self.covers_text(text),
        }
    }

    /// Whether it allows the subject. Commands are allowed part by part.
    pub(crate) fn covers(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Command(_) => false,
            Subject::Path(path) | Subject::Folder(path) => self.path.allows(path),
            Subject::Url(url) => self.is_about_all_hosts_or(|host| host.covers_url(url)),
            Subject::Text(text) => self.covers_text(text),
        }
    }

    /// Whether it allows the subject, or one of its commands.
    pub(crate) fn helps(&self, subject: &Subject, study: &Study) -> bool {
        let Subject::Command(script) = subject else {
            return self.covers(subject);
        };
        if self.command == CommandPattern::Every {
            return true;
        }
        let Some(report) = study.on(script) else {
            return false;
        };
        self.allows_whole(script, report)
            || report.may_be_allowed_by_parts()
                && report
                    .commands
                    .iter()
                    .any(|command| self.command.covers(command))
    }

    /// Whether it is this one command, letter by letter, with its redirections and variables:
    /// whoever wrote the rule has seen them. A script of several is allowed by its parts only.
    pub(crate) fn allows_whole(&self, script: &str, report: &Report) -> bool {
        may_be_allowed_whole(report) && self.command.is_text(script)
    }

    /// Whether as a command it lets anything run.
    pub(crate) fn is_wide(&self) -> bool {
        *self.is_wide.get_or_init(|| self.command.is_wide())
    }

    /// `domain:…`, or a bare `*`, which means everything whatever the subject is.
    fn is_about_all_hosts_or(&self, covers: impl Fn(&HostPattern) -> bool) -> bool {
        self.command == CommandPattern::Every || self.domain.as_ref().is_some_and(covers)
    }

    fn covers_text(&self, text: &str) -> bool {
        self.command == CommandPattern::Every || *text == self.text
    }
}

/// Whether a script is one command that was understood.
pub(crate) fn may_be_allowed_whole(report: &Report) -> bool {
    report.verdict != Verdict::TooComplex && report.commands.len() == 1 && !report.is_loop
}

impl PathContent {
    fn forbids(&self, path: &Path) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.forbids(path),
            Self::None => false,
            Self::Broken => true,
        }
    }

    fn allows(&self, path: &Path) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.allows(path),
            Self::None | Self::Broken => false,
        }
    }

    pub(crate) fn pattern(&self) -> Option<&PathPattern> {
        match self {
            Self::Pattern(pattern) => Some(pattern),
            Self::None | Self::Broken => None,
        }
    }
}
