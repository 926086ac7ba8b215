//! A client on standard input and output.

use std::sync::Arc;

use rmcp::ServiceExt;
use toolbay_contract::KillSwitch;

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
    let begun = Handler::for_one(house).serve(rmcp::transport::stdio());
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
