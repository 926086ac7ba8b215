//! One client: its session, and what belongs to it.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::Tool;
use rmcp::service::Peer;
use tokio::sync::{Mutex as Gate, broadcast, watch};
use toolbay_contract::{KillReason, KillSwitch};
use toolbay_dispatch::Dispatch;

use super::house::{Bays, Opening};
use super::kept::Shelf;
use super::roots;
use super::rounds::Rounds;
use super::routes::Routes;
use crate::client::Servers;
use crate::client::news::Changes;
use crate::client::watching::Watching;

/// One client. Its calls end with it.
pub(super) struct Client {
    pub(super) bays: Arc<dyn Bays>,
    /// What there was at the start.
    pub(super) tools: Arc<Vec<Tool>>,
    pub(super) routes: Arc<Routes>,
    pub(super) kill: KillSwitch,
    pub(super) shelf: Mutex<Shelf>,
    /// Counts what was put on the shelf.
    pub(super) saved: watch::Sender<u64>,
    /// Counts what servers behind this one say has changed.
    pub(super) news: watch::Sender<Changes>,
    /// The list of tools that the client saw last.
    pub(super) seen: Mutex<Option<String>>,
    /// Addresses that the client wants to hear of.
    pub(super) watched: Mutex<HashMap<String, Watching>>,
    /// Of all sessions: where something else stands now.
    pub(super) updates: broadcast::Sender<String>,
    pub(super) rounds: Rounds,
    next: AtomicU64,
    /// The client's folders are not known, or not any more.
    roots_are_stale: AtomicBool,
    session: Gate<State>,
    last: Mutex<Option<Session>>,
}

#[derive(Default)]
struct State {
    /// The last one used is the last.
    open: Vec<Open>,
    /// What earlier sessions of this client have left: their results can still be read.
    guards: VecDeque<Box<dyn Any + Send + Sync>>,
    /// What the client's folders leave of those that were granted.
    within: Option<Vec<PathBuf>>,
}

struct Open {
    session: Session,
    within: Option<Vec<PathBuf>>,
}

/// Where calls of a client run.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) servers: Arc<Servers>,
}

/// Sessions of one client that are kept open: where the token is the client, several with
/// folders of their own may be behind it.
const MOST_OPEN: usize = 8;
/// Sessions whose results can still be read.
const MOST_LEFT: usize = 64;

/// Updates that wait for a client.
const MOST_UPDATES: usize = 256;

/// Which folders of the client hold.
pub(super) enum Folders<'a> {
    /// Those that this client has, which is asked if need be.
    Of(&'a Peer<RoleServer>),
    /// Those that came with the request, in the client's words.
    Told(Vec<String>),
    /// Those that were told last, if any were.
    Last,
}

impl Client {
    /// Opens nothing yet: a client that only looks costs nothing.
    pub(super) fn new(
        bays: Arc<dyn Bays>,
        tools: Arc<Vec<Tool>>,
        kill: KillSwitch,
        routes: Routes,
    ) -> Self {
        Self {
            bays,
            tools,
            routes: Arc::new(routes),
            kill,
            shelf: Mutex::default(),
            saved: watch::Sender::new(0),
            news: watch::Sender::default(),
            seen: Mutex::default(),
            watched: Mutex::default(),
            updates: broadcast::Sender::new(MOST_UPDATES),
            rounds: Rounds::default(),
            next: AtomicU64::new(1),
            roots_are_stale: AtomicBool::new(true),
            session: Gate::default(),
            last: Mutex::default(),
        }
    }

    /// An id for the next call.
    pub(super) fn call_id(&self) -> String {
        format!("mcp_{}", self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// The client has other folders now. They are asked for when it matters.
    pub(super) fn forget_roots(&self) {
        self.roots_are_stale.store(true, Ordering::Release);
    }

    /// Whether a request has to say what the client's folders are: where several may be behind
    /// one token each of them, if that is wanted, and else whoever has not said so yet.
    pub(super) fn wants_roots(&self) -> bool {
        match self.routes.has_no_session {
            true => self.bays.asks_for_roots(),
            false => self.roots_are_stale.load(Ordering::Acquire),
        }
    }

    /// The session, opened when it is first needed. A client that has folders is held to them;
    /// when they change, the session goes on in a new one.
    pub(super) async fn session(self: &Arc<Self>, folders: Folders<'_>) -> Result<Session, String> {
        let mut state = self.session.lock().await;
        let mut within = None;
        match folders {
            Folders::Of(peer) => {
                if self.roots_are_stale.swap(false, Ordering::AcqRel) {
                    match roots::of(peer).await {
                        Ok(theirs) => state.within = roots::narrowed(&self.bays.roots(), &theirs),
                        Err(why) => {
                            self.forget_roots();
                            return Err(why);
                        }
                    }
                }
            }
            Folders::Told(theirs) => {
                let told = roots::narrowed(&self.bays.roots(), &theirs);
                match self.routes.has_no_session {
                    // Those of this request, and of no other behind the same token.
                    true => within = told,
                    false => {
                        self.roots_are_stale.store(false, Ordering::Release);
                        state.within = told;
                    }
                }
            }
            Folders::Last => {}
        }
        let within = within.or_else(|| state.within.clone());
        if within.as_ref().is_some_and(Vec::is_empty) {
            return Err(nowhere(&self.bays.roots()));
        }
        let known = state.open.iter().position(|open| open.within == within);
        if let Some(at) = known {
            let open = state.open.remove(at);
            let session = open.session.clone();
            state.open.push(open);
            self.used(&session);
            return Ok(session);
        }
        // Where several may be behind one token, one knows nothing of the others.
        let before = state.open.last().filter(|_| !self.routes.has_no_session);
        let bench = self
            .bays
            .open(Opening {
                routes: self.routes.clone(),
                kill: self.kill.clone(),
                within: within.clone(),
                before: before.map(|open| open.session.dispatch.session().snapshot()),
            })
            .await?;
        let session = Session {
            dispatch: bench.dispatch,
            servers: bench.servers,
        };
        self.hear(&session.servers);
        self.used(&session);
        state.guards.push_back(bench.guard);
        if state.guards.len() > MOST_LEFT {
            state.guards.pop_front();
        }
        state.open.push(Open {
            session: session.clone(),
            within,
        });
        if state.open.len() > MOST_OPEN {
            state.open.remove(0);
        }
        Ok(session)
    }

    /// The session that was used last, if there is one. Nobody waits for one that is being opened:
    /// the client may have to answer first, and want a list before it does.
    pub(super) fn last_session(&self) -> Option<Session> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn used(&self, session: &Session) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(session.clone());
    }

    pub(super) fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.kill.throw(KillReason::Shutdown);
    }
}

fn nowhere(granted: &[PathBuf]) -> String {
    let granted: Vec<String> = granted
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    format!(
        "none of the client's folders (its roots) is inside what this server was started for: {}",
        granted.join(", ")
    )
}
