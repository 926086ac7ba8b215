//! The tools of a session: those that are built in, and those that somebody brought along.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use toolbay_contract::{AllGranted, Grants, Origin, Tool};
use toolbay_dispatch::{Pool, PoolSetting, nearest};
use toolbay_policy::{Managed, Policy, Trust};
use toolbay_runtime::{Limits, Plugin, Runtime, Source, digest};

use super::late::LatePlugins;
use super::{BayOptions, EnabledCheck};
use crate::builtin::{Builtin, DEMOS, PLUGINS};
use crate::settings::{Grantee, PluginPath, Say, Settings};

/// A tool that says so of itself is offered in simple mode.
const SIMPLE: &str = "simple";

/// Which plugins a session takes at its start.
pub enum PluginStart<'a> {
    /// All of them.
    Compiling,
    /// Those that need not be compiled; the files of the others are put here.
    Leaving(&'a mut Vec<PluginPath>),
}

/// Every tool that there is, in no order.
pub async fn open_tools(
    runtime: &Runtime,
    options: &BayOptions,
    settings: &Settings,
    demos: bool,
    mut start: PluginStart<'_>,
    problems: &mut Vec<String>,
) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    let grants: Arc<dyn Grants> = Arc::new(settings.grant_table());
    for builtin in PLUGINS {
        let plugin = open_builtin(runtime, builtin, Trust::BuiltIn, settings).await?;
        tools.push(Arc::new(plugin));
    }
    if demos {
        for demo in DEMOS {
            let plugin = open_builtin(runtime, demo, Trust::ThirdParty, settings).await?;
            // The tour shows what a component with every capability cannot do.
            tools.push(Arc::new(plugin.with_grants(Arc::new(AllGranted))));
        }
    }
    for plugin in plugin_files(options, settings, problems) {
        if let PluginStart::Leaving(later) = &mut start
            && let Ok(source) = permitted(&plugin, &settings.managed)
            && !Plugin::opens_at_once(runtime, &source).await
        {
            problems.push(format!(
                "{} has to be compiled before it says who it is; its tool joins when that is done",
                plugin.file().display()
            ));
            later.push(plugin);
            continue;
        }
        match open_file(runtime, &plugin, settings).await {
            Ok(plugin) => tools.push(Arc::new(plugin.with_grants(grants.clone()))),
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems.extend(grants_for_nothing(settings, &tools));
    problems.extend(misspelt_rules(settings, &tools));
    Ok(tools)
}

/// Takes the plugins that were left, one after the other, and compiles those of the others that
/// nobody has called yet. `changed` is told of each tool that came.
pub(super) async fn open_late(
    (runtime, settings): (Runtime, Settings),
    plugins: Vec<PluginPath>,
    others: Vec<Arc<dyn Tool>>,
    late: Arc<LatePlugins>,
    changed: impl Fn(),
    say: Say,
) {
    let grants: Arc<dyn Grants> = Arc::new(settings.grant_table());
    for plugin in plugins {
        match open_file(&runtime, &plugin, &settings).await {
            Ok(plugin) => {
                late.came(Arc::new(plugin.with_grants(grants.clone())));
                changed();
            }
            Err(error) => {
                say(&error.to_string());
                late.failed(error.to_string());
            }
        }
    }
    late.finish();
    for tool in others {
        if let Err(error) = tool.is_enabled().await {
            say(&error.to_string());
        }
    }
}

/// Grants of the command line for tools that are not there: most likely misspelt.
fn grants_for_nothing(settings: &Settings, tools: &[Arc<dyn Tool>]) -> Vec<String> {
    let is_there = |name: &str| {
        let mut others = tools
            .iter()
            .filter(|tool| tool.trust() == Trust::ThirdParty);
        others.any(|tool| tool.info().name == name)
    };
    let mut all = Vec::new();
    for grant in &settings.grants {
        if let Grantee::Tool(name) = &grant.to
            && !is_there(name)
        {
            all.push(format!("--grant {name}: no third-party tool has this name"));
        }
    }
    all
}

/// Rules whose tool is nearly the name of one that exists: a lock that is misspelt locks nothing.
/// Others may be about tools that are not installed here, and are left alone.
fn misspelt_rules(settings: &Settings, tools: &[Arc<dyn Tool>]) -> Vec<String> {
    let known = || {
        tools.iter().flat_map(|tool| {
            let aliases = tool.info().aliases.iter().map(String::as_str);
            aliases.chain([tool.info().name.as_str()])
        })
    };
    let rules = &settings.rules;
    let mut all = Vec::new();
    for rule in rules.deny.iter().chain(&rules.ask).chain(&rules.allow) {
        let name = rule.tool();
        // Tools of servers come later, and lists of rules about them may be long.
        if name.starts_with("mcp__") || known().any(|known| known == name) {
            continue;
        }
        let is_alike = |near: &&str| near.len().abs_diff(name.len()) <= 1;
        if let Some(near) = nearest(name, known()).filter(is_alike) {
            let from = rule.provenance();
            let text = rule.text();
            all.push(format!(
                "{from}: the rule `{text}` is about no tool; did you mean `{near}`?"
            ));
        }
    }
    all
}

/// The tools that this session offers.
pub(super) async fn assemble(
    tools: Vec<Arc<dyn Tool>>,
    options: &BayOptions,
    policy: &Policy,
    enabled_check: EnabledCheck,
) -> (Pool, Vec<String>) {
    let simple: Option<Vec<String>> = options.simple.then(|| {
        let is_simple = |tool: &&Arc<dyn Tool>| {
            let annotations = &tool.info().annotations;
            tool.trust() == Trust::BuiltIn && annotations.iter().any(|(key, _)| key == SIMPLE)
        };
        let simple = tools.iter().filter(is_simple);
        simple.map(|tool| tool.info().name.clone()).collect()
    });
    let mut disabled = Vec::new();
    if enabled_check != EnabledCheck::Skip {
        for tool in &tools {
            // Ours always are, and asking would compile them all.
            let ours = tool.trust() == Trust::BuiltIn;
            // One whose check fails reports why when it is called.
            let waits =
                enabled_check == EnabledCheck::IfCompiled && !ours && !tool.is_at_hand().await;
            if !ours && !waits && matches!(tool.is_enabled().await, Ok(false)) {
                disabled.push(tool.info().name.clone());
            }
        }
    }
    Pool::assemble(
        tools,
        &PoolSetting {
            only: simple.as_deref(),
            denied: &|name| policy.removes(name),
            enabled: &|name| !disabled.iter().any(|disabled| disabled == name),
        },
    )
}

/// Takes an embedded component as a tool.
async fn open_builtin(
    runtime: &Runtime,
    builtin: &Builtin,
    trust: Trust,
    settings: &Settings,
) -> anyhow::Result<Plugin> {
    let source = Source::Embedded {
        bytes: builtin.bytes,
        digest: builtin.digest,
    };
    let opened = Plugin::open(runtime, source, Origin::BuiltIn, trust, Limits::default()).await;
    opened
        .map(|plugin| limited(plugin, settings))
        .with_context(|| format!("the built-in plugin {}", builtin.folder))
}

async fn open_file(
    runtime: &Runtime,
    plugin: &PluginPath,
    settings: &Settings,
) -> Result<Plugin, toolbay_contract::Failure> {
    let source = permitted(plugin, &settings.managed)?;
    let opened = Plugin::open(
        runtime,
        source,
        Origin::File(plugin.file().to_path_buf()),
        Trust::ThirdParty,
        settings.limits_of("*"),
    )
    .await;
    opened.map(|plugin| limited(plugin, settings))
}

/// The component of a file, unless the owner of the machine has a list that it is not on, or it is not
/// what the user trusted. What was checked is what is loaded, whatever becomes of the file.
fn permitted(plugin: &PluginPath, managed: &Managed) -> Result<Source, toolbay_contract::Failure> {
    let (file, seen) = match plugin {
        PluginPath::Any(file) if managed.allowed_plugins.is_none() => {
            return Ok(Source::File(file.to_path_buf()));
        }
        PluginPath::Any(file) => (file, None),
        PluginPath::Seen { file, digest } => (file, Some(digest)),
    };
    let bad = |reason: String| toolbay_contract::Failure::BadComponent {
        plugin: file.display().to_string(),
        reason,
    };
    let bytes = toolbay_contract::regular_file::read(file, toolbay_runtime::MAX_COMPONENT)
        .map_err(|error| bad(error.to_string()))?;
    let digest = digest(&bytes);
    if seen.is_some_and(|seen| *seen != digest) {
        return Err(bad(
            "it is not the component that you trusted; look at it again with `toolbay trust`"
                .into(),
        ));
    }
    if managed.allowed_plugins.is_none() {
        return Ok(Source::Bytes(bytes.into()));
    }
    let permitted = managed.permits_plugin(&digest, None);
    permitted.map_err(|refusal| bad(refusal.to_string()))?;
    Ok(Source::Bytes(bytes.into()))
}

/// Settings name limits by the tool's name, which only the opened plugin knows.
fn limited(plugin: Plugin, settings: &Settings) -> Plugin {
    let limits = settings.limits_of(&plugin.info().name);
    plugin.with_limits(limits)
}

/// Files as they are, folders as the `.wasm` files in them, in order of name.
fn plugin_files(
    options: &BayOptions,
    settings: &Settings,
    problems: &mut Vec<String>,
) -> Vec<PluginPath> {
    let mut all = Vec::new();
    let given = options.plugins.iter().cloned().map(PluginPath::Any);
    for plugin in given.chain(settings.plugins.iter().cloned()) {
        let path = match &plugin {
            PluginPath::Any(path) if path.is_dir() => path,
            PluginPath::Any(_) | PluginPath::Seen { .. } => {
                all.push(plugin);
                continue;
            }
        };
        match std::fs::read_dir(path) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> = entries
                    .flatten()
                    .map(|entry| entry.path())
                    .filter(|file| {
                        file.extension()
                            .is_some_and(|extension| extension == "wasm")
                    })
                    .collect();
                files.sort();
                all.extend(files.into_iter().map(PluginPath::Any));
            }
            Err(error) => problems.push(format!("{}: {error}", path.display())),
        }
    }
    all
}
