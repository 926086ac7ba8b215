//! `toolbay mcp`: our tools for any agent that speaks MCP, and the servers whose tools are ours.

mod edit;
mod look;

use std::process::ExitCode;
use std::sync::Arc;

use toolbay_contract::KillSwitch;
use toolbay_mcp::{Elicit, Routes, serve_stdio};

use super::{open_with, tell_problems};
use crate::args::{Common, McpCommand};
use crate::compose::Wishes;
use crate::servers::Connect;
use crate::session_file::{fresh, new_name};

pub(super) async fn run(common: Common, command: McpCommand) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::Serve => serve(common).await,
        McpCommand::Add(wanted) => edit::add(&common, wanted),
        McpCommand::Remove { name, scope } => edit::remove(&common, &name, scope),
        McpCommand::List => look::list(common).await,
        McpCommand::Get { name } => look::get(common, &name).await,
        McpCommand::Approve { name, yes } => edit::approve(&common, &name, yes),
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
        connect: Connect::First,
        ..Wishes::default()
    };
    let bay = open_with(common, fresh()?, kill.clone(), wishes).await?;
    tell_problems(&bay);
    let served = serve_stdio(bay.dispatch.clone(), routes, kill).await;
    served.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}
