//! `toolbay tools [NAME]`: the tools, without compiling any; or one of them.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolbay::contract::{Origin, Tool};
use toolbay::dispatch::unknown_tool;
use toolbay::policy::Trust;

use super::{open_to_look, print_json, print_line, tell_problems};
use crate::args::{Common, Definitions};
use crate::style::Style;
use crate::view::{harmless_block, harmless_line};
use toolbay::servers::Connect;

pub(super) async fn run(
    common: Common,
    name: Option<String>,
    export: Option<Definitions>,
) -> anyhow::Result<ExitCode> {
    let json = common.json;
    let bay = open_to_look(common, Connect::First).await?;
    tell_problems(&bay);
    let pool = bay.dispatch.pool();
    let tools = pool.tools();
    let exported = export.map(|form| match form {
        Definitions::Messages => pool.messages_definitions(),
        Definitions::Mcp => pool.mcp_definitions(),
    });
    if let Some(definitions) = exported {
        print_json(&Value::Array(definitions))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(name) = name else {
        if json {
            let all: Vec<Value> = tools.iter().map(|tool| summary(&**tool)).collect();
            print_json(&json!({ "tools": all, "problems": bay.problems }))?;
        } else {
            list(&tools)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(found) = pool.find(&name) else {
        bail!("{}", unknown_tool(pool, &name));
    };
    let tool = found.tool;
    let prompt = tool.prompt(&pool.names()).await;
    if json {
        let mut value = summary(&*tool);
        value["prompt"] = prompt.into();
        print_json(&value)?;
    } else {
        let style = Style::for_output();
        let info = tool.info();
        print_line(&format!(
            "{}  {}",
            style.bold(&harmless_line(&info.name)),
            harmless_line(&info.summary)
        ))?;
        print_line(&format!("\n{}", harmless_block(prompt.trim())))?;
        let schema: Value = serde_json::from_str(&info.input_schema)?;
        print_line(&format!("\n{}", style.dim("input schema")))?;
        print_line(&harmless_block(&serde_json::to_string_pretty(&schema)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(tools: &[std::sync::Arc<dyn Tool>]) -> anyhow::Result<()> {
    let style = Style::for_output();
    let name = |tool: &std::sync::Arc<dyn Tool>| harmless_line(&tool.info().name);
    let width = tools.iter().map(|tool| name(tool).len()).max().unwrap_or(0);
    let line = |tool: &std::sync::Arc<dyn Tool>| {
        let info = tool.info();
        let mark = match tool.trust() {
            Trust::BuiltIn => String::new(),
            Trust::ThirdParty => style.warn("  third-party"),
        };
        let name = name(tool);
        let pad = " ".repeat(width.saturating_sub(name.len()));
        format!(
            "{}{pad}  {}{mark}",
            style.bold(&name),
            harmless_line(&info.summary)
        )
    };
    let lines: Vec<String> = tools.iter().map(line).collect();
    print_line(&lines.join("\n"))
}

fn summary(tool: &dyn Tool) -> Value {
    let info = tool.info();
    let schema: Value = serde_json::from_str(&info.input_schema).unwrap_or(Value::Null);
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "description": info.summary,
        "input_schema": schema,
        "subjects": info.subjects,
        "limit": info.limit,
        "deferred": info.deferred,
        "origin": match tool.origin() {
            Origin::BuiltIn => "built-in".to_owned(),
            Origin::File(path) => path.display().to_string(),
            Origin::Server(name) => format!("MCP server {name}"),
        },
        "trust": tool.trust(),
    })
}
