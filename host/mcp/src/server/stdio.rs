//! A client on standard input and output.

use std::sync::Arc;

use rmcp::model::{ClientNotification, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use toolbay_contract::KillSwitch;

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
    let stream = InOrder {
        stream: AsyncRwTransport::new_server(input, output),
        client: handler.own().clone(),
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
/// is heard: the next call must not see the old ones.
struct InOrder<T> {
    stream: T,
    client: Arc<Client>,
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
        let message = self.stream.receive().await;
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
