//! The tool calls of one turn.

use futures_util::future::join_all;
use toolbay_contract::{KillSwitch, ToolUse};
use toolbay_dispatch::{Dispatch, ToolResult};

/// Runs the calls of a turn: consecutive ones that may run beside others run
/// together, each of the rest runs alone. Results come in call order.
pub async fn run_turn(
    dispatch: &Dispatch,
    blocks: Vec<ToolUse>,
    kill: &KillSwitch,
) -> Vec<ToolResult> {
    let mut results = Vec::with_capacity(blocks.len());
    let mut together = Vec::new();
    for block in blocks {
        if dispatch.runs_beside_others(&block).await {
            together.push(block);
            continue;
        }
        results.extend(run_together(dispatch, std::mem::take(&mut together), kill).await);
        results.push(dispatch.run(block, kill.below()).await);
    }
    results.extend(run_together(dispatch, together, kill).await);
    results
}

async fn run_together(
    dispatch: &Dispatch,
    blocks: Vec<ToolUse>,
    kill: &KillSwitch,
) -> Vec<ToolResult> {
    join_all(
        blocks
            .into_iter()
            .map(|block| dispatch.run(block, kill.below())),
    )
    .await
}
