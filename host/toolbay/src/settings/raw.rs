//! What a settings file says, key by key. An unknown key is an error: a lock that is misspelt
//! must not stay open.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toolbay_mcp::client::config::RawServer;
use toolbay_policy::{Capability, Managed, Mode};
use toolbay_runtime::Limits;

use super::judge::RawClassifier;
use super::serve::ServeQuotas;
use crate::caged::ShellKind;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Raw {
    #[serde(default)]
    pub(super) permissions: RawPermissions,
    /// Limits by tool name; `*` is for all.
    #[serde(default)]
    pub(super) limits: BTreeMap<String, Limits>,
    /// Component files or folders of them.
    #[serde(default)]
    pub(super) plugins: Vec<PathBuf>,
    /// What components may use, by the digest of each.
    #[serde(default)]
    pub(super) grants: BTreeMap<String, Vec<Capability>>,
    /// Commands that run before and after calls.
    #[serde(default)]
    pub(super) hooks: Option<serde_json::Value>,
    #[serde(default)]
    pub(super) audit: Option<RawAudit>,
    #[serde(default)]
    pub(super) sandbox: Option<RawSandbox>,
    /// Servers whose tools are ours too.
    #[serde(default)]
    pub(super) mcp_servers: BTreeMap<String, RawServer>,
    /// Where a list of further servers is: an address.
    #[serde(default)]
    pub(super) mcp_server_list: Option<String>,
    /// What one client of `toolbay mcp serve --http` may use.
    #[serde(default)]
    pub(super) mcp_serve: Option<ServeQuotas>,
    /// What the owner of the machine forbids everybody on it; in the managed file alone.
    #[serde(default)]
    pub(super) managed: Option<Managed>,
    /// Folders of other agents whose settings are read as well, such as `.claude`.
    #[serde(default)]
    pub(super) import: Vec<PathBuf>,
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawPermissions {
    #[serde(default)]
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) deny: Vec<String>,
    #[serde(default)]
    pub(super) additional_directories: Vec<PathBuf>,
    #[serde(default)]
    pub(super) default_mode: Option<Mode>,
    #[serde(default)]
    pub(super) classifier: Option<RawClassifier>,
}

/// What commands in a cage may reach beside the project.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct RawSandbox {
    /// Accept a weaker cage where there is no full one.
    pub(super) degraded: bool,
    pub(super) allow_write: Vec<PathBuf>,
    pub(super) allow_read: Vec<PathBuf>,
    pub(super) deny_read: Vec<PathBuf>,
    /// Commands may commit, branch and the like.
    pub(super) git_writes: bool,
    /// Hosts that commands may reach, such as `docs.example` or `*.example`.
    pub(super) allowed_hosts: Vec<String>,
    pub(super) denied_hosts: Vec<String>,
    /// Seconds after which a command goes on in the background; 0 is never.
    pub(super) background_after: Option<f64>,
    /// A call may ask to run outside the cage, and then a person is asked.
    pub(super) allow_unsandboxed: Option<bool>,
    /// Commands that run outside the cage, as rules name them: `docker:*`.
    pub(super) excluded_commands: Vec<String>,
    /// Who runs scripts: `bash` or `zsh`.
    pub(super) shell: Option<ShellKind>,
}

/// The log of decisions and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawAudit {
    /// When the disk is full: refuse calls, or go on and count what is lost.
    pub on_full: Option<OnFullWord>,
    /// Bytes after which a new file begins.
    pub file_bytes: Option<u64>,
    /// Files that are kept.
    pub files: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFullWord {
    Stop,
    GoOn,
}

/// What is taken from the settings of another agent: its rules and hooks. It has keys of its
/// own, which are none of our business.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Foreign {
    #[serde(default)]
    pub(super) permissions: ForeignPermissions,
    #[serde(default)]
    pub(super) hooks: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ForeignPermissions {
    #[serde(default)]
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) deny: Vec<String>,
}

impl From<Foreign> for Raw {
    fn from(foreign: Foreign) -> Self {
        Self {
            permissions: RawPermissions {
                allow: foreign.permissions.allow,
                ask: foreign.permissions.ask,
                deny: foreign.permissions.deny,
                ..RawPermissions::default()
            },
            hooks: foreign.hooks,
            ..Self::default()
        }
    }
}
