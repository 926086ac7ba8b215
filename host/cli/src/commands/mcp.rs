//! `toolbay mcp`: the tools for any agent that speaks MCP.

mod serve;
mod token;

use std::process::ExitCode;

use crate::args::{Common, McpCommand};

pub(super) async fn run(common: Common, command: McpCommand) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::Serve(how) => serve::run(common, how).await,
    }
}
