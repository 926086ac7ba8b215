//! MCP servers of a session: who says that there are any, how they are started, and what is
//! remembered about their tools.

pub mod fetched;
pub mod inventory;
pub mod launcher;
pub mod memory;
pub mod remote_list;

use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use toolbay_contract::{BoxFuture, RulesNow};
use toolbay_dispatch::{Dispatch, Newcomers, PoolSetting};
use toolbay_mcp::ToolName;
use toolbay_mcp::client::auth::Environment;
use toolbay_mcp::client::{Keyring, Servers, Status};

pub use fetched::Packages;
pub use inventory::{Declared, Inventory};
pub use launcher::CagedServers;
pub use memory::ToolMemory;

use toolbay_policy::PathRules;

use crate::compose::LatePlugins;
use crate::places::Places;
use crate::process::ProcessContext;

/// How a command wants its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connect {
    /// When one of their tools is called: a command that calls none pays nothing.
    #[default]
    OnDemand,
    /// At once, while other things go on.
    Beside,
    /// Before anything else, to show what there is.
    First,
}

/// Where tokens of servers are kept, and what secrets are read from.
pub fn keyring(places: &Places, process: &ProcessContext, cwd: &Path) -> Keyring {
    Keyring {
        folder: places.state.join("mcp-tokens"),
        environment: Environment {
            variables: process.variables().into(),
            folder: cwd.to_owned(),
        },
    }
}

/// Told of work that takes a while, in a few words; what it gives back is dropped when that is done.
pub type Working = Arc<dyn Fn(String) -> Box<dyn Send + Sync> + Send + Sync>;

/// The dispatch of a session, which is made later than the servers that go by its rules.
#[derive(Clone, Default)]
pub struct LateDispatch(Arc<OnceLock<Weak<Dispatch>>>);

impl LateDispatch {
    /// Its rules as they are now; before it is there, the first ones of the session.
    pub fn rules(&self, first: Arc<PathRules>) -> RulesNow {
        let late = self.0.clone();
        RulesNow::looking(move || {
            let dispatch = late.get().and_then(Weak::upgrade);
            dispatch.map_or_else(
                || first.clone(),
                |dispatch| dispatch.rulebook().current().path_rules().clone(),
            )
        })
    }

    pub fn is(&self, dispatch: &Arc<Dispatch>) {
        // There is one for each session.
        let _ = self.0.set(Arc::downgrade(dispatch));
    }
}

/// Keeps the pool's guests what the servers say. Who calls a tool of one that cannot be used is
/// told why not.
pub fn attach(
    servers: &Arc<Servers>,
    others: &[Status],
    late: &Arc<LatePlugins>,
    dispatch: &Arc<Dispatch>,
) {
    dispatch.pool().expect_from(Arc::new(Door {
        servers: servers.clone(),
        others: others.to_vec(),
        late: late.clone(),
    }));
    let weak = Arc::downgrade(dispatch);
    servers.on_tools(news(servers, late, dispatch));
    // A session that is gone has nothing to give.
    servers.close(move |name| {
        let dispatch = weak.upgrade();
        dispatch.is_none_or(|dispatch| dispatch.rulebook().current().removes(name))
    });
}

/// Puts what has come into the pool, each time it is called.
pub fn news(
    servers: &Arc<Servers>,
    late: &Arc<LatePlugins>,
    dispatch: &Arc<Dispatch>,
) -> impl Fn() + Send + Sync + 'static {
    let late = late.clone();
    let (servers, dispatch) = (Arc::downgrade(servers), Arc::downgrade(dispatch));
    move || receive(&servers, &late, &dispatch)
}

/// Where tools come from that are not there yet, or never will be.
struct Door {
    servers: Arc<Servers>,
    others: Vec<Status>,
    late: Arc<LatePlugins>,
}

impl Newcomers for Door {
    fn arrival<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let part = |server: &str| ToolName::new(server, "x").map(|name| name.server().to_owned());
        let wanted = ToolName::parse(name).map(|name| name.server().to_owned());
        let is_meant = |status: &&Status| wanted.is_some() && part(&status.name) == wanted;
        let usable = self.servers.statuses();
        let closed = match usable.iter().find(is_meant) {
            Some(_) => None,
            None => self.others.iter().find(is_meant),
        };
        let Some(status) = closed else {
            return Box::pin(async move {
                if wanted.is_none() {
                    self.late.arrival(name).await?;
                }
                self.servers.arrival(name).await
            });
        };
        let reason = status.state.reason().unwrap_or_default();
        let text = format!(
            "the MCP server `{}` is {}: {reason}",
            status.name,
            status.state.word()
        );
        Box::pin(async { Err(text) })
    }
}

fn receive(servers: &Weak<Servers>, late: &LatePlugins, dispatch: &Weak<Dispatch>) {
    let (Some(servers), Some(dispatch)) = (servers.upgrade(), dispatch.upgrade()) else {
        return;
    };
    let policy = dispatch.rulebook().current();
    let setting = PoolSetting {
        only: None,
        denied: &|name| policy.removes(name),
        enabled: &|_| true,
    };
    let mut tools = servers.tools();
    tools.extend(late.tools());
    for problem in dispatch.pool().receive(tools, &setting) {
        tracing::warn!(problem, "a tool of an MCP server cannot be used");
    }
    // What the conversation had loaded before its server came.
    let session = dispatch.session();
    dispatch.pool().load(&session.loaded());
}
