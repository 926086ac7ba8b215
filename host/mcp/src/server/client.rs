//! One client: its session, and what belongs to it.

use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio::sync::Mutex as Gate;
use toolbay_contract::{KillReason, KillSwitch};
use toolbay_dispatch::Dispatch;

use super::house::{Bays, Opening};
use super::kept::Shelf;
use super::roots;
use super::rounds::Rounds;
use super::routes::Routes;

/// One client. Its calls end with it.
pub(super) struct Client {
    bays: Arc<dyn Bays>,
    pub(super) routes: Arc<Routes>,
    pub(super) kill: KillSwitch,
    pub(super) shelf: Mutex<Shelf>,
    pub(super) rounds: Rounds,
    next: AtomicU64,
    /// The client's folders are not known, or not any more.
    roots_are_stale: AtomicBool,
    session: Gate<State>,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    /// What earlier sessions of this client have left: their results can still be read.
    guards: Vec<Box<dyn Any + Send + Sync>>,
    /// What the client's folders leave of those that were granted.
    within: Option<Vec<PathBuf>>,
}

struct Open {
    dispatch: Arc<Dispatch>,
    within: Option<Vec<PathBuf>>,
}

impl Client {
    /// Opens nothing yet: a client that only looks costs nothing.
    pub(super) fn new(bays: Arc<dyn Bays>, kill: KillSwitch, routes: Routes) -> Self {
        Self {
            bays,
            routes: Arc::new(routes),
            kill,
            shelf: Mutex::default(),
            rounds: Rounds::default(),
            next: AtomicU64::new(1),
            roots_are_stale: AtomicBool::new(true),
            session: Gate::default(),
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

    /// The session, opened at the first call. A client that has folders (`asked` is where to ask
    /// for them) is held to them; when they change, the session goes on in a new one.
    pub(super) async fn dispatch(
        &self,
        asked: Option<&Peer<RoleServer>>,
    ) -> Result<Arc<Dispatch>, String> {
        let mut state = self.session.lock().await;
        if let Some(peer) = asked
            && self.roots_are_stale.swap(false, Ordering::AcqRel)
        {
            match roots::of(peer).await {
                Ok(theirs) => state.within = roots::narrowed(&self.bays.roots(), &theirs),
                Err(why) => {
                    self.forget_roots();
                    return Err(why);
                }
            }
        }
        if state.within.as_ref().is_some_and(Vec::is_empty) {
            return Err(nowhere(&self.bays.roots()));
        }
        if let Some(open) = &state.open
            && open.within == state.within
        {
            return Ok(open.dispatch.clone());
        }
        let before = state.open.as_ref();
        let bench = self
            .bays
            .open(Opening {
                routes: self.routes.clone(),
                kill: self.kill.clone(),
                within: state.within.clone(),
                before: before.map(|open| open.dispatch.session().snapshot()),
            })
            .await?;
        state.guards.push(bench.guard);
        state.open = Some(Open {
            dispatch: bench.dispatch.clone(),
            within: state.within.clone(),
        });
        Ok(bench.dispatch)
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
