//! The way of a request: who is it, how much has it used, is it a message at all.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::super::handler::Handler;
use super::super::house::{House, Principal};
use super::access::{Access, Stranger};
use super::body::{Held, Ids};
use super::limits::{
    AT_ONCE, BODY_TIME, DEEPEST, MOST_BYTES, MOST_SESSIONS, MOST_UNDER_WAY, PER_SECOND,
    SESSION_TIME,
};
use super::message::{Message, is_too_deep};

/// Where the protocol is spoken.
const PATH: &str = "/mcp";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<Held>;

pub(super) struct Front {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    access: Access,
    shares: Mutex<HashMap<Principal, Share>>,
    /// Whose session it is. Ended ones are forgotten as others begin.
    owners: Mutex<HashMap<String, Principal>>,
    ids: Ids,
}

/// Under which names the server may be spoken to, and from which web pages.
pub(super) struct Names {
    pub(super) address: SocketAddr,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

/// What one client has left.
struct Share {
    requests: f64,
    counted: Instant,
    under_way: Arc<Semaphore>,
}

impl Share {
    fn new() -> Self {
        Self {
            requests: AT_ONCE,
            counted: Instant::now(),
            under_way: Arc::new(Semaphore::new(MOST_UNDER_WAY)),
        }
    }

    /// Takes one request out of the bucket, if there is one.
    fn take(&mut self) -> bool {
        let since = self.counted.elapsed().as_secs_f64();
        self.counted = Instant::now();
        self.requests = (self.requests + since * PER_SECOND).min(AT_ONCE);
        if self.requests < 1.0 {
            return false;
        }
        self.requests -= 1.0;
        true
    }
}

impl Front {
    pub(super) fn new(house: Arc<House>, access: Access, names: &Names) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_TIME);
        let sessions = Arc::new(sessions);
        let service = StreamableHttpService::new(
            move || Ok(Handler::for_any(house.clone())),
            sessions.clone(),
            config(names),
        );
        Self {
            service,
            sessions,
            access,
            shares: Mutex::default(),
            owners: Mutex::default(),
            ids: Ids::default(),
        }
    }

    /// Ends all sessions and streams.
    pub(super) fn end(&self) {
        self.service.config.cancellation_token.cancel();
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let answered = self.serve(request).await;
        answered.unwrap_or_else(|refused| refused)
    }

    async fn serve(&self, request: Request<Incoming>) -> Result<Answer, Answer> {
        if request.uri().path() != PATH {
            let text = format!("there is nothing here; the protocol is spoken at {PATH}");
            return Err(plain(StatusCode::NOT_FOUND, text));
        }
        let whose = self.access.of(request.headers()).map_err(unauthorized)?;
        let place = self.place(whose)?;
        let session = session(&request)?;
        if let Some(session) = &session
            && self
                .owners()
                .get(session)
                .is_some_and(|owner| *owner != whose)
        {
            // The same words as for one that never was.
            return Err(plain(StatusCode::NOT_FOUND, "Not Found: Session not found"));
        }
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(whose);
        let (bytes, id) = match parts.method {
            Method::POST => {
                let bytes = collected(body).await?;
                let message = looked_at(&bytes)?;
                let id = match (&session, message.id, message.method) {
                    (Some(session), Some(id), Some(_)) => {
                        let taken = self.ids.take(session, &id);
                        Some(taken.ok_or_else(|| in_use(&id))?)
                    }
                    (None, Some(id), Some(method)) if method == "initialize" => {
                        self.room_for_a_session(&id).await?;
                        None
                    }
                    _ => None,
                };
                (bytes, id)
            }
            Method::GET | Method::DELETE => (Bytes::new(), None),
            _ => {
                let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
                let allowed = HeaderValue::from_static("GET, POST, DELETE");
                answer.headers_mut().insert(ALLOW, allowed);
                return Err(answer);
            }
        };
        let request = Request::from_parts(parts, Full::new(bytes));
        let answer = self.service.handle(request).await;
        if let Some(begun) = answer.headers().get(SESSION) {
            let begun = begun.to_str().unwrap_or_default().to_owned();
            self.owners().insert(begun, whose);
        }
        Ok(answer.map(|body| Held::new(body, place, id)))
    }

    /// A place among the client's requests under way.
    fn place(&self, whose: Principal) -> Result<tokio::sync::OwnedSemaphorePermit, Answer> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let share = shares.entry(whose).or_insert_with(Share::new);
        let busy = |text: String| {
            let mut answer = plain(StatusCode::TOO_MANY_REQUESTS, text);
            let soon = HeaderValue::from_static("1");
            answer.headers_mut().insert(RETRY_AFTER, soon);
            answer
        };
        if !share.take() {
            let text = format!("more than {PER_SECOND} requests in a second");
            return Err(busy(text));
        }
        let place = share.under_way.clone().try_acquire_owned();
        place.map_err(|_| busy(format!("{MOST_UNDER_WAY} requests are under way already")))
    }

    /// Whether one more session may begin.
    async fn room_for_a_session(&self, id: &Value) -> Result<(), Answer> {
        let open = self.sessions.sessions.read().await;
        self.owners()
            .retain(|session, _| open.contains_key(session.as_str()));
        if open.len() < MOST_SESSIONS {
            return Ok(());
        }
        let text = format!("{MOST_SESSIONS} sessions are open already; end one (DELETE) first");
        Err(error(StatusCode::SERVICE_UNAVAILABLE, -32000, &text, id))
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Principal>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the library is to check and serve.
fn config(names: &Names) -> StreamableHttpServerConfig {
    let port = names.address.port();
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(Into::into).into();
    if !names.address.ip().is_unspecified() {
        hosts.push(names.address.ip().to_string());
    }
    hosts.extend(names.hosts.iter().cloned());
    // A page that this very server were to serve could speak to it; it serves none.
    let own = ["localhost", "127.0.0.1", "[::1]"];
    let mut origins: Vec<String> = own.map(|host| format!("http://{host}:{port}")).into();
    origins.extend(names.origins.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MOST_BYTES)
}

fn session(request: &Request<Incoming>) -> Result<Option<String>, Answer> {
    let mut all = request.headers().get_all(SESSION).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    let odd = || plain(StatusCode::BAD_REQUEST, "Mcp-Session-Id: one, in ASCII");
    match (first.to_str(), all.next()) {
        (Ok(text), None) => Ok(Some(text.to_owned())),
        _ => Err(odd()),
    }
}

/// The whole body, if it is short and comes in time.
async fn collected(body: Incoming) -> Result<Bytes, Answer> {
    let too_large = || {
        let text = format!("a body has {MOST_BYTES} bytes at most");
        plain(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    if body.size_hint().lower() > MOST_BYTES as u64 {
        return Err(too_large());
    }
    let reading = Limited::new(body, MOST_BYTES).collect();
    let read = tokio::time::timeout(BODY_TIME, reading).await;
    let read = read.map_err(|_| {
        let text = format!("the body did not come within {BODY_TIME:?}");
        plain(StatusCode::REQUEST_TIMEOUT, text)
    })?;
    match read {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(cause) if cause.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(plain(StatusCode::BAD_REQUEST, "the body broke off")),
    }
}

fn looked_at(bytes: &[u8]) -> Result<Message, Answer> {
    if is_too_deep(bytes, DEEPEST) {
        let text = format!("more than {DEEPEST} arrays and objects inside each other");
        return Err(error(StatusCode::BAD_REQUEST, -32700, &text, &Value::Null));
    }
    // What is no such message is refused by whoever has to understand it.
    Ok(serde_json::from_slice(bytes).unwrap_or_default())
}

fn in_use(id: &Value) -> Answer {
    let text = "a request of this session with the same id is under way";
    error(StatusCode::BAD_REQUEST, -32600, text, id)
}

fn unauthorized(stranger: Stranger) -> Answer {
    let (text, challenge) = match stranger {
        Stranger::NoToken => (
            "a token is needed: Authorization: Bearer …",
            r#"Bearer realm="toolbay""#,
        ),
        Stranger::WrongToken => (
            "this token is not known here",
            r#"Bearer realm="toolbay", error="invalid_token""#,
        ),
    };
    let mut answer = plain(StatusCode::UNAUTHORIZED, text);
    let challenge = HeaderValue::from_static(challenge);
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    answer
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Held::of(text));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// An error as the protocol has it.
fn error(status: StatusCode, code: i32, text: &str, id: &Value) -> Answer {
    let told = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
    let mut answer = plain(status, told.to_string());
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
