//! One message a frame, over a WebSocket.

use std::sync::Arc;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http::HeaderValue;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::{Trouble, WireError, choose_cryptography, header_map, message};
use crate::client::bounds;
use crate::client::config::UrlConfig;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A socket in two halves.
pub(in crate::client) struct WebSocket {
    sink: Arc<Mutex<SplitSink<Socket, Message>>>,
    stream: SplitStream<Socket>,
    trouble: Trouble,
}

impl WebSocket {
    /// Connects. Whoever calls bounds the time.
    pub(in crate::client) async fn open(
        config: &UrlConfig,
        trouble: Trouble,
    ) -> Result<Self, WireError> {
        choose_cryptography();
        let request = config.url.as_str().into_client_request();
        let mut request = request.map_err(|error| WireError::Other(error.to_string()))?;
        let headers = request.headers_mut();
        headers.extend(header_map(&config.headers));
        let protocol = HeaderValue::from_static("mcp");
        headers.insert("sec-websocket-protocol", protocol);
        let limits = WebSocketConfig::default()
            .max_message_size(Some(bounds::MESSAGE))
            .max_frame_size(Some(bounds::MESSAGE));
        let opened =
            tokio_tungstenite::connect_async_with_config(request, Some(limits), true).await;
        let (socket, _) = opened.map_err(|error| match error {
            Error::Http(response) => match response.status().as_u16() {
                401 => WireError::NeedsAuth(401),
                status => WireError::Status(status),
            },
            error => WireError::Other(format!("it cannot be reached: {error}")),
        })?;
        let (sink, stream) = socket.split();
        Ok(Self {
            sink: Arc::new(Mutex::new(sink)),
            stream,
            trouble,
        })
    }
}

impl Transport<RoleClient> for WebSocket {
    type Error = WireError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sink = self.sink.clone();
        async move {
            let text = serde_json::to_string(&message);
            let text = text.map_err(|error| WireError::Other(error.to_string()))?;
            let sent = sink.lock().await.send(Message::text(text)).await;
            sent.map_err(|error| WireError::Other(error.to_string()))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let bytes = match self.stream.next().await? {
                Ok(Message::Text(text)) => text.as_bytes().to_vec(),
                Ok(Message::Binary(bytes)) => bytes.to_vec(),
                Ok(Message::Close(_)) => return None,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Err(error) => {
                    self.trouble.note(format!("its socket broke: {error}"));
                    return None;
                }
            };
            match message(&bytes) {
                Ok(message) => return Some(message),
                Err(trouble) => {
                    self.trouble.note(trouble);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        if let Ok(mut sink) = self.sink.try_lock() {
            // The other end may be gone already.
            let _ = sink.close().await;
        }
        Ok(())
    }
}
