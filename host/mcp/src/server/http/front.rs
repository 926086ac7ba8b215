//! The way of a request: who is it, how much has it used, is it a message at all.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use super::super::handler::Handler;
use super::super::house::{House, Principal};
use super::access::{Access, Stranger};
use super::authority;
use super::body::{Held, Ids, Keeps};
use super::connections::{Connection, Crowded, OnConnection};
use super::limits::{AGAIN, BODY_TIME, MOST_BYTES, SESSION_AGAIN, SESSION_TIME, SESSIONS};
use super::memory::{Memory, Unbearable};
use super::message::Message;
use super::quotas::HttpQuotas;
use super::requests::{Excess, Requests, UnderWay};
use super::sessions::{InSession, Sessions, Use};
use super::shares::{Share, Shares};

/// Where the protocol is spoken.
const PATH: &str = "/mcp";
/// What a client says last before it begins to work.
const INITIALIZED: &str = "notifications/initialized";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<Held>;
/// An answer that ends a request before it is understood.
type Refused = Box<Answer>;

pub(super) struct Front {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    /// The library's own list of them.
    open: Arc<LocalSessionManager>,
    access: Access,
    requests: Requests,
    memory: Memory,
    sessions: Sessions,
    ids: Ids,
}

/// A request of a client that is known, and what it holds.
struct Entered {
    whose: Principal,
    connection: OnConnection,
    under_way: UnderWay,
    session: Option<(String, Option<InSession>)>,
}

/// Under which names the server may be spoken to, and from which web pages.
pub(super) struct Names {
    pub(super) address: SocketAddr,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

impl Front {
    pub(super) fn new(
        house: Arc<House>,
        access: Access,
        quotas: &HttpQuotas,
        names: &Names,
    ) -> Self {
        let mut open = LocalSessionManager::default();
        open.session_config.keep_alive = Some(SESSION_TIME);
        let open = Arc::new(open);
        let service = StreamableHttpService::new(
            move || Ok(Handler::for_any(house.clone())),
            open.clone(),
            config(names),
        );
        let clients = access.clients();
        Self {
            service,
            open,
            access,
            requests: Requests::new(clients, quotas),
            memory: Memory::new(clients),
            sessions: Sessions::new(Shares::new(clients, quotas.max_sessions, SESSIONS)),
            ids: Ids::default(),
        }
    }

    /// Ends all sessions and streams.
    pub(super) fn end(&self) {
        self.service.config.cancellation_token.cancel();
    }

    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Answer {
        let (parts, body) = request.into_parts();
        let answered = match self.enter(&parts, connection) {
            Ok(entered) => self.serve(entered, parts, body).await,
            Err(refused) => {
                if !connection.is_strangers() {
                    // What was sent already would be taken for the next request, so that the
                    // connection had to end. From those who are not known nothing is taken.
                    drained(body).await;
                }
                Err(refused)
            }
        };
        answered.unwrap_or_else(|refused| *refused)
    }

    /// Who asks, and whether it may now. Nothing of the body has been read by then.
    fn enter(&self, parts: &Parts, connection: &Arc<Connection>) -> Result<Entered, Refused> {
        if parts.uri.path() != PATH {
            let text = format!("there is nothing here; the protocol is spoken at {PATH}");
            return Err(plain(StatusCode::NOT_FOUND, text));
        }
        if let Some(problem) = authority::problem(parts) {
            return Err(plain(StatusCode::BAD_REQUEST, problem));
        }
        let whose = self.access.of(&parts.headers).map_err(unauthorized)?;
        let connection = connection.begin(whose).map_err(|Crowded| {
            let text = "this client has too many connections, and all of them are busy";
            let mut answer = too_many(text, AGAIN);
            close(&mut answer);
            answer
        })?;
        let under_way = self.requests.begin(whose).map_err(|excess| match excess {
            Excess::Rate { per_second, wait } => {
                too_many(format!("more than {per_second} requests in a second"), wait)
            }
            Excess::Count { most } => {
                too_many(format!("{most} requests are under way already"), AGAIN)
            }
        })?;
        let session = match session(&parts.headers)? {
            // The same words as for one that never was.
            Some(id) if self.sessions.is_anothers(&id, whose) => {
                return Err(plain(StatusCode::NOT_FOUND, "Not Found: Session not found"));
            }
            // What it is for is known once it has been read.
            Some(id) => Some((id.clone(), self.sessions.begin(&id, Use::Beginning))),
            None => None,
        };
        Ok(Entered {
            whose,
            connection,
            under_way,
            session,
        })
    }

