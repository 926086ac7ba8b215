//! `toolbay mcp`: our tools for any agent that speaks MCP, and the servers whose tools are ours.

mod edit;
mod login;
mod look;
mod serve;
mod token;

use std::process::ExitCode;

use crate::args::{Common, McpCommand};

pub(super) async fn run(common: Common, command: McpCommand) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::Serve(how) => serve::run(common, how).await,
        McpCommand::Add(wanted) => edit::add(&common, wanted),
        McpCommand::Remove { name, scope } => edit::remove(&common, &name, scope),
        McpCommand::List => look::list(common).await,
        McpCommand::Get { name } => look::get(common, &name).await,
        McpCommand::Fetch { name } => look::fetch(common, &name).await,
        McpCommand::Login(how) => login::login(&common, how).await,
        McpCommand::Logout { name } => login::logout(&common, &name).await,
        McpCommand::Approve { name, yes } => edit::approve(&common, &name, yes),
    }
}
