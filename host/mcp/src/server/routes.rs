//! Which request a call belongs to: where its progress, its log and its questions go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, ElicitResult, InputRequest, LoggingLevel, ProgressToken,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolbay_contract::{LogLevel, Progress, ProgressSink};

use super::logging::{self, Note};

/// Notifications that wait to be sent; a client that does not read loses the rest.
const MOST_WAITING: usize = 256;

/// The calls under way.
#[derive(Default)]
pub struct Routes {
    open: Mutex<HashMap<String, Route>>,
    session: Mutex<SessionLog>,
    /// Nothing but a token tells who is on the other side: several may be.
    pub(super) has_no_session: bool,
}

/// What a client wants to hear that belongs to no call.
#[derive(Default)]
struct SessionLog {
    level: Option<LoggingLevel>,
    notes: Option<mpsc::Sender<Note>>,
}

#[derive(Clone)]
struct Route {
    way: Way,
    can: Abilities,
    level: Option<LoggingLevel>,
    wants_progress: bool,
    notes: mpsc::Sender<Note>,
}

/// How a client can be asked for something.
#[derive(Clone)]
pub(super) enum Way {
    /// By a request of ours, as long as theirs is open.
    Request(Peer<RoleServer>),
    /// By an answer to their request, which they repeat.
    Rounds(mpsc::Sender<Asked>),
}

/// What a client says that it can do for us.
#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    /// Ask a person.
    asks: bool,
    /// Have a model write something.
    samples: bool,
}

impl Abilities {
    fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(all) = capabilities else {
            return Self::default();
        };
        let elicitation = all.elicitation.as_ref();
        Self {
            // Whoever says nothing about forms can do forms.
            asks: elicitation.is_some_and(|how| how.form.is_some() || how.url.is_none()),
            samples: all.sampling.is_some(),
        }
    }
}

/// A question on its way to the client.
pub(super) struct Asked {
    pub(super) key: String,
    pub(super) request: InputRequest,
    pub(super) answer: oneshot::Sender<Value>,
}

/// Closes a route with its call.
pub(super) struct Opened {
    routes: Arc<Routes>,
    id: String,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.routes.all().remove(&self.id);
    }
}

impl Routes {
    /// For requests that stand alone.
    pub(super) fn without_session() -> Self {
        Self {
            has_no_session: true,
            ..Self::default()
        }
    }

    /// Where progress of all calls goes.
    pub fn progress_sink(self: &Arc<Self>) -> ProgressSink {
        let routes = self.clone();
        Arc::new(move |call_id, progress| {
            let route = routes.all().get(call_id).cloned();
            let Some(route) = route else {
                return;
            };
            let note = match progress {
                Progress::Log { level, text } => {
                    let level = logging::level(level);
                    route.hears(&level).then_some(Note::Log { level, text })
                }
                shown => route
                    .wants_progress
                    .then(|| logging::progress(shown))
                    .flatten(),
            };
            if let Some(note) = note {
                // A full queue means a client that does not listen.
                let _ = route.notes.try_send(note);
            }
        })
    }

    /// Tells the client something that belongs to no call, if it wants to hear of it.
    pub fn say(&self, level: LogLevel, text: &str) {
        let session = self.session();
        let level = logging::level(level);
        if session
            .level
            .is_some_and(|least| rank(least) <= rank(level))
            && let Some(notes) = &session.notes
        {
            let text = text.to_owned();
            let _ = notes.try_send(Note::Log { level, text });
        }
    }

    /// A client that stays: from here on it hears of warnings.
    pub(super) fn begin(&self, peer: Peer<RoleServer>) {
        let mut session = self.session();
        session.level.get_or_insert(LoggingLevel::Warning);
        session.notes = Some(logging::sending(peer, None, MOST_WAITING));
    }

    pub(super) fn set_level(&self, level: LoggingLevel) {
        self.session().level = Some(level);
    }

    /// Leads what a call says to a request; one that was there before is no longer told.
    pub(super) fn open(
        self: &Arc<Self>,
        id: &str,
        way: Way,
        context: &RequestContext<RoleServer>,
    ) -> Opened {
        self.lead(id, way, context);
        Opened {
            routes: self.clone(),
            id: id.to_owned(),
        }
    }

    pub(super) fn lead(&self, id: &str, way: Way, context: &RequestContext<RoleServer>) {
        let token: Option<ProgressToken> = context.meta.get_progress_token();
        let route = Route {
            way,
            can: Abilities::of(context.client_capabilities().as_ref()),
            // A request that stands alone says itself what it wants to hear.
            level: context.meta.log_level().or(self.session().level),
            wants_progress: token.is_some(),
            notes: logging::sending(context.peer.clone(), token, MOST_WAITING),
        };
        self.all().insert(id.to_owned(), route);
    }

    /// Asks the person at the other end of a call.
    pub(super) async fn ask(
        &self,
        id: &str,
        key: &str,
        params: ElicitRequestParams,
    ) -> Result<ElicitResult, String> {
        let route = self.route(id)?;
        if !route.can.asks {
            return Err("the client has no way to ask a person (elicitation)".into());
        }
        match route.way {
            Way::Request(peer) => {
                let answered = peer.create_elicitation(params).await;
                answered.map_err(|error| format!("the client could not ask: {error}"))
            }
            Way::Rounds(rounds) => {
                let request = InputRequest::Elicitation(ElicitRequest::new(params));
                let answer = in_rounds(rounds, key, request).await?;
                serde_json::from_value(answer)
                    .map_err(|error| format!("the client answered with something else: {error}"))
            }
        }
    }

    /// Has the client's model write something.
    pub(super) async fn sample(
        &self,
        id: &str,
        key: &str,
        params: CreateMessageRequestParams,
    ) -> Result<Value, String> {
        let route = self.route(id)?;
        if !route.can.samples {
            return Err("the client has no model to lend (sampling)".into());
        }
        match route.way {
            Way::Request(peer) => {
                let written = peer.create_message(params).await;
                let written = written.map_err(|error| format!("the client says: {error}"))?;
                serde_json::to_value(written).map_err(|error| error.to_string())
            }
            Way::Rounds(rounds) => {
                let request = InputRequest::CreateMessage(CreateMessageRequest::new(params));
                in_rounds(rounds, key, request).await
            }
        }
    }

    fn route(&self, id: &str) -> Result<Route, String> {
        let route = self.all().get(id).cloned();
        route.ok_or_else(|| "its client is gone".into())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Route>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> MutexGuard<'_, SessionLog> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks by the answer to the client's request.
async fn in_rounds(
    rounds: mpsc::Sender<Asked>,
    key: &str,
    request: InputRequest,
) -> Result<Value, String> {
    let (answer, answered) = oneshot::channel();
    let asked = Asked {
        key: key.to_owned(),
        request,
        answer,
    };
    let sent = rounds.send(asked).await;
    sent.map_err(|_| "its client is gone")?;
    answered.await.map_err(|_| "nobody answered in time".into())
}

impl Route {
    fn hears(&self, level: &LoggingLevel) -> bool {
        self.level.is_some_and(|least| rank(least) <= rank(*level))
    }
}

/// The levels in order.
fn rank(level: LoggingLevel) -> u8 {
    level as u8
}