    async fn serve(
        &self,
        entered: Entered,
        mut parts: Parts,
        body: Incoming,
    ) -> Result<Answer, Refused> {
        let whose = entered.whose;
        parts.extensions.insert(whose);
        let session = entered.session.as_ref().map(|(id, _)| id.as_str());
        let mut id = None;
        let mut begins = None;
        let mut memory = None;
        let mut what = Use::Work;
        let bytes = match parts.method {
            Method::POST => {
                let weighed = self
                    .memory
                    .collected(whose, body)
                    .await
                    .map_err(unbearable)?;
                let bytes = weighed.bytes;
                memory = Some(weighed.share);
                // What is no such message is refused by whoever has to understand it.
                let message: Message = serde_json::from_slice(&bytes).unwrap_or_default();
                match (session, message.id, message.method) {
                    (Some(session), Some(asked), Some(_)) => {
                        let taken = self.ids.take(session, &asked);
                        id = Some(taken.ok_or_else(|| in_use(&asked))?);
                    }
                    (Some(_), None, Some(method)) if method == INITIALIZED => {
                        what = Use::Beginning;
                    }
                    (None, Some(asked), Some(method)) if method == "initialize" => {
                        begins = Some(self.room_for_a_session(whose, &asked).await?);
                    }
                    _ => {}
                }
                bytes
            }
            Method::GET | Method::DELETE => Bytes::new(),
            _ => {
                let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
                let allowed = HeaderValue::from_static("GET, POST, DELETE");
                answer.headers_mut().insert(ALLOW, allowed);
                return Err(answer);
            }
        };
        let used = session.and_then(|session| self.sessions.begin(session, what));
        let is_end = parts.method == Method::DELETE;
        let request = Request::from_parts(parts, Full::new(bytes));
        let mut answer = self.service.handle(request).await;
        if is_end && answer.status() == StatusCode::ACCEPTED {
            // It is done, not accepted; some clients take the other word for a failure.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        if let (Some(begun), Some(place)) = (answer.headers().get(SESSION), begins) {
            let begun = begun.to_str().unwrap_or_default().to_owned();
            self.sessions.insert(begun, place);
        }
        let keeps = Keeps {
            _connection: entered.connection,
            _under_way: entered.under_way,
            _session: used,
            _id: id,
            _memory: memory,
        };
        Ok(answer.map(|body| Held::new(body, keeps)))
    }

    /// A place for one more session. Idle ones of the same client give way to it.
    async fn room_for_a_session(&self, whose: Principal, id: &Value) -> Result<Share, Refused> {
        {
            let open = self.open.sessions.read().await;
            self.sessions.retain(|session| open.contains_key(session));
        }
        loop {
            if let Some(place) = self.sessions.place(whose) {
                return Ok(place);
            }
            let Some(idle) = self.sessions.give_way(whose) else {
                break;
            };
            // One that ended by itself meanwhile is as good.
            let _ = self.open.close_session(&idle.into()).await;
        }
        let text = "this client has as many sessions as it may, and all of them are busy; end one \
                    (DELETE), or have the server allow more (--max-sessions)";
        let mut answer = error(StatusCode::TOO_MANY_REQUESTS, -32000, text, id);
        retry_after(&mut answer, SESSION_AGAIN);
        Err(answer)
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

fn session(headers: &http::HeaderMap) -> Result<Option<String>, Refused> {
    let mut all = headers.get_all(SESSION).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    let odd = || plain(StatusCode::BAD_REQUEST, "Mcp-Session-Id: one, in ASCII");
    match (first.to_str(), all.next()) {
        (Ok(text), None) => Ok(Some(text.to_owned())),
        _ => Err(odd()),
    }
}

/// What a request is refused with that cannot be taken.
fn unbearable(why: Unbearable) -> Refused {
    let (status, text) = (why.status(), why.sentence());
    let mut answer = match why {
        Unbearable::Bad(_) => error(status, -32700, &text, &Value::Null),
        Unbearable::Large(_) | Unbearable::NoMemory | Unbearable::Slow => plain(status, text),
    };
    if status == StatusCode::TOO_MANY_REQUESTS {
        retry_after(&mut answer, AGAIN);
    }
    answer
}

/// Takes a body off the connection without keeping it, if it is short and comes in time.
async fn drained(body: Incoming) {
    let mut body = Limited::new(body, MOST_BYTES);
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    // What is left ends the connection.
    let _ = tokio::time::timeout(BODY_TIME, reading).await;
}

fn in_use(id: &Value) -> Refused {
    let text = "a request of this session with the same id is under way";
    error(StatusCode::BAD_REQUEST, -32600, text, id)
}

fn unauthorized(stranger: Stranger) -> Refused {
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
    // Each guess takes a connection.
    close(&mut answer);
    answer
}

/// A client has used up what it may; it hears when to come back.
fn too_many(text: impl Into<Bytes>, wait: Duration) -> Refused {
    let mut answer = plain(StatusCode::TOO_MANY_REQUESTS, text);
    retry_after(&mut answer, wait);
    answer
}

/// The header has whole seconds, and none is too early.
fn retry_after(answer: &mut Answer, wait: Duration) {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let value = HeaderValue::from(seconds.max(1));
    answer.headers_mut().insert(RETRY_AFTER, value);
}

fn close(answer: &mut Answer) {
    let value = HeaderValue::from_static("close");
    answer.headers_mut().insert(CONNECTION, value);
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Refused {
    let mut answer = Box::new(Response::new(Held::of(text)));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// An error as the protocol has it.
fn error(status: StatusCode, code: i32, text: &str, id: &Value) -> Refused {
    let told = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
    let mut answer = plain(status, told.to_string());
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
