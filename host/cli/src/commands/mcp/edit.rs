//! `toolbay mcp add|remove|approve`: which servers there are.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};
use toolbay::dispatch::RuleScope;
use toolbay::dispatch::hooks::LookBudget;
use toolbay::mcp::client::config::{LinkConfig, RawServer, Scope};

use crate::args::{Common, McpAdd, ServerKind, ServerScope};
use crate::commands::trust::{agrees, show_leads};
use crate::commands::{CALL_FAILED, print_json, print_line};
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use crate::view::{harmless_block, harmless_line};
use toolbay::Places;
use toolbay::servers::Packages;
use toolbay::servers::inventory::{PROJECT_FILE, entry_key, entry_text};
use toolbay::settings::{Origins, read_text};
use toolbay::settings_file::{Change, add_server, remove_server, settings_file_of};
use toolbay::trust::{ServerPin, Trust};

/// Where a scope's servers are written.
struct Target {
    scope: ServerScope,
    rule_scope: RuleScope,
    file: PathBuf,
}

impl Target {
    fn of(scope: ServerScope, cwd: &Path, places: &Places) -> anyhow::Result<Self> {
        let rule_scope = match scope {
            ServerScope::Local => RuleScope::Local,
            ServerScope::Project => RuleScope::Project,
            ServerScope::User => RuleScope::User,
        };
        let file = match scope {
            ServerScope::Project => Some(cwd.join(PROJECT_FILE)),
            ServerScope::Local | ServerScope::User => settings_file_of(rule_scope, cwd, places),
        };
        let file = file.context("there is no home folder to keep it in")?;
        if scope == ServerScope::Project {
            let is_link = file
                .symlink_metadata()
                .is_ok_and(|found| found.file_type().is_symlink());
            ensure!(
                !is_link,
                "{} is a link; edit the file it leads to",
                file.display()
            );
        }
        Ok(Self {
            scope,
            rule_scope,
            file,
        })
    }

    /// The person has just written it, so it is seen; unless others had written there before.
    fn trust(&self, change: &Change, name: &str, origins: &Origins) -> anyhow::Result<()> {
        if self.scope == ServerScope::User {
            return Ok(());
        }
        let after = origins.leads_of(&self.file, &change.after)?;
        let before = match &change.before {
            Some(text) => Some((text, origins.leads_of(&self.file, text)?.files)),
            None => None,
        };
        let own = after.servers.get(name).map(|pin| pin.files().clone());
        Trust::change(&origins.places.state, |trust| {
            let was_covered = before
                .as_ref()
                .map(|(text, leads)| trust.covers(&self.file, text, leads));
            let is_covered = match self.scope {
                ServerScope::User => return,
                ServerScope::Local => was_covered.unwrap_or(true),
                ServerScope::Project => was_covered.unwrap_or(false),
            };
            if is_covered {
                trust.add(&self.file, &change.after, after.files);
            }
            if self.scope == ServerScope::Project {
                let key = entry_key(&self.file, name);
                match entry_text(&change.after, name).zip(own) {
                    Some((entry, leads)) => trust.add(&key, &entry, leads),
                    None => drop(trust.remove(&key)),
                }
            }
        })
    }
}

