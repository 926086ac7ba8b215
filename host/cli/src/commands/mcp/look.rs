//! `toolbay mcp list|get`: how the servers are.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolbay::contract::Origin;
use toolbay::mcp::client::config::LinkConfig;
use toolbay::mcp::client::{State, Status};

use crate::args::Common;
use crate::commands::{CALL_FAILED, open_to_look, print_json, print_line, tell_problems};
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use crate::view::harmless_line;
use toolbay::compose::Bay;
use toolbay::servers::{Connect, Packages, remote_list};

pub(super) async fn list(common: Common) -> anyhow::Result<ExitCode> {
    let json = common.json;
    refresh_list(&common).await?;
    let bay = open_to_look(common, Connect::First).await?;
    let statuses = statuses(&bay);
    if json {
        print_json(&json!({"servers": statuses, "problems": bay.problems}))?;
        return Ok(ExitCode::SUCCESS);
    }
    tell_problems(&bay);
    if statuses.is_empty() {
        print_line("no MCP servers; `toolbay mcp add` adds one")?;
    }
    let style = Style::for_output();
    for status in &statuses {
        print_line(&line(status, style))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the settings point to is asked for now; nothing else waits for it.
async fn refresh_list(common: &Common) -> anyhow::Result<()> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let url = origins(common, &cwd, &places).load()?.mcp_server_list;
    let fetched = tokio::task::spawn_blocking(move || remote_list::fetch(url.as_deref(), &places));
    if let Err(error) = fetched.await? {
        let style = Style::for_errors();
        let text = harmless_line(&format!("{error:#}"));
        eprintln!("{} {text}", style.warn("warning:"));
    }
    Ok(())
}

fn statuses(bay: &Bay) -> Vec<Status> {
    let mut all = bay.servers.statuses();
    all.extend(bay.other_servers.iter().cloned());
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn line(status: &Status, style: Style) -> String {
    let word = status.state.word();
    let state = match &status.state {
        State::Connected {
            tools, protocol, ..
        } => style.good(&harmless_line(&format!(
            "{word}, {tools} tools, MCP {protocol}"
        ))),
        State::Pending { .. } | State::Disabled { .. } => style.dim(word),
        State::NeedsAuth { .. } => style.warn(word),
        State::Failed { .. } => style.bad(word),
    };
    let mut line = format!(
        "{}  {state}  {} {} ({})",
        style.bold(&harmless_line(&status.name)),
        harmless_line(&status.transport),
        harmless_line(&status.place),
        status.scope.word()
    );
    let reason = status.state.reason().into_iter().map(str::to_owned);
    for more in reason.chain(status.problems.iter().cloned()) {
        line.push_str(&format!("\n    {}", harmless_line(&more)));
    }
    line
}

/// Throws away what was fetched of a server, and connects it, which fetches it.
pub(super) async fn fetch(common: Common, name: &str) -> anyhow::Result<ExitCode> {
    let packages = Packages::new(places::from_environment()?.packages());
    let bay = open_to_look(common.clone(), Connect::OnDemand).await?;
    let config = bay.servers.config(name);
    let package = config.and_then(|config| match &config.link {
        LinkConfig::Stdio(stdio) => packages.of(stdio),
        _ => None,
    });
    if let Some(package) = package {
        package.forget()?;
    } else if bay.servers.config(name).is_some() {
        bail!(
            "the MCP server `{name}` is not fetched from anywhere; `sandbox.fetchFrom` names the \
             hosts that a package runner may fetch it from"
        );
    }
    show(bay, common.json, name).await
}

pub(super) async fn get(common: Common, name: &str) -> anyhow::Result<ExitCode> {
    let json = common.json;
    let bay = open_to_look(common, Connect::OnDemand).await?;
    show(bay, json, name).await
}

/// Connects a server and shows it.
async fn show(bay: Bay, json: bool, name: &str) -> anyhow::Result<ExitCode> {
    // Its state says how that went.
    let _ = bay.servers.connect(name).await;
    let statuses = statuses(&bay);
    let Some(status) = statuses.into_iter().find(|status| status.name == name) else {
        bail!("there is no MCP server `{name}`; `toolbay mcp list` shows all");
    };
    let tools = bay.dispatch.pool().tools();
    let tools = tools.iter().map(|tool| (tool.origin(), tool.info()));
    let mine = tools.filter(|(origin, _)| **origin == Origin::Server(name.to_owned()));
    let infos: Vec<_> = mine.map(|(_, info)| info.clone()).collect();
    if json {
        let tool = |info: &toolbay::contract::ToolInfo| json!({"name": info.name, "description": info.summary});
        let mut value = serde_json::to_value(&status)?;
        value["tool_list"] = infos.iter().map(tool).collect::<Vec<Value>>().into();
        print_json(&value)?;
    } else {
        let style = Style::for_output();
        print_line(&line(&status, style))?;
        print_line(&style.dim(&format!("  said in {}", harmless_line(&status.source))))?;
        for info in &infos {
            print_line(&format!(
                "  {}  {}",
                style.bold(&harmless_line(&info.name)),
                harmless_line(&info.summary)
            ))?;
        }
    }
    Ok(match &status.state {
        State::Connected { .. } => ExitCode::SUCCESS,
        _ => ExitCode::from(CALL_FAILED),
    })
}
