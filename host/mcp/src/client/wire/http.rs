//! Streamable HTTP, with an end to every body.
//!
//! The session, its expiry (404) and the streams are the library's business. This is the client
//! below it: it reads no body further than a message may be long, follows no redirect, since a
//! redirect would carry keys to another host, and takes any 401 for a wish to know who asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::stream::{BoxStream, StreamExt};
use http::{HeaderName, HeaderValue, StatusCode, header};
use reqwest::{RequestBuilder, Response};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

use super::events::events;
use super::{WireError, choose_cryptography, excerpt, header_map};
use crate::client::bounds;
use crate::client::config::UrlConfig;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "Mcp-Session-Id";
/// To reach the host at all; answers may take as long as calls do.
const CONNECT: Duration = Duration::from_secs(15);

type Error = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// What speaks HTTP for every way that needs it.
#[derive(Debug, Clone)]
pub(crate) struct BoundedClient(pub(super) reqwest::Client);

impl BoundedClient {
    pub(crate) fn new() -> Result<Self, String> {
        choose_cryptography();
        let built = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("toolbay/", env!("CARGO_PKG_VERSION")))
            .build();
        built
            .map(Self)
            .map_err(|error| format!("no HTTP client can be made: {error}"))
    }
}

/// A transport over the given client, which may add tokens of its own.
pub(in crate::client) fn streamable<C: StreamableHttpClient + Sync>(
    client: C,
    config: &UrlConfig,
) -> StreamableHttpClientTransport<C> {
    let mut settings = StreamableHttpClientTransportConfig::with_uri(config.url.as_str());
    settings.max_sse_event_size = bounds::MESSAGE;
    settings.reinit_on_expired_session = true;
    settings.custom_headers = header_map(&config.headers)
        .into_iter()
        .filter_map(|(name, value)| Some((name?, value)))
        .collect();
    StreamableHttpClientTransport::with_client(client, settings)
}

/// Reads a body to its end, or to where it is too long.
pub(super) async fn body(response: Response) -> Result<BytesMut, WireError> {
    let mut stream = response.bytes_stream();
    let mut all = BytesMut::new();
    while let Some(part) = stream.next().await {
        let part = part.map_err(|error| WireError::Other(error.to_string()))?;
        if all.len() + part.len() > bounds::MESSAGE {
            return Err(WireError::Other(format!(
                "it sent a message of more than {} bytes",
                bounds::MESSAGE
            )));
        }
        all.extend_from_slice(&part);
    }
    Ok(all)
}

async fn read(response: Response) -> Result<BytesMut, Error> {
    let read = body(response).await;
    read.map_err(|error| Error::UnexpectedServerResponse(error.to_string().into()))
}

/// What a status says about who asks, or about the server's health.
fn refused(response: &Response) -> Option<Error> {
    let challenge = response.headers().get(header::WWW_AUTHENTICATE);
    let challenge = challenge.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let status = response.status();
    match (status, challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            let challenge = challenge.unwrap_or_default();
            Some(Error::AuthRequired(AuthRequiredError::new(challenge)))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            let scope = scope_of(&challenge);
            let error = InsufficientScopeError::new(challenge, scope);
            Some(Error::InsufficientScope(error))
        }
        _ if status.is_redirection() => {
            let text = "it wants to send us to another address; write that one into the settings";
            Some(Error::UnexpectedServerResponse(text.into()))
        }
        _ if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
            let after = response.headers().get(header::RETRY_AFTER);
            let after = after.and_then(|value| value.to_str().ok());
            let error = HttpStatusError::new(status.as_u16(), after.map(str::to_owned));
            Some(Error::HttpStatus(error))
        }
        _ => None,
    }
}

/// The `scope` of a challenge, quoted or not.
fn scope_of(challenge: &str) -> Option<String> {
    let at = challenge.to_ascii_lowercase().find("scope=")?;
    let rest = challenge.get(at + "scope=".len()..)?;
    let scope = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', ' ']).next(),
    };
    scope.filter(|scope| !scope.is_empty()).map(str::to_owned)
}

