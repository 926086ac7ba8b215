//! What files say about servers, and what the program sees of it.
//!
//! Two types, one direction: [`RawServer`] is what was written, [`ServerConfig`] what counts.
//! Variables are looked up only on the way from one to the other, so that a server which nobody
//! has approved learns nothing from them.

mod expand;
mod oauth;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::DuplexStream;

pub use expand::{ExpandError, expand};
pub use oauth::{OauthConfig, RawOauth};
pub use resolve::ConfigError;

/// Who says that there is a server. The first of two that name the same one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The machine's owner, in a file of its own; where there is one, no other scope counts.
    Enterprise,
    /// The machine's owner, among its settings.
    Managed,
    /// Whoever started the program, on its command line.
    Dynamic,
    /// The person, in this project.
    Local,
    /// Whoever made the project: `.mcp.json`.
    Project,
    /// The person, in every project.
    User,
    /// A list that the settings point to.
    Remote,
}

impl Scope {
    pub const ALL: [Self; 7] = [
        Self::Enterprise,
        Self::Managed,
        Self::Dynamic,
        Self::Local,
        Self::Project,
        Self::User,
        Self::Remote,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Managed => "managed",
            Self::Dynamic => "dynamic",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::Remote => "remote",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// A text that may hold a secret: it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(pub String);

impl fmt::Debug for Hidden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(hidden)")
    }
}

/// The word behind `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Stdio,
    Http,
    Sse,
    Ws,
    /// The legacy stream of an editor on this machine.
    SseIde,
    /// The socket of an editor on this machine.
    WsIde,
    /// Streamable HTTP through a gateway that knows its servers by an id.
    Proxy,
    /// Inside this program: given by code, never by a file.
    Sdk,
}

/// One entry of `mcpServers`. An unknown key is an error: a lock that is misspelt must not stay
/// open.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawServer {
    #[serde(rename = "type")]
    pub kind: Option<Kind>,
    pub command: Option<String>,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<String>,
    pub url: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// The server's name at a gateway.
    pub id: Option<String>,
    /// What an editor wants to see before it answers.
    pub auth_token: Option<String>,
    /// The editor's name; nothing depends on it.
    pub ide_name: Option<String>,
    pub disabled: bool,
    /// Milliseconds without a sign of life after which a call is given up.
    pub timeout: Option<u64>,
    /// Its hints are believed.
    pub trusted: bool,
    /// It remembers things between calls, so that a second process of it would be another server.
    pub stateful: bool,
    /// It may ask for completions of the model.
    pub sampling: bool,
    pub sandbox: RawServerSandbox,
    /// How it knows who asks.
    pub oauth: Option<RawOauth>,
}

impl fmt::Debug for RawServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RawServer")
            .field("kind", &self.kind)
            .field("command", &self.command)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// What the cage of a server allows beside the rest of its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawServerSandbox {
    /// Folders that it may write to; without any, those of the session.
    pub roots: Option<Vec<String>>,
    /// Places to read that a private folder would otherwise cover.
    pub allow_read: Vec<String>,
    /// Hosts that it may reach.
    pub allowed_hosts: Vec<String>,
    /// Hosts from which a package runner may fetch it, in a cage without the project. It then
    /// runs without them.
    pub fetch_from: Vec<String>,
    /// Names of variables that it sees beside the harmless ones.
    pub env: Vec<String>,
    /// It may commit, branch and the like.
    pub git_writes: bool,
}

/// A server as the program sees it.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub name: String,
    pub scope: Scope,
    /// Where it was said, for people.
    pub source: String,
    pub link: LinkConfig,
    pub disabled: bool,
    /// How long a call may be silent.
    pub timeout: Duration,
    pub trusted: bool,
    pub stateful: bool,
    pub sampling: bool,
    pub oauth: OauthConfig,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum LinkConfig {
    Stdio(StdioConfig),
    Http(UrlConfig),
    Sse(UrlConfig),
    WebSocket(UrlConfig),
    InProcess(InProcess),
}

impl LinkConfig {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
            Self::WebSocket(_) => "ws",
            Self::InProcess(_) => "sdk",
        }
    }

    /// The command or the address, without what may be secret in it.
    pub fn place(&self) -> String {
        match self {
            Self::Stdio(stdio) => {
                let mut words = vec![stdio.command.clone()];
                words.extend(stdio.args.iter().cloned());
                words.join(" ")
            }
            Self::Http(url) | Self::Sse(url) | Self::WebSocket(url) => url.shown(),
            Self::InProcess(_) => "in this program".into(),
        }
    }
}

/// A process of this machine, in a cage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, Hidden>,
    pub cwd: Option<PathBuf>,
    pub sandbox: ServerSandbox,
}

/// The cage of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerSandbox {
    /// Nothing means the session's.
    pub roots: Option<Vec<PathBuf>>,
    pub allow_read: Vec<PathBuf>,
    pub allowed_hosts: Vec<String>,
    pub fetch_from: Vec<String>,
    pub env: Vec<String>,
    pub git_writes: bool,
}

/// A server somewhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlConfig {
    pub url: String,
    pub headers: BTreeMap<String, Hidden>,
}

impl fmt::Debug for UrlConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "UrlConfig({})", self.shown())
    }
}

impl UrlConfig {
    /// The address without its query, in which people put keys.
    pub fn shown(&self) -> String {
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        self.url[..end].to_owned()
    }
}

/// A server of this very program: each call gives the client's end of a new stream.
#[derive(Clone)]
pub struct InProcess(pub Arc<dyn Fn() -> DuplexStream + Send + Sync>);

impl fmt::Debug for InProcess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("InProcess")
    }
}
