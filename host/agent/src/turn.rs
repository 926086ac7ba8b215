//! The tool calls of one turn.

use std::sync::Arc;

use toolbay_contract::{KillSwitch, ToolUse};
use toolbay_dispatch::{DEFAULT_CAP, Dispatch, ToolResult, run_batch};

/// Runs the calls of a turn: consecutive ones that may run beside others run
/// together, each of the rest runs alone. Results come in call order.
pub async fn run_turn(
    dispatch: &Arc<Dispatch>,
    blocks: Vec<ToolUse>,
    kill: &KillSwitch,
) -> Vec<ToolResult> {
    run_batch(dispatch.clone(), blocks, DEFAULT_CAP, kill.below()).await
}