fn is_of(response: &Response, kind: &str) -> bool {
    let value = response.headers().get(header::CONTENT_TYPE);
    value.is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn dressed(
    mut request: RequestBuilder,
    token: Option<String>,
    headers: Headers,
) -> Result<RequestBuilder, Error> {
    request = request.header(header::ACCEPT, format!("{EVENTS}, {JSON}"));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    for (name, value) in headers {
        let is_ours = ["accept", "mcp-session-id", "last-event-id"].contains(&name.as_str());
        if is_ours {
            return Err(Error::ReservedHeaderConflict(name.to_string()));
        }
        request = request.header(name, value);
    }
    Ok(request)
}

/// An older server does not know the first request of the newer protocol, and says so by a
/// status. It must be told apart from a broken one.
fn is_discovery(message: &ClientJsonRpcMessage) -> Option<rmcp::model::RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::DiscoverRequest(_) => Some(request.id.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn wants_answer(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(_))
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut request = dressed(self.0.post(uri.as_ref()), token, headers)?;
        let has_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        let sent = request.json(&message).send().await;
        let response = sent.map_err(Error::Client)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(Error::SessionExpired);
        }
        if let Some(error) = refused(&response) {
            return Err(error);
        }
        let session = response.headers().get(SESSION);
        let session = session.and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        let (is_json, is_events) = (is_of(&response, JSON), is_of(&response, EVENTS));
        if status.is_success() && is_events {
            return Ok(StreamableHttpPostResponse::Sse(
                events(response.bytes_stream()),
                session,
            ));
        }
        let bytes = read(response).await?;
        let parsed = is_json.then(|| super::message(&bytes));
        match (status.is_success(), parsed) {
            (true, Some(Ok(message))) => Ok(StreamableHttpPostResponse::Json(message, session)),
            (true, _) if !wants_answer(&message) => Ok(StreamableHttpPostResponse::Accepted),
            (true, Some(Err(trouble))) => Err(Error::UnexpectedServerResponse(trouble.into())),
            (true, None) => Err(Error::UnexpectedContentType(None)),
            (false, parsed) => {
                let told = match parsed {
                    Some(Ok(ServerJsonRpcMessage::Error(error))) => Some(error),
                    _ => None,
                };
                if let Some(id) = is_discovery(&message).filter(|_| !has_session) {
                    let error = told.map_or_else(
                        || ErrorData::invalid_request(format!("HTTP {status}"), None),
                        |told| told.error,
                    );
                    let message = ServerJsonRpcMessage::error(error, Some(id));
                    return Ok(StreamableHttpPostResponse::Json(message, None));
                }
                match told {
                    Some(error) => {
                        let message = ServerJsonRpcMessage::Error(error);
                        Ok(StreamableHttpPostResponse::Json(message, session))
                    }
                    None => Err(Error::UnexpectedServerResponse(
                        format!("HTTP {status}: {}", excerpt(&bytes, 200)).into(),
                    )),
                }
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Error> {
        let request = dressed(self.0.delete(uri.as_ref()), token, headers)?;
        let sent = request.header(SESSION, session.as_ref()).send().await;
        // Whether the server cares that we leave is its own business.
        sent.map(drop).map_err(Error::Client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let mut request = dressed(self.0.get(uri.as_ref()), token, headers)?;
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        if let Some(last) = last_event {
            request = request.header("Last-Event-Id", last);
        }
        let response = request.send().await.map_err(Error::Client)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(Error::ServerDoesNotSupportSse);
        }
        if let Some(error) = refused(&response) {
            return Err(error);
        }
        let response = response.error_for_status().map_err(Error::Client)?;
        if !is_of(&response, EVENTS) {
            return Err(Error::UnexpectedContentType(None));
        }
        Ok(events(response.bytes_stream()))
    }
}