pub(super) fn add(common: &Common, wanted: McpAdd) -> anyhow::Result<ExitCode> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let entry = entry(&wanted)?;
    // What could not be used is not written.
    let raw: RawServer = serde_json::from_value(entry.clone())?;
    let scope = match wanted.scope {
        ServerScope::Local => Scope::Local,
        ServerScope::Project => Scope::Project,
        ServerScope::User => Scope::User,
    };
    let any = |name: &str| Some(places::variable(name)?.to_string_lossy().into_owned());
    let lenient = |name: &str| any(name).or(Some("x".into()));
    raw.resolve(&wanted.name, scope, "the command line", &cwd, &lenient)?;
    let target = Target::of(wanted.scope, &cwd, &places)?;
    let change = add_server(target.rule_scope, &target.file, &wanted.name, &entry)?;
    if let Some(change) = change {
        target.trust(&change, &wanted.name, &origins(common, &cwd, &places))?;
    }
    let file = target.file.display().to_string();
    if common.json {
        print_json(&json!({"added": wanted.name, "file": file}))?;
    } else {
        let name = harmless_line(&wanted.name);
        print_line(&format!(
            "added the MCP server {name} to {}",
            harmless_line(&file)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The entry as a file has it.
fn entry(wanted: &McpAdd) -> anyhow::Result<Value> {
    let is_url = wanted.place.first().is_some_and(|one| one.contains("://"));
    let kind = match wanted.transport {
        Some(kind) => kind,
        None if is_url => ServerKind::Http,
        None => ServerKind::Stdio,
    };
    let mut entry = Map::new();
    let word = match kind {
        ServerKind::Stdio => "stdio",
        ServerKind::Http => "http",
        ServerKind::Sse => "sse",
        ServerKind::Ws => "ws",
    };
    entry.insert("type".into(), word.into());
    if kind == ServerKind::Stdio {
        ensure!(
            wanted.header.is_empty(),
            "--header is for servers behind an address"
        );
        let (command, args) = wanted.place.split_first().context("a command")?;
        entry.insert("command".into(), command.as_str().into());
        if !args.is_empty() {
            entry.insert("args".into(), json!(args));
        }
        if !wanted.env.is_empty() {
            entry.insert("env".into(), pairs(&wanted.env, '=', "--env NAME=VALUE")?);
        }
        let sandbox = sandbox(wanted);
        if !sandbox.is_empty() {
            entry.insert("sandbox".into(), Value::Object(sandbox));
        }
        return Ok(Value::Object(entry));
    }
    let [url] = wanted.place.as_slice() else {
        bail!("a server behind an address has one address and no arguments");
    };
    ensure!(
        wanted.env.is_empty() && sandbox(wanted).is_empty(),
        "--env, --root, --allow-host and --allow-read are for servers that are commands"
    );
    entry.insert("url".into(), url.as_str().into());
    if !wanted.header.is_empty() {
        entry.insert(
            "headers".into(),
            pairs(&wanted.header, ':', "--header 'NAME: VALUE'")?,
        );
    }
    Ok(Value::Object(entry))
}

/// What its cage should allow.
fn sandbox(wanted: &McpAdd) -> Map<String, Value> {
    let lists = [
        ("roots", &wanted.roots),
        ("allowRead", &wanted.allow_read),
        ("allowedHosts", &wanted.allow_hosts),
        ("fetchFrom", &wanted.fetch_from),
    ];
    let given = lists.into_iter().filter(|(_, list)| !list.is_empty());
    given
        .map(|(key, list)| (key.to_owned(), json!(list)))
        .collect()
}

fn pairs(texts: &[String], between: char, form: &str) -> anyhow::Result<Value> {
    let pair = |text: &String| {
        let (name, value) = text
            .split_once(between)
            .with_context(|| format!("`{}` is not of the form {form}", shown(text)))?;
        Ok((name.trim().to_owned(), Value::from(value.trim())))
    };
    let all: anyhow::Result<Map<String, Value>> = texts.iter().map(pair).collect();
    all.map(Value::Object)
}

/// What may be a secret is not printed whole.
fn shown(text: &str) -> String {
    text.chars().take(8).chain("…".chars()).collect()
}

pub(super) fn remove(
    common: &Common,
    name: &str,
    scope: Option<ServerScope>,
) -> anyhow::Result<ExitCode> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let all = [ServerScope::Local, ServerScope::Project, ServerScope::User];
    let mut files = Vec::new();
    for scope in all
        .into_iter()
        .filter(|one| scope.is_none_or(|only| only == *one))
    {
        let target = match Target::of(scope, &cwd, &places) {
            Ok(target) if target.file.exists() => target,
            Ok(_) => continue,
            Err(error) => return Err(error),
        };
        if let Some(change) = remove_server(target.rule_scope, &target.file, name)? {
            forget_package(&change, name, &cwd, &places);
            target.trust(&change, name, &origins(common, &cwd, &places))?;
            files.push(target.file.display().to_string());
        }
    }
    if files.is_empty() {
        bail!("no file that you can change here has an MCP server `{name}`");
    }
    if common.json {
        print_json(&json!({"removed": name, "files": files}))?;
    } else {
        let files = harmless_line(&files.join(", "));
        print_line(&format!(
            "removed the MCP server {} from {files}",
            harmless_line(name)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was fetched of a server goes with it. Another entry of the same command fetches it again.
fn forget_package(change: &Change, name: &str, cwd: &Path, places: &Places) {
    let entry = change.before.as_deref();
    let entry = entry.and_then(|text| entry_text(text, name));
    let raw: Option<RawServer> = entry.and_then(|text| serde_json::from_str(&text).ok());
    let variable = |name: &str| Some(places::variable(name)?.to_string_lossy().into_owned());
    let config = raw.and_then(|raw| raw.resolve(name, Scope::Local, "", cwd, &variable).ok());
    if let Some(LinkConfig::Stdio(stdio)) = config.map(|config| config.link)
        && let Some(package) = Packages::new(places.packages()).of(&stdio)
    {
        // It takes room and does no harm.
        let _ = package.forget();
    }
}

pub(super) fn approve(common: &Common, name: &str, yes: bool) -> anyhow::Result<ExitCode> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let file = cwd.join(PROJECT_FILE);
    let Some(text) = read_text(&file)? else {
        bail!("there is no {}", file.display());
    };
    let Some(entry) = entry_text(&text, name) else {
        bail!("{} has no MCP server `{name}`", file.display());
    };
    let ground = origins(common, &cwd, &places).ground();
    let value: Value = serde_json::from_str(&entry)?;
    // Of this one alone: another one that cannot be looked at is no reason against it.
    let pin = ServerPin::of(&value, &ground, &mut LookBudget::default());
    let pin = pin.map_err(|why| anyhow::anyhow!("the MCP server `{name}`: {why}"))?;
    if !common.json {
        let style = Style::for_output();
        let pretty: Value = serde_json::from_str(&entry)?;
        print_line(&style.bold(&harmless_line(&format!("{name} in {}", file.display()))))?;
        print_line(&harmless_block(&serde_json::to_string_pretty(&pretty)?))?;
        show_leads(pin.files())?;
    }
    if !yes && !agrees("Let this server be started, until its entry or what it runs changes?")? {
        return Ok(ExitCode::from(CALL_FAILED));
    }
    Trust::change(&places.state, |trust| {
        trust.add(&entry_key(&file, name), &entry, pin.files().clone());
    })?;
    if common.json {
        print_json(&json!({"approved": name, "leadsTo": pin.files()}))?;
    }
    Ok(ExitCode::SUCCESS)
}
