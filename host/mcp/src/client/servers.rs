//! All servers of a session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{broadcast, watch};
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
use super::news::{Changes, News};
use super::remote::Remote;
use super::sampling::Sampler;
use super::state::{Offers, Status};
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
    /// Who has a model for servers whose entry lets them use it.
    pub sampler: Option<Arc<dyn Sampler>>,
}

/// Whether a rule closes what has this name.
type Closed = dyn Fn(&str) -> bool + Send + Sync;

/// The servers of a session. Nothing is connected before somebody asks for it.
pub struct Servers {
    remotes: Vec<Arc<Remote>>,
    /// Tools that were made, so that one that did not change stays the same.
    tools: Mutex<BTreeMap<String, Arc<ForeignTool>>>,
    news: News,
    closed: OnceLock<Box<Closed>>,
}

impl Servers {
    pub fn new(configs: Vec<ServerConfig>, around: Surroundings) -> Self {
        let memory = around.memory.clone();
        let news = News::default();
        let means = Arc::new(Means::new(around, news.clone()));
        let remote = |config| {
            let (means, memory) = (means.clone(), memory.clone());
            Arc::new(Remote::new(config, means, memory, news.clone()))
        };
        Self {
            remotes: configs.into_iter().map(remote).collect(),
            tools: Mutex::default(),
            news,
            closed: OnceLock::new(),
        }
    }

    /// Says which names rules close: deny rules hold for all that a server has, not for its
    /// tools alone. The first one stays.
    pub fn close(&self, closed: impl Fn(&str) -> bool + Send + Sync + 'static) {
        let _ = self.closed.set(Box::new(closed));
    }

    pub(super) fn is_closed(&self, name: &ToolName) -> bool {
        let closed = self.closed.get();
        closed.is_some_and(|closed| closed(&name.to_string()))
    }

    pub fn is_empty(&self) -> bool {
        self.remotes.is_empty()
    }

    /// Called whenever a server's tools are known or have changed. The first one stays.
    pub fn on_tools(&self, told: impl Fn() + Send + Sync + 'static) {
        self.news.on_tools(told);
    }

    /// Counts what servers say has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<Changes> {
        self.news.changes()
    }

    /// The addresses of which servers say that something else stands there now.
    pub(crate) fn updates(&self) -> broadcast::Receiver<String> {
        self.news.updates()
    }

    /// The servers' parts of names, of those whose tools are known here.
    pub(crate) fn known_prefixes(&self) -> Vec<String> {
        let known = |remote: &&Arc<Remote>| !remote.is_unasked();
        let known = self.remotes.iter().filter(known);
        known.filter_map(|remote| remote.prefix()).collect()
    }

    /// What kinds of things connected servers have, as they say.
    pub fn offers(&self) -> Offers {
        let all = self.remotes.iter().map(|remote| remote.offers());
        let none = Offers {
            changes: !self.is_empty(),
            ..Offers::default()
        };
        all.fold(none, |one, other| Offers {
            changes: one.changes,
            prompts: one.prompts || other.prompts,
            resources: one.resources || other.resources,
            completions: one.completions || other.completions,
            subscriptions: one.subscriptions || other.subscriptions,
        })
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
    pub(super) fn of_tool(&self, tool: &str) -> Option<&Arc<Remote>> {
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
