//! What all clients share: the tools, and the way to a session.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{RequestStateCodec, Tool};
use serde_json::Value;
use toolbay_contract::{BoxFuture, KillSwitch, SessionSnapshot};
use toolbay_dispatch::Dispatch;

use super::client::Client;
use super::routes::Routes;
use crate::client::{Offers, Servers};

/// Whoever puts sessions together.
pub trait Bays: Send + Sync {
    /// The tools as MCP describes them.
    fn definitions(&self) -> Vec<Value>;

    /// What servers behind this one have beside tools.
    fn offers(&self) -> Offers;

    /// Whether tools of servers are shown by their own names where no other has them.
    fn has_plain_names(&self) -> bool;

    /// Whether clients without sessions are asked for their folders. They have to be asked with
    /// each call, since nobody knows whether the last one was theirs.
    fn asks_for_roots(&self) -> bool;

    /// The folders that were granted at the start, real.
    fn roots(&self) -> Vec<PathBuf>;

    /// A session for one client.
    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<Bench, String>>;
}

/// What a session is to be like.
pub struct Opening {
    /// Where its questions and its progress go.
    pub routes: Arc<Routes>,
    /// Ends all its calls.
    pub kill: KillSwitch,
    /// These folders and no others; none of them lies outside what was granted.
    pub within: Option<Vec<PathBuf>>,
    /// The session that it goes on with.
    pub before: Option<SessionSnapshot>,
}

/// A session of one client.
pub struct Bench {
    pub dispatch: Arc<Dispatch>,
    /// The servers behind this one, as this session knows them.
    pub servers: Arc<Servers>,
    /// Dropped when the client is gone.
    pub guard: Box<dyn Any + Send + Sync>,
}

/// Who is on the other side, as far as a token tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Principal(pub(super) usize);

/// What all clients share.
pub(super) struct House {
    pub(super) bays: Arc<dyn Bays>,
    pub(super) tools: Arc<Vec<Tool>>,
    pub(super) offers: Offers,
    pub(super) kill: KillSwitch,
    /// Seals what a client must bring back unchanged.
    pub(super) seal: RequestStateCodec,
    /// Where the protocol has no sessions, the token is all that tells clients apart.
    without_session: Mutex<HashMap<Principal, Arc<Client>>>,
}

impl House {
    /// `secret` is random, at least 32 bytes, and dies with the process.
    pub(super) fn new(
        bays: Arc<dyn Bays>,
        kill: KillSwitch,
        secret: Vec<u8>,
    ) -> Result<Arc<Self>, String> {
        let tools = bays.definitions().into_iter().map(serde_json::from_value);
        let tools: Result<Vec<Tool>, _> = tools.collect();
        Ok(Arc::new(Self {
            tools: Arc::new(tools.map_err(|error| format!("a tool cannot be described: {error}"))?),
            offers: bays.offers(),
            bays,
            kill,
            seal: RequestStateCodec::try_new(secret).map_err(|error| error.to_string())?,
            without_session: Mutex::default(),
        }))
    }

    /// The client behind requests that stand alone.
    pub(super) fn without_session(self: &Arc<Self>, principal: Principal) -> Arc<Client> {
        let mut all = self
            .without_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let new = || self.client(Routes::without_session());
        all.entry(principal).or_insert_with(new).clone()
    }

    /// A client. It does not keep the house, which would keep itself.
    pub(super) fn client(&self, routes: Routes) -> Arc<Client> {
        let (bays, tools) = (self.bays.clone(), self.tools.clone());
        Arc::new(Client::new(bays, tools, self.kill.below(), routes))
    }
}
