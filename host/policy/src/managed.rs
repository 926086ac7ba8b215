//! The levers of a managed policy: what the owner of a machine forbids everybody on it.
//!
//! Each lever only ever takes away. Rules of the managed policy itself are rules like others,
//! of the source [`Source::Managed`].

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::host::{HostPattern, plain_host};
use crate::mode::Mode;
use crate::rule::Rule;
use crate::source::Source;

/// What the managed settings may say. The default forbids nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Managed {
    /// Nobody else may allow: allow rules of other sources, and what hooks and tools allow,
    /// do not count. What others forbid still does.
    pub only_managed_rules: bool,
    pub no_bypass: bool,
    /// Only these plugins beside the built-in ones; none named means all.
    pub allowed_plugins: Option<Vec<PluginMark>>,
    /// Only these MCP servers; none named means all. A server is named, or meant by what it is:
    /// `command:npx -y server`, `url:https://*.example/*`, where `*` stands for anything.
    pub allowed_mcp_servers: Option<Vec<String>>,
    /// Never these, whatever else allows them.
    pub denied_mcp_servers: Vec<String>,
    /// Commands run in a cage or not at all.
    pub forced_sandbox: bool,
    /// Only these hosts; none named means all.
    pub allowed_hosts: Option<Vec<HostPattern>>,
}

/// By what a plugin is recognised: `sha256:<64 digits>` or `signer:<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PluginMark {
    Digest(String),
    Signer(String),
}

/// Why the managed policy says no.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("the managed policy does not allow the plugin {0}")]
    Plugin(String),
    #[error("the managed policy forbids the MCP server `{0}`")]
    ServerDenied(String),
    #[error("the managed policy does not allow the MCP server `{0}`")]
    ServerNotAllowed(String),
    #[error("the managed policy does not allow the host {0}")]
    Host(String),
    #[error("the managed policy forbids the mode {}", Mode::Bypass)]
    BypassForbidden,
    #[error("root may use the mode {} only inside a sandbox", Mode::Bypass)]
    BypassAsRoot,
}

impl Managed {
    /// Whether a plugin that somebody brought may be loaded.
    pub fn permits_plugin(&self, digest: &str, signer: Option<&str>) -> Result<(), Refusal> {
        let Some(allowed) = &self.allowed_plugins else {
            return Ok(());
        };
        let digest = normal_digest(digest);
        let is_meant = |mark: &PluginMark| match mark {
            PluginMark::Digest(allowed) => Some(allowed) == digest.as_ref(),
            PluginMark::Signer(name) => Some(name.as_str()) == signer,
        };
        if allowed.iter().any(is_meant) {
            return Ok(());
        }
        Err(Refusal::Plugin(digest.map_or_else(
            || "without a digest".into(),
            |digest| format!("sha256:{digest}"),
        )))
    }

    /// Whether a server may be started and asked.
    pub fn permits_server(&self, name: &str) -> Result<(), Refusal> {
        if self.denied_mcp_servers.iter().any(|denied| denied == name) {
            return Err(Refusal::ServerDenied(name.into()));
        }
        match &self.allowed_mcp_servers {
            // One that is meant by what it is was looked at before it was started.
            Some(allowed) if !allowed.iter().any(|other| other == name || is_mark(other)) => {
                Err(Refusal::ServerNotAllowed(name.into()))
            }
            _ => Ok(()),
        }
    }

