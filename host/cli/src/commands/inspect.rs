//! `toolbay inspect FILE.wasm`: what a component is and could do at most, before
//! anybody lets it do anything.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolbay::contract::{Origin, Tool};
use toolbay::policy::{Capability, Trust};
use toolbay::runtime::{Facts, Limits, Plugin, Source, ruled_out};

use super::{open_to_look, print_json, print_line};
use crate::args::Common;
use crate::style::Style;
use crate::view::harmless_line;
use toolbay::servers::Connect;

pub(super) async fn run(common: Common, file: PathBuf) -> anyhow::Result<ExitCode> {
    let json = common.json;
    let bay = open_to_look(common, Connect::OnDemand).await?;
    let plugin = Plugin::open(
        &bay.runtime,
        Source::File(file.clone()),
        Origin::File(file),
        Trust::ThirdParty,
        Limits::default(),
    )
    .await?;
    let facts = plugin.facts().await?;
    if json {
        print_json(&json!({
            "info": plugin.info(),
            "contract": contract(&facts),
            "digest": facts.digest,
            "size": facts.size,
            "imports": facts.imports,
            "exports": facts.exports,
            "reach": facts.reach,
            "ruled_out": ruled_out(&facts.reach),
            "manifest": plugin.manifest(),
            "limits": facts.limits,
            "info_section": facts.has_info_section,
        }))?;
    } else {
        print(&plugin, &facts)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn contract(facts: &Facts) -> String {
    facts
        .exports
        .iter()
        .find_map(|name| name.strip_prefix("toolbay:tool/tool@"))
        .unwrap_or("unknown")
        .to_owned()
}

fn print(plugin: &Plugin, facts: &Facts) -> anyhow::Result<()> {
    let style = Style::for_output();
    let info = plugin.info();
    let row = |key: &str, value: &str| {
        print_line(&format!("  {}{value}", style.dim(&format!("{key:<11}"))))
    };
    print_line(&format!(
        "{}  {}",
        style.bold(&harmless_line(&info.name)),
        harmless_line(&info.summary)
    ))?;
    row("contract", &harmless_line(&contract(facts)))?;
    row("digest", &facts.digest)?;
    row("size", &format!("{} KiB", facts.size / 1024))?;
    let optional: Vec<&str> = ["guard", "prompt", "render"]
        .into_iter()
        .filter(|part| {
            let prefix = format!("toolbay:tool/{part}@");
            facts.exports.iter().any(|name| name.starts_with(&prefix))
        })
        .collect();
    row("exports", &format!("tool {}", optional.join(" ")))?;
    if !facts.has_info_section {
        row(
            "note",
            "no info section: it must be compiled before it can be listed",
        )?;
    }

    print_line(&format!("\n{}", style.bold("Whatever anybody grants, it")))?;
    for sentence in ruled_out(&facts.reach) {
        print_line(&format!("  {} {sentence}", style.good("✓")))?;
    }
    print_line(&format!("\n{}", style.bold("It could, if granted, use")))?;
    let used: Vec<&str> = facts
        .imports
        .iter()
        .map(String::as_str)
        .filter(|name| !is_base(name))
        .collect();
    if used.is_empty() {
        print_line("  nothing but its own computation")?;
    }
    for name in used {
        print_line(&format!("  {} {}", style.warn("•"), harmless_line(name)))?;
    }

    let capabilities: Vec<Capability> = facts.reach.iter().collect();
    if !capabilities.is_empty() {
        let grant = |words: &str| format!("--grant {}={words}", harmless_line(&info.name));
        print_line(&format!(
            "\n{}",
            style.bold("What that means, and what grants it")
        ))?;
        for capability in &capabilities {
            print_line(&format!(
                "  {:<9} can {}  {}",
                capability.word(),
                capability.meaning(),
                style.dim(&grant(capability.word()))
            ))?;
        }
    }

    match plugin.manifest() {
        None => print_line(&format!(
            "\n{}",
            style.dim("no manifest: it can be granted whatever it imports")
        ))?,
        Some(manifest) => {
            print_line(&format!(
                "\n{} {} {}",
                style.bold("Manifest"),
                harmless_line(&manifest.name),
                harmless_line(&manifest.version)
            ))?;
            for request in &manifest.requests {
                print_line(&format!(
                    "  requests {}: {}",
                    request.capability,
                    harmless_line(&request.reason)
                ))?;
            }
            if manifest.requests.is_empty() {
                print_line("  requests nothing, so that nothing can be granted to it")?;
            }
        }
    }
    let limits = facts.limits;
    print_line(&format!("\n{}", style.bold("Limits")))?;
    row("memory", &format!("{} MiB", limits.memory_bytes >> 20))?;
    row("call", &format!("{} s", limits.call_ms / 1000))?;
    row("question", &format!("{} ms", limits.inspect_ms))?;
    row("result", &format!("{} MiB", limits.output_bytes >> 20))?;
    Ok(())
}

/// What every compiler's start-up code imports, and what holds no power.
fn is_base(import: &str) -> bool {
    [
        "wasi:cli/",
        "wasi:io/",
        "wasi:clocks/",
        "wasi:random/",
        "toolbay:tool/types",
        "toolbay:host/errors",
        "toolbay:host/context",
    ]
    .iter()
    .any(|prefix| import.starts_with(prefix))
}
