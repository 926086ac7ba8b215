//! What a tool says about a call, and what the host knows about the tool.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A tool's answers about one input. Claims decide what the call *can* do, so a
/// false one harms nobody but the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub read_only: bool,
    pub concurrency_safe: bool,
    /// `None` when the tool has no opinion.
    pub destructive: Option<bool>,
}

impl Claims {
    /// What counts when a tool does not answer.
    pub const STRICT: Self = Self {
        read_only: false,
        concurrency_safe: false,
        destructive: None,
    };
}

/// The tool's own word on permission, already reduced by trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    None,
    /// Only from a tool that the host vouches for; counts like an allow rule. See
    /// [`Opinion::believed_of`].
    Allow(String),
    Ask(String),
    Deny(String),
}

impl Opinion {
    /// What is left of it: a tool may tighten, and only one that the host vouches for loosen.
    #[must_use]
    pub fn believed_of(self, trust: Trust) -> Self {
        match (self, trust) {
            (Self::Allow(_), Trust::ThirdParty) => Self::None,
            (opinion, Trust::BuiltIn | Trust::ThirdParty) => opinion,
        }
    }
}

/// What hooks said about permission, taken together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HookWord {
    #[default]
    None,
    /// Counts like an allow rule: never against a deny or ask rule.
    Allow(String),
    Ask(String),
    Deny(String),
}

/// Whether the host vouches for a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Embedded in the program.
    BuiltIn,
    /// Brought by somebody else.
    ThirdParty,
}

/// What a component could use at most, read off its imports. What is `false`
/// here it can never do, whatever anybody grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    pub files: bool,
    pub search: bool,
    pub network: bool,
    pub shell: bool,
    pub ask_user: bool,
    pub tasks: bool,
    pub agents: bool,
    pub session: bool,
}

impl Reach {
    /// Everything: what counts for a tool that is not a component.
    pub const ALL: Self = Self {
        files: true,
        search: true,
        network: true,
        shell: true,
        ask_user: true,
        tasks: true,
        agents: true,
        session: true,
    };

    /// Whether nothing outside the plugin's own session state can change.
    pub fn is_harmless(&self) -> bool {
        !(self.files || self.network || self.shell || self.tasks || self.agents)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    Command,
    Path,
    Url,
    Text,
}

/// A part of the input that rules speak about, taken out of it by the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Command(String),
    /// A file, or what does not exist yet. Absolute; links resolved as far as the path exists.
    Path(PathBuf),
    /// A folder that exists; the same.
    Folder(PathBuf),
    Url(String),
    Text(String),
}
