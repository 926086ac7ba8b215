//! All servers of a session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::task::JoinSet;
use toolbay_contract::{BoxFuture, Tool};
use toolbay_dispatch::Newcomers;

use super::asking::Asker;
use super::config::ServerConfig;
use super::departures::Departures;
use super::keyring::Keyring;
use super::launch::Launcher;
use super::link::Means;
use super::memory::Memory;
use super::remote::{OnTools, Remote};
use super::state::Status;
use super::tool::ForeignTool;
use crate::name::ToolName;

/// What servers are connected with.
pub struct Surroundings {
    pub launcher: Arc<dyn Launcher>,
    pub memory: Arc<dyn Memory>,
    /// Who answers the questions of servers; without anybody they are told that they cannot ask.
    pub asker: Option<Arc<dyn Asker>>,
    /// The session's folders.
    pub roots: Vec<PathBuf>,
    /// What servers behind an address are shown; without it they are used without a name.
    pub keyring: Option<Keyring>,
    /// Whoever ends the program waits for these.
    pub departures: Departures,
}

/// The servers of a session. Nothing is connected before somebody asks for it.
pub struct Servers {
    remotes: Vec<Arc<Remote>>,
    /// Tools that were made, so that one that did not change stays the same.
    tools: Mutex<BTreeMap<String, Arc<ForeignTool>>>,
    changed: Arc<OnceLock<OnTools>>,
}

impl Servers {
    pub fn new(configs: Vec<ServerConfig>, around: Surroundings) -> Self {
        let Surroundings {
            launcher,
            memory,
            asker,
            roots,
            keyring,
            departures,
        } = around;
        let means = Arc::new(Means::new(launcher, asker, roots, keyring, departures));
        let changed: Arc<OnceLock<OnTools>> = Arc::default();
        let tell: OnTools = {
            let changed = changed.clone();
            Arc::new(move || {
                if let Some(on_tools) = changed.get() {
                    on_tools();
                }
            })
        };
        let remote = |config| {
            let (means, memory) = (means.clone(), memory.clone());
            Arc::new(Remote::new(config, means, memory, tell.clone()))
        };
        Self {
            remotes: configs.into_iter().map(remote).collect(),
            tools: Mutex::default(),
            changed,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.remotes.is_empty()
    }

    /// Called whenever a server's tools are known or have changed. The first one stays.
    pub fn on_tools(&self, told: impl Fn() + Send + Sync + 'static) {
        let _ = self.changed.set(Arc::new(told));
    }

    /// Connects all that can be connected, beside each other. Each has its own time for it.
    pub async fn connect_all(&self) {
        let mut connecting = JoinSet::new();
        for remote in self.remotes.iter().filter(|remote| !remote.config.disabled) {
            let remote = remote.clone();
            // What went wrong is its state from now on.
            connecting.spawn(async move { remote.connect().await.is_ok() });
        }
        while connecting.join_next().await.is_some() {}
    }

    /// Connects one server by its name.
    pub async fn connect(&self, name: &str) -> Result<(), String> {
        match self.named(name) {
            Some(remote) => remote.connect().await,
            None => Err(format!("there is no MCP server `{name}`")),
        }
    }

    /// Every tool that servers offer now.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut made = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = BTreeMap::new();
        for remote in &self.remotes {
            for definition in remote.tools() {
                let name = definition.info.name.clone();
                let same = made.get(&name);
                let same = same.filter(|tool| Arc::ptr_eq(tool.definition(), &definition));
                let tool = match same {
                    Some(tool) => tool.clone(),
                    None => Arc::new(ForeignTool::new(remote.clone(), definition)),
                };
                now.entry(name).or_insert(tool);
            }
        }
        *made = now;
        made.values()
            .map(|tool| tool.clone() as Arc<dyn Tool>)
            .collect()
    }

    /// What was said about a server.
    pub fn config(&self, name: &str) -> Option<&ServerConfig> {
        self.named(name).map(|remote| &*remote.config)
    }

    pub fn statuses(&self) -> Vec<Status> {
        self.remotes.iter().map(|remote| remote.status()).collect()
    }

    pub(super) fn remotes(&self) -> &[Arc<Remote>] {
        &self.remotes
    }

    pub(super) fn named(&self, name: &str) -> Option<&Arc<Remote>> {
        self.remotes.iter().find(|one| one.config.name == name)
    }

    /// The server whose tool this would be.
    fn of_tool(&self, tool: &str) -> Option<&Arc<Remote>> {
        let name = ToolName::parse(tool)?;
        let is_its = |remote: &&Arc<Remote>| remote.prefix().as_deref() == Some(name.server());
        self.remotes.iter().find(is_its)
    }
}

/// A call of a tool that is not there connects its server.
impl Newcomers for Servers {
    fn arrival<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            match self.of_tool(name) {
                Some(remote) => remote.connect().await,
                None => Ok(()),
            }
        })
    }
}
