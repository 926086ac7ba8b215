//! An HTTP client for MCP that sends the token of its server along.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

use super::keys::Keys;

type Outcome<T, C> = Result<T, StreamableHttpError<<C as StreamableHttpClient>::Error>>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Wraps the client that really sends. A request goes out with the token there is, or with
/// none; a refusal is answered with one renewal and one more try, and then noted in
/// [`Keys::need`].
#[derive(Debug, Clone)]
pub struct AuthorizedClient<C = reqwest::Client> {
    inner: C,
    keys: Arc<Keys>,
}

impl<C: StreamableHttpClient + Sync> AuthorizedClient<C> {
    pub fn new(inner: C, keys: Arc<Keys>) -> Self {
        Self { inner, keys }
    }

    pub fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    async fn authorized<T, F, Call>(
        &self,
        address: &str,
        given: Option<String>,
        call: F,
    ) -> Outcome<T, C>
    where
        F: Fn(Option<String>) -> Call,
        Call: Future<Output = Outcome<T, C>>,
    {
        // A token of the caller's own, or another address: not ours to judge.
        if given.is_some() || !self.keys.are_for(address) {
            return call(given).await;
        }
        let token = self.keys.current().await;
        let token = token.map_err(|error| error.into_protocol())?;
        let first = call(token.clone()).await;
        let answer = match (first, token) {
            (Err(StreamableHttpError::AuthRequired(refusal)), Some(refused)) => {
                let other = self.keys.instead_of(&refused).await;
                match other.map_err(|error| error.into_protocol())? {
                    Some(other) if other != refused => call(Some(other)).await,
                    Some(_) | None => Err(StreamableHttpError::AuthRequired(refusal)),
                }
            }
            (first, _) => first,
        };
        match &answer {
            Err(StreamableHttpError::AuthRequired(refusal)) => {
                self.keys.refused(&refusal.www_authenticate_header).await;
            }
            Err(StreamableHttpError::InsufficientScope(refusal)) => {
                let scopes = refusal.get_required_scope();
                let challenge = &refusal.www_authenticate_header;
                self.keys.too_narrow(scopes, challenge).await;
            }
            Ok(_) => self.keys.accepted().await,
            Err(_) => {}
        }
        answer
    }
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for AuthorizedClient<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse, C> {
        self.authorized(&uri, auth_header, |token| {
            self.inner.post_message(
                uri.clone(),
                message.clone(),
                session_id.clone(),
                token,
                custom_headers.clone(),
            )
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Outcome<StreamableHttpPostResponse, C> {
        self.authorized(&uri, auth_header, |token| {
            self.inner.post_message_with_max_sse_event_size(
                uri.clone(),
                message.clone(),
                session_id.clone(),
                token,
                custom_headers.clone(),
                max_sse_event_size,
            )
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<(), C> {
        self.authorized(&uri, auth_header, |token| {
            self.inner.delete_session(
                uri.clone(),
                session_id.clone(),
                token,
                custom_headers.clone(),
            )
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<Events, C> {
        self.authorized(&uri, auth_header, |token| {
            self.inner.get_stream(
                uri.clone(),
                session_id.clone(),
                last_event_id.clone(),
                token,
                custom_headers.clone(),
            )
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Outcome<Events, C> {
        self.authorized(&uri, auth_header, |token| {
            self.inner.get_stream_with_max_sse_event_size(
                uri.clone(),
                session_id.clone(),
                last_event_id.clone(),
                token,
                custom_headers.clone(),
                max_sse_event_size,
            )
        })
        .await
    }
}