    /// The same for one of which it is known what it is: its command or its address.
    pub fn permits_server_at(
        &self,
        name: &str,
        command: Option<&str>,
        url: Option<&str>,
    ) -> Result<(), Refusal> {
        let is_meant = |entry: &String| {
            let at = |mark: &str, place: Option<&str>| {
                let pattern = entry.strip_prefix(mark);
                pattern
                    .zip(place)
                    .is_some_and(|(pattern, place)| matches(pattern, place))
            };
            entry == name || at(COMMAND, command) || at(URL, url)
        };
        if self.denied_mcp_servers.iter().any(is_meant) {
            return Err(Refusal::ServerDenied(name.into()));
        }
        match &self.allowed_mcp_servers {
            Some(allowed) if !allowed.iter().any(is_meant) => {
                Err(Refusal::ServerNotAllowed(name.into()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a tool may be seen: those of a server that is not permitted may not. A name does
    /// not say where the server's name ends, so that every way to read it must be permitted by
    /// what is denied, and one by what is allowed.
    pub fn permits_tool(&self, tool: &str) -> Result<(), Refusal> {
        let Some(rest) = tool.strip_prefix("mcp__") else {
            return Ok(());
        };
        let ends = rest.char_indices().map(|(at, _)| at);
        let mut servers: Vec<&str> = ends
            .filter(|at| *at > 0 && rest[*at..].starts_with("__"))
            .map(|at| &rest[..at])
            .collect();
        if servers.is_empty() {
            servers.push(rest);
        }
        let denied = |server: &&&str| self.denied_mcp_servers.iter().any(|name| name == **server);
        if let Some(server) = servers.iter().find(denied) {
            return Err(Refusal::ServerDenied((*server).into()));
        }
        let answers = servers.iter().map(|server| self.permits_server(server));
        answers.reduce(Result::or).unwrap_or(Ok(()))
    }

    /// Whether a host may be spoken to.
    pub fn permits_host(&self, host: &str) -> Result<(), Refusal> {
        let Some(allowed) = &self.allowed_hosts else {
            return Ok(());
        };
        let lower = host.to_ascii_lowercase();
        let name = lower.strip_suffix('.').unwrap_or(&lower);
        if allowed.iter().any(|pattern| pattern.covers(name)) {
            return Ok(());
        }
        Err(Refusal::Host(format!("`{host}`")))
    }

    /// The same for a line of a list of hosts: `*.` before it, `:PORT` and `@NETWORK` behind it. One
    /// with everything below a host needs everything below it.
    pub fn permits_host_line(&self, line: &str) -> Result<(), Refusal> {
        let host = line.split_once('@').map_or(line, |(host, _)| host);
        let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let host = match host.rsplit_once(':') {
            Some((host, port)) if is_port(port) => host,
            _ => host,
        };
        match host.strip_prefix("*.") {
            Some(rest) => self.permits_host(&format!("any.{rest}")),
            None => self.permits_host(host),
        }
    }

    /// The same for an address; one that cannot be read leads nowhere good.
    pub fn permits_url(&self, url: &str) -> Result<(), Refusal> {
        if self.allowed_hosts.is_none() {
            return Ok(());
        }
        match plain_host(url) {
            Some(host) => self.permits_host(&host),
            None => Err(Refusal::Host(format!("of `{url}`, which cannot be told"))),
        }
    }

    /// Whether an allow rule counts.
    pub fn permits_allow_rule(&self, rule: &Rule) -> bool {
        !self.only_managed_rules || rule.provenance().source == Source::Managed
    }

    /// The mode that counts where somebody wishes for one.
    pub fn effective_mode(&self, wished: Mode) -> Mode {
        match wished {
            Mode::Bypass if self.no_bypass => Mode::Default,
            Mode::Bypass | Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::DontAsk => wished,
        }
    }
}

const COMMAND: &str = "command:";
const URL: &str = "url:";

fn is_mark(entry: &str) -> bool {
    entry.starts_with(COMMAND) || entry.starts_with(URL)
}

/// Whether a text is what a pattern means, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// 64 digits in lower case.
fn normal_digest(text: &str) -> Option<String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| digits.to_ascii_lowercase())
}

impl TryFrom<String> for PluginMark {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("signer:").filter(|name| !name.is_empty()) {
            return Ok(Self::Signer(name.to_owned()));
        }
        let digest = text.strip_prefix("sha256:").and_then(normal_digest);
        digest.map(Self::Digest).ok_or_else(|| {
            format!("`{text}` is no plugin; write `sha256:` and 64 digits, or `signer:` and a name")
        })
    }
}

impl From<PluginMark> for String {
    fn from(mark: PluginMark) -> Self {
        match mark {
            PluginMark::Digest(digest) => format!("sha256:{digest}"),
            PluginMark::Signer(name) => format!("signer:{name}"),
        }
    }
}

#[cfg(test)]
mod tests;
