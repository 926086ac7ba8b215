//! A client on standard input and output.

use std::sync::Arc;

use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use toolbay_contract::KillSwitch;

use super::bounded::{BoundedLines, Reasons};
use super::client::Client;
use super::handler::Handler;
use super::house::{Bays, House};

/// Serves a client on standard input and output until it goes away or the switch is thrown.
/// `secret` is random, 32 bytes or more.
pub async fn serve_stdio(
    bays: Arc<dyn Bays>,
    kill: KillSwitch,
    secret: Vec<u8>,
) -> Result<(), String> {
    let house = House::new(bays, kill.clone(), secret)?;
    let handler = Handler::for_one(house);
    let (input, output) = rmcp::transport::stdio();
    let (input, reasons) = BoundedLines::new(input);
    let stream = InOrder {
        stream: AsyncRwTransport::new_server(input, output),
        client: handler.own().clone(),
        reasons,
    };
    let begun = handler.serve(stream);
    let begun = tokio::select! {
        begun = begun => begun,
        () = kill.thrown() => return Ok(()),
    };
    let running =
        begun.map_err(|error| format!("the client did not begin as MCP wants it: {error}"))?;
    let ending = running.cancellation_token();
    let ended = tokio::select! {
        ended = running.waiting() => ended,
        () = kill.thrown() => {
            ending.cancel();
            return Ok(());
        }
    };
    ended.map(drop).map_err(|error| error.to_string())
}

/// Messages are handled beside each other. That the client's folders have changed is heeded as it
/// is heard: the next call must not see the old ones. What was passed over of its input is told to it.
struct InOrder<T> {
    stream: T,
    client: Arc<Client>,
    reasons: Reasons,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for InOrder<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.stream.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = loop {
            tokio::select! {
                biased;
                Some(why) = self.reasons.recv() => {
                    // Which request it was is not known. Who is not waited for is not lost when this is
                    // given up.
                    let error = ErrorData::invalid_request(why, None);
                    let telling = self.stream.send(JsonRpcMessage::error(error, None));
                    tokio::spawn(async move {
                        // A client that is gone needs no word.
                        let _ = telling.await;
                    });
                }
                message = self.stream.receive() => break message,
            }
        };
        if let Some(JsonRpcMessage::Notification(note)) = &message
            && matches!(
                note.notification,
                ClientNotification::RootsListChangedNotification(_)
            )
        {
            self.client.forget_roots();
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.stream.close().await
    }
}
