//! Rules as people write them: `Tool` or `Tool(content)`.
//!
//! Content means what the tool's subjects are: a path pattern, a command (exact,
//! or a prefix with `:*`), `domain:host` for URLs, plain text otherwise.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

use crate::claims::Subject;
use crate::command::CommandPattern;
use crate::study::Study;

/// One rule, parsed and ready to match.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    content: Option<Content>,
}

#[derive(Debug, Clone)]
struct Content {
    text: String,
    path: Option<GlobMatcher>,
    command: CommandPattern,
}

/// Why a rule does not parse.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RuleError {
    #[error("a rule needs a tool name, as in `Tool` or `Tool(content)`; got `{0}`")]
    NoTool(String),
    #[error("`{0}`: the tool name may hold letters, digits, `_`, `-` and `*` at its end only")]
    BadTool(String),
    #[error("`{0}`: the opening `(` has no `)` at the end of the rule")]
    Unclosed(String),
    #[error("`{0}`: nothing between `(` and `)`; write the tool name alone to mean every call")]
    Empty(String),
    #[error("`{rule}`: the path pattern does not parse: {reason}")]
    BadPattern { rule: String, reason: String },
}

/// Where the anchors of path patterns point.
#[derive(Debug, Clone)]
pub struct Anchors {
    pub home: Option<PathBuf>,
    pub cwd: PathBuf,
    /// The folder that holds the settings file; `/x` counts from there.
    pub settings: PathBuf,
}

impl Rule {
    /// Parses a rule.
    pub fn parse(text: &str, anchors: &Anchors) -> Result<Self, RuleError> {
        let trimmed = text.trim();
        let (tool, content) = match trimmed.find('(') {
            None => (trimmed, None),
            Some(open) => {
                let inner = trimmed[open + 1..]
                    .strip_suffix(')')
                    .ok_or_else(|| RuleError::Unclosed(text.into()))?;
                if inner.trim().is_empty() {
                    return Err(RuleError::Empty(text.into()));
                }
                (trimmed[..open].trim_end(), Some(inner))
            }
        };
        if tool.is_empty() {
            return Err(RuleError::NoTool(text.into()));
        }
        let stem = tool.strip_suffix('*').unwrap_or(tool);
        if !stem
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        {
            return Err(RuleError::BadTool(text.into()));
        }
        let content = content
            .map(|inner| Content::parse(inner, text, anchors))
            .transpose()?;
        Ok(Self {
            text: trimmed.into(),
            tool: tool.into(),
            content,
        })
    }

    /// The text of the rule that covers calls of a tool on this path and what is
    /// below it, and no others.
    pub fn text_for_path(tool: &str, path: &Path) -> String {
        format!("{tool}(/{})", literal(path))
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// The matcher of a rule that names paths.
    pub(crate) fn path_matcher(&self) -> Option<&GlobMatcher> {
        self.content.as_ref()?.path.as_ref()
    }

    /// Whether the rule speaks about this tool, whatever its content.
    fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(stem) => tool.starts_with(stem),
            None => self.tool == tool || self.names_server_of(tool),
        }
    }

    /// Whether the rule is `mcp__server`, and the tool one of that server's.
    fn names_server_of(&self, tool: &str) -> bool {
        let server = self.tool.strip_prefix("mcp__");
        server.is_some_and(|server| !server.contains("__"))
            && tool
                .strip_prefix(&self.tool)
                .is_some_and(|rest| rest.starts_with("__"))
    }

    /// Whether the rule speaks about every call of this tool.
    pub(crate) fn removes(&self, tool: &str) -> bool {
        self.content.is_none() && self.names(tool)
    }

    /// Whether the rule covers *some* subject: what a deny or ask rule needs. In a command it
    /// looks for everything that is mentioned.
    pub(crate) fn touches(&self, tool: &str, subjects: &[Subject], study: &Study) -> bool {
        self.names(tool)
            && match &self.content {
                None => true,
                Some(content) => subjects
                    .iter()
                    .any(|subject| content.touches(subject, study)),
            }
    }

    /// Whether the rule speaks about commands of this tool, so that one which cannot be
    /// named may be meant.
    pub(crate) fn may_name_a_command_of(&self, tool: &str) -> bool {
        self.names(tool) && self.content.is_some()
    }
}

impl Rules {
    /// The allow rule that covers the call, or the first of several that cover it together:
    /// every subject, and of a script every command that does not only read. A rule with
    /// content never covers a call without subjects.
    pub(crate) fn allow(&self, tool: &str, subjects: &[Subject], study: &Study) -> Option<&Rule> {
        let candidates: Vec<&Rule> = self.allow.iter().filter(|rule| rule.names(tool)).collect();
        if let Some(whole) = candidates.iter().find(|rule| rule.content.is_none()) {
            return Some(whole);
        }
        let mut used = None;
        for subject in subjects {
            let covering = covering(&candidates, subject, study)?;
            used = used.or(covering);
        }
        used
    }
}

