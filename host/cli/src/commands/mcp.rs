//! `toolbay mcp serve`: the tools for any agent that speaks MCP.

use std::process::ExitCode;
use std::sync::Arc;

use toolbay_contract::KillSwitch;
use toolbay_mcp::{Elicit, Routes, serve_stdio};

use super::{open_with, tell_problems};
use crate::args::{Common, McpCommand};
use crate::compose::Wishes;
use crate::session_file::{fresh, new_name};

pub(super) async fn run(common: Common, command: McpCommand) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::Serve => serve(common).await,
    }
}

async fn serve(common: Common) -> anyhow::Result<ExitCode> {
    let kill = KillSwitch::new();
    let routes = Arc::new(Routes::default());
    let wishes = Wishes {
        approver: Arc::new(Elicit::new(routes.clone())),
        progress: routes.progress_sink(),
        session_id: new_name()?,
        is_logged: true,
        ask_who_is_enabled: true,
        goes_on: true,
        ..Wishes::default()
    };
    let bay = open_with(common, fresh()?, kill.clone(), wishes).await?;
    tell_problems(&bay);
    let served = serve_stdio(bay.dispatch.clone(), routes, kill).await;
    served.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}
