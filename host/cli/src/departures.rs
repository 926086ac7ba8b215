//! The connections to MCP servers of all sessions of this program, and how they end with it.

use std::sync::LazyLock;
use std::time::Duration;

use toolbay::mcp::client::Departures;

use crate::interrupt;

/// More than servers have for their end, so that this one is seldom what cuts it short.
const PATIENCE: Duration = Duration::from_secs(2);
/// A person who pressed Ctrl-C waits for the prompt.
const HASTE: Duration = Duration::from_millis(200);

pub fn all() -> &'static Departures {
    static ALL: LazyLock<Departures> = LazyLock::new(Departures::new);
    &ALL
}

/// Ends all connections before the program ends: servers are told, and get a moment.
pub async fn part() {
    let patience = match interrupt::exit_code() {
        Some(_) => HASTE,
        None => PATIENCE,
    };
    if !all().all(patience).await {
        tracing::debug!("an MCP server did not end by itself");
    }
}