/// Whether the subject is covered, and by which rule first; a script that only reads needs
/// none.
fn covering<'a>(
    candidates: &[&'a Rule],
    subject: &Subject,
    study: &Study,
) -> Option<Option<&'a Rule>> {
    let find = |is_covered: &dyn Fn(&Content) -> bool| {
        candidates
            .iter()
            .copied()
            .find(|rule| rule.content.as_ref().is_some_and(is_covered))
    };
    let Subject::Command(script) = subject else {
        return find(&|content| content.covers(subject)).map(Some);
    };
    if let Some(every) = find(&|content| content.command == CommandPattern::Every) {
        return Some(Some(every));
    }
    let report = study.on(script)?;
    if !report.may_be_allowed_by_parts() {
        return None;
    }
    let mut used = None;
    for command in &report.commands {
        match find(&|content| content.command.covers(command)) {
            Some(rule) => used = used.or(Some(rule)),
            None if command.is_read_only() => {}
            None => return None,
        }
    }
    Some(used)
}

impl Content {
    fn parse(inner: &str, rule: &str, anchors: &Anchors) -> Result<Self, RuleError> {
        let inner = inner.trim();
        let path = if inner.starts_with("domain:") || inner.ends_with(":*") {
            None
        } else {
            let pattern = anchored(inner, anchors);
            // A folder's name covers what is below it, as in gitignore.
            let pattern = match pattern.strip_suffix('/') {
                Some(folder) => format!("{folder}/**"),
                None => pattern,
            };
            let glob = GlobBuilder::new(&pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| RuleError::BadPattern {
                    rule: rule.into(),
                    reason: error.kind().to_string(),
                })?;
            Some(glob.compile_matcher())
        };
        Ok(Self {
            text: inner.into(),
            path,
            command: CommandPattern::parse(inner),
        })
    }

    /// Whether it covers the subject, or something that a command mentions.
    fn touches(&self, subject: &Subject, study: &Study) -> bool {
        match subject {
            Subject::Command(script) => study
                .on(script)
                .is_none_or(|report| self.command.is_mentioned(script, report)),
            Subject::Path(_) | Subject::Url(_) | Subject::Text(_) => self.covers(subject),
        }
    }

    fn covers(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Path(path) => self
                .path
                .as_ref()
                .is_some_and(|glob| covers_path(glob, path)),
            // Commands are covered part by part; see `covering`.
            Subject::Command(_) => false,
            Subject::Url(url) => self.covers_url(url),
            Subject::Text(text) => *text == self.text,
        }
    }

    fn covers_url(&self, url: &str) -> bool {
        let Some(domain) = self.text.strip_prefix("domain:") else {
            return false;
        };
        let Some(host) = host_of(url) else {
            return false;
        };
        match domain.strip_prefix("*.") {
            Some(parent) => host
                .strip_suffix(parent)
                .is_some_and(|rest| rest.ends_with('.')),
            None => host == domain.to_ascii_lowercase(),
        }
    }
}

/// A pattern covers a path when it matches the path or a folder above it.
pub(crate) fn covers_path(glob: &GlobMatcher, path: &Path) -> bool {
    path.ancestors()
        .filter(|part| part.as_os_str() != "/")
        .any(|part| glob.is_match(part))
}

/// A path as a pattern that matches it alone.
fn literal(path: &Path) -> String {
    // `escape` leaves the backslash, which escapes in our patterns.
    globset::escape(&path.to_string_lossy()).replace('\\', "\\\\")
}

fn anchored(pattern: &str, anchors: &Anchors) -> String {
    let join = |base: &Path, rest: &str| format!("{}/{rest}", literal(base).trim_end_matches('/'));
    if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{rest}")
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        match &anchors.home {
            Some(home) => join(home, rest),
            // Without a home the pattern must not turn into one that matches less.
            None => format!("/**/{rest}"),
        }
    } else if let Some(rest) = pattern.strip_prefix("./") {
        join(&anchors.cwd, rest)
    } else if let Some(rest) = pattern.strip_prefix('/') {
        join(&anchors.settings, rest)
    } else if pattern.trim_end_matches('/').contains('/') {
        join(&anchors.cwd, pattern)
    } else {
        format!("/**/{pattern}")
    }
}

/// The host of a URL in lower case; none when it is not plainly readable.
fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The rules of one session, by what they do.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub deny: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub allow: Vec<Rule>,
}

#[cfg(test)]
mod tests;
