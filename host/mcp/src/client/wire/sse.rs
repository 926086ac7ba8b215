//! HTTP as it was before streamable HTTP: one stream of events for what the server says, and a
//! POST for each thing that we say, to an address that the stream names first.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt};
use http::{StatusCode, header};
use reqwest::{Response, Url};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use sse_stream::{Error as SseError, Sse};

use super::events::events;
use super::http::{BoundedClient, body};
use super::{Trouble, WireError, excerpt, header_map, message};
use crate::client::auth::Keys;
use crate::client::config::UrlConfig;

/// A server takes a message and answers on the stream: there is nothing to wait for.
const POST: Duration = Duration::from_secs(60);

/// A stream, and where to send to.
pub(in crate::client) struct LegacySse {
    client: BoundedClient,
    headers: http::HeaderMap,
    keys: Option<Arc<Keys>>,
    endpoint: Url,
    events: BoxStream<'static, Result<Sse, SseError>>,
    trouble: Trouble,
}

impl LegacySse {
    /// Opens the stream and waits for the address. Whoever calls bounds the time.
    pub(in crate::client) async fn open(
        client: BoundedClient,
        config: &UrlConfig,
        keys: Option<Arc<Keys>>,
        trouble: Trouble,
    ) -> Result<Self, WireError> {
        let headers = header_map(&config.headers);
        let base = Url::parse(&config.url).map_err(|error| WireError::Other(error.to_string()))?;
        let request = client.0.get(base.clone());
        let request = request.headers(headers.clone());
        let request = request.header(header::ACCEPT, "text/event-stream");
        let response = authorized(request, keys.as_deref()).await?;
        let mut events = events(response.bytes_stream());
        let endpoint = loop {
            let Some(event) = events.next().await else {
                let text = "its stream ended before it said where to send to";
                return Err(WireError::Other(text.into()));
            };
            let event = event.map_err(|error| WireError::Other(error.to_string()))?;
            if event.event.as_deref() == Some("endpoint") {
                break endpoint(&base, event.data.as_deref().unwrap_or_default())?;
            }
        };
        Ok(Self {
            client,
            headers,
            keys,
            endpoint,
            events,
            trouble,
        })
    }
}

/// The address to send to. It is of the same host, scheme and port: our headers hold keys.
fn endpoint(base: &Url, text: &str) -> Result<Url, WireError> {
    let joined = base.join(text.trim());
    let url = joined.map_err(|_| {
        let text = excerpt(text.as_bytes(), 120);
        WireError::Other(format!(
            "it wants messages sent to `{text}`, which is no address"
        ))
    })?;
    if url.origin() != base.origin() {
        let text = "it wants messages sent to another host, which would get our keys";
        return Err(WireError::Other(text.into()));
    }
    Ok(url)
}

/// Sends a request with the token there is, and notes what the server wants if it refuses it.
async fn authorized(
    request: reqwest::RequestBuilder,
    keys: Option<&Keys>,
) -> Result<Response, WireError> {
    let Some(keys) = keys else {
        let sent = request.send().await;
        return checked(sent.map_err(|error| unreachable_host(&error))?);
    };
    let token = keys.current().await;
    let token = token.map_err(|error| WireError::Other(error.to_string()))?;
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let sent = request.send().await;
    let response = sent.map_err(|error| unreachable_host(&error))?;
    if response.status() == StatusCode::UNAUTHORIZED {
        let challenge = response.headers().get(header::WWW_AUTHENTICATE);
        let challenge = challenge.map(|value| String::from_utf8_lossy(value.as_bytes()));
        keys.refused(&challenge.unwrap_or_default()).await;
    }
    checked(response)
}

fn checked(response: Response) -> Result<Response, WireError> {
    match response.status() {
        status if status.is_success() => Ok(response),
        status @ StatusCode::UNAUTHORIZED => Err(WireError::NeedsAuth(status.as_u16())),
        status => Err(WireError::Status(status.as_u16())),
    }
}

fn unreachable_host(error: &reqwest::Error) -> WireError {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    WireError::Other(format!("it cannot be reached: {text}"))
}

impl Transport<RoleClient> for LegacySse {
    type Error = WireError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self.client.0.post(self.endpoint.clone());
        let request = request.headers(self.headers.clone()).timeout(POST);
        let keys = self.keys.clone();
        async move {
            let response = authorized(request.json(&message), keys.as_deref()).await?;
            // Read it, so that the connection can be used again.
            body(response).await.map(drop)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let event = match self.events.next().await? {
                Ok(event) => event,
                Err(error) => {
                    self.trouble.note(format!("its stream broke: {error}"));
                    return None;
                }
            };
            let is_message = event.event.as_deref().is_none_or(|kind| kind == "message");
            let Some(data) = event.data.filter(|_| is_message) else {
                continue;
            };
            match message(data.as_bytes()) {
                Ok(message) => return Some(message),
                Err(trouble) => {
                    self.trouble.note(trouble);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_host_that_was_configured() {
        let base = Url::parse("https://a.example:8443/sse").unwrap();
        for (text, wanted) in [
            (
                "/messages?id=1",
                Some("https://a.example:8443/messages?id=1"),
            ),
            ("post", Some("https://a.example:8443/post")),
            ("https://a.example:8443/x", Some("https://a.example:8443/x")),
            ("https://b.example:8443/x", None),
            ("//b.example/x", None),
            ("http://a.example:8443/x", None),
            ("https://a.example/x", None),
            ("https://", None),
        ] {
            let found = endpoint(&base, text).ok();
            assert_eq!(found.as_ref().map(Url::as_str), wanted, "{text}");
        }
    }
}
