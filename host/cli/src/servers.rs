//! MCP servers of a session: who says that there are any, how they are started, and what is
//! remembered about their tools.

pub mod inventory;
pub mod launcher;
pub mod memory;
pub mod remote_list;

use std::path::Path;
use std::sync::{Arc, Weak};

use toolbay_dispatch::{Dispatch, PoolSetting};
use toolbay_mcp::client::auth::Environment;
use toolbay_mcp::client::{Keyring, Servers};

pub use inventory::{Declared, Inventory};
pub use launcher::CagedServers;
pub use memory::ToolMemory;

use crate::places::{Places, variables};

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
pub fn keyring(places: &Places, cwd: &Path) -> Keyring {
    Keyring {
        folder: places.state.join("mcp-tokens"),
        environment: Environment {
            variables: variables().into(),
            folder: cwd.to_owned(),
        },
    }
}

/// Keeps the pool's guests what the servers say.
pub fn attach(servers: &Arc<Servers>, dispatch: &Arc<Dispatch>) {
    dispatch.pool().expect_from(servers.clone());
    let (weak_servers, weak_dispatch) = (Arc::downgrade(servers), Arc::downgrade(dispatch));
    servers.on_tools(move || receive(&weak_servers, &weak_dispatch));
}

fn receive(servers: &Weak<Servers>, dispatch: &Weak<Dispatch>) {
    let (Some(servers), Some(dispatch)) = (servers.upgrade(), dispatch.upgrade()) else {
        return;
    };
    let policy = dispatch.rulebook().current();
    let setting = PoolSetting {
        only: None,
        denied: &|name| policy.removes(name),
        enabled: &|_| true,
    };
    for problem in dispatch.pool().receive(servers.tools(), &setting) {
        tracing::warn!(problem, "a tool of an MCP server cannot be used");
    }
    // What the conversation had loaded before its server came.
    let session = dispatch.session();
    dispatch.pool().load(&session.loaded());
}
