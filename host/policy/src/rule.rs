//! Rules as people write them: `Tool` or `Tool(content)`.
//!
//! Content means what the tool's subjects are: a path pattern, a command (exact, a prefix
//! with `:*`, or with `*` in it), `domain:host` for URLs, plain text otherwise.

mod content;
mod followed;

use std::path::Path;

use thiserror::Error;

use crate::claims::Subject;
use crate::command::CommandPattern;
use crate::path_pattern::literal;
use crate::source::Provenance;
use crate::study::Study;
use crate::verb::Verb;
pub(crate) use content::{Content, PathContent, may_be_allowed_whole};

pub use crate::path_pattern::Anchors;

/// Characters of a rule in a message about it.
const MOST_QUOTED: usize = 200;

/// One rule, parsed and ready to match.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    content: Option<Content>,
    provenance: Provenance,
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
    #[error("`{rule}`: {reason}")]
    BadDomain { rule: String, reason: String },
}

/// The rules of one session, by what they do.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub deny: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub allow: Vec<Rule>,
}

impl Rule {
    /// Parses a rule. It counts as given on the command line; see [`Rule::from`].
    pub fn parse(text: &str, anchors: &Anchors) -> Result<Self, RuleError> {
        let trimmed = text.trim();
        let (tool, content) = match trimmed.find('(') {
            None => (trimmed, None),
            Some(open) => {
                let inner = trimmed[open + 1..]
                    .strip_suffix(')')
                    .ok_or_else(|| RuleError::Unclosed(start_of(text)))?;
                if inner.trim().is_empty() {
                    return Err(RuleError::Empty(start_of(text)));
                }
                (trimmed[..open].trim_end(), Some(inner))
            }
        };
        if tool.is_empty() {
            return Err(RuleError::NoTool(start_of(text)));
        }
        let stem = tool.strip_suffix('*').unwrap_or(tool);
        if !stem
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        {
            return Err(RuleError::BadTool(start_of(text)));
        }
        let must_be_path = Verb::of(tool).is_some();
        let content = content
            .map(|inner| Content::parse(inner, text, must_be_path, anchors))
            .transpose()?;
        Ok(Self {
            text: trimmed.into(),
            tool: tool.into(),
            content,
            provenance: Provenance::default(),
        })
    }

    /// The same rule, written there.
    #[must_use]
    pub fn from(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// The text of the rule that covers calls of a tool on this path and what is
    /// below it, and no others.
    pub fn text_for_path(tool: &str, path: &Path) -> String {
        format!("{tool}(/{})", literal(path))
    }

    /// The text of the rule that covers calls of a tool with this command and no others.
    pub fn text_for_command(tool: &str, command: &str) -> String {
        format!("{tool}({})", CommandPattern::text_for(command))
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it was written.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    pub(crate) fn content(&self) -> Option<&Content> {
        self.content.as_ref()
    }

    /// Whether the rule speaks about this tool, whatever its content.
    pub(crate) fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(stem) => tool.starts_with(stem),
            None => self.tool == tool || self.names_server_of(tool),
        }
    }

    /// Whether the rule is `mcp__server`, and the tool one of that server's.
    fn names_server_of(&self, tool: &str) -> bool {
        server_of_rule(&self.tool).is_some()
            && tool
                .strip_prefix(&self.tool)
                .is_some_and(|rest| rest.starts_with("__"))
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

    /// Whether an allow rule covers a subject, or a command that one is made of.
    pub(crate) fn helps(&self, tool: &str, subjects: &[Subject], study: &Study) -> bool {
        self.names(tool)
            && match &self.content {
                None => true,
                Some(content) => subjects.iter().any(|subject| content.helps(subject, study)),
            }
    }
}

/// What a message quotes of a rule: a file can hold one of megabytes.
fn start_of(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(MOST_QUOTED).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    start + more
}

/// The server's name, if a rule's tool is `mcp__server`.
pub(crate) fn server_of_rule(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")
        .filter(|server| !server.is_empty() && !server.contains("__"))
}

#[cfg(test)]
mod tests;
