//! Which client a call belongs to: where its progress and its questions go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;
use toolbay_contract::{Progress, ProgressSink};

/// Notifications that wait to be sent; a client that does not read loses the rest.
const MOST_WAITING: usize = 256;

/// The calls under way.
#[derive(Default)]
pub struct Routes {
    open: Mutex<HashMap<String, Route>>,
}

#[derive(Clone)]
struct Route {
    peer: Peer<RoleServer>,
    /// None if the client wants no progress.
    progress: Option<mpsc::Sender<String>>,
}

/// Closes a route with its call.
pub(super) struct Opened<'a> {
    routes: &'a Routes,
    id: String,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.routes.all().remove(&self.id);
    }
}

impl Routes {
    /// Where progress of all calls goes.
    pub fn progress_sink(self: &Arc<Self>) -> ProgressSink {
        let routes = self.clone();
        Arc::new(move |call_id, progress| {
            let Some(text) = words(&progress) else {
                return;
            };
            let route = routes.all().get(call_id).cloned();
            if let Some(sender) = route.and_then(|route| route.progress) {
                // A full queue means a client that does not listen.
                let _ = sender.try_send(text);
            }
        })
    }

    pub(super) fn open(&self, id: &str, context: &RequestContext<RoleServer>) -> Opened<'_> {
        let token = context.meta.get_progress_token();
        let route = Route {
            peer: context.peer.clone(),
            progress: token.map(|token| sending(context.peer.clone(), token)),
        };
        self.all().insert(id.to_owned(), route);
        Opened {
            routes: self,
            id: id.to_owned(),
        }
    }

    pub(super) fn peer(&self, id: &str) -> Option<Peer<RoleServer>> {
        self.all().get(id).map(|route| route.peer.clone())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Route>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what comes, one after the other, until the call is over.
fn sending(peer: Peer<RoleServer>, token: ProgressToken) -> mpsc::Sender<String> {
    let (sender, mut texts) = mpsc::channel::<String>(MOST_WAITING);
    tokio::spawn(async move {
        let mut count = 0.0;
        while let Some(text) = texts.recv().await {
            count += 1.0;
            let mut told = ProgressNotificationParam::new(token.clone(), count);
            told.message = Some(text);
            if peer.notify_progress(told).await.is_err() {
                return;
            }
        }
    });
    sender
}

fn words(progress: &Progress) -> Option<String> {
    match progress {
        Progress::Text(text) => Some(text.clone()),
        Progress::Output(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Progress::Percent(percent) => Some(format!("{percent} %")),
        Progress::Custom { .. } => None,
        Progress::Dropped => Some("(more was said than may be shown)".into()),
    }
}
