//! Which servers there are: seven scopes, of which the first that names a server counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use toolbay_dispatch::fingerprint::Fingerprint;
use toolbay_dispatch::hooks::{LookBudget, NameGround};
use toolbay_mcp::client::config::{LinkConfig, RawServer, Scope, ServerConfig};
use toolbay_mcp::client::{State, Status};
use toolbay_policy::Managed;

use super::remote_list;
use crate::places::Places;
use crate::process::ProcessContext;
use crate::settings::project_bounds;
use crate::settings::{Settings, check_managed, read_text};
use crate::settings_file::read_jsonc;
use crate::trust::{LeadGround, Leads, ServerPin, Trust, TrustVerdict};

/// The project's file, which other agents read too.
pub const PROJECT_FILE: &str = ".mcp.json";
/// The owner's file; where it is, it alone counts.
const ENTERPRISE_FILE: &str = "managed-mcp.json";

/// Somebody says that there is a server.
#[derive(Debug, Clone)]
pub struct Declared {
    pub name: String,
    pub scope: Scope,
    /// The file, or the option.
    pub source: String,
    /// What paths in it start from.
    pub folder: PathBuf,
    pub raw: RawServer,
    /// What it ran when the user looked at it, if it is the project's.
    pub pin: Option<Arc<ServerPin>>,
}

/// A file that holds servers and nothing else.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ServersFile {
    mcp_servers: BTreeMap<String, RawServer>,
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
}

/// Where servers are looked for beside the settings.
#[derive(Debug, Clone)]
pub struct Sources<'a> {
    pub cwd: &'a Path,
    pub places: &'a Places,
    pub process: &'a ProcessContext,
    pub settings: &'a Settings,
    /// `--mcp-config`, a file or JSON each.
    pub given: &'a [String],
    /// The person has looked at everything in the project, for once.
    pub trust_project: bool,
}

/// The servers of a session.
#[derive(Debug, Default)]
pub struct Inventory {
    pub configs: Vec<ServerConfig>,
    /// What the project's servers run, by name.
    pub pins: BTreeMap<String, Arc<ServerPin>>,
    /// Those that are known and cannot be used: pending, forbidden, or wrong.
    pub others: Vec<Status>,
    /// What people should be told.
    pub problems: Vec<String>,
}

impl Inventory {
    /// Reads all scopes. A project's file that cannot be read is a problem; what the person or
    /// the owner of the machine wrote must be right, as all settings.
    pub fn take(sources: &Sources<'_>) -> anyhow::Result<Self> {
        let mut inventory = Self::default();
        let places = sources.places;
        let enterprise = places.managed_folder().join(ENTERPRISE_FILE);
        check_managed(&enterprise)?;
        if let Some(text) = read_text(&enterprise)? {
            for declared in parse(&text, &enterprise, Scope::Enterprise)? {
                inventory.add(declared, sources);
            }
            return Ok(inventory);
        }
        let mut all: Vec<Declared> = sources.settings.mcp_servers.clone();
        for given in sources.given {
            all.extend(dynamic(given, sources.cwd)?);
        }
        all.extend(inventory.project(sources)?);
        match remote_list::cached(places) {
            Ok(listed) => all.extend(listed),
            Err(error) => inventory.problems.push(format!("{error:#}")),
        }
        all.sort_by_key(|declared| declared.scope);
        for declared in all {
            inventory.add(declared, sources);
        }
        Ok(inventory)
    }

    /// The project's servers that somebody has approved; the others are noted as pending.
    fn project(&mut self, sources: &Sources<'_>) -> anyhow::Result<Vec<Declared>> {
        let file = sources.cwd.join(PROJECT_FILE);
        let read = read_text(&file).and_then(|text| {
            let Some(text) = text else {
                return Ok(None);
            };
            let servers = parse(&text, &file, Scope::Project)?;
            Ok(Some((text, servers)))
        });
        let (text, servers) = match read {
            Ok(Some(read)) => read,
            Ok(None) => return Ok(Vec::new()),
            Err(error) => {
                let text = format!("{error:#}; its MCP servers are left out");
                self.problems.push(text);
                return Ok(Vec::new());
            }
        };
        let trust = Trust::load(&sources.places.state)?;
        let mut look = Look::of(&text, &file, sources, &trust);
        let mut approved = Vec::new();
        for mut declared in servers {
            let looked = look.as_mut().map_err(|why| why.clone());
            let why = match looked.and_then(|look| look.at(&declared.name)) {
                Ok((TrustVerdict::Trusted, pin)) => {
                    declared.pin = pin;
                    approved.push(declared);
                    continue;
                }
                Ok((verdict, _)) => verdict.why(),
                Err(why) => Some(format!("what it runs cannot be looked at: {why}")),
            };
            let why = why.unwrap_or_else(|| {
                "nobody has looked at it: it was written by whoever made the project".into()
            });
            let state = State::Pending {
                reason: Some(format!(
                    "{why}; `toolbay mcp approve {}` shows it and asks",
                    quoted(&declared.name)
                )),
            };
            self.others.push(status(&declared, state));
        }
        let waiting: Vec<&str> = self.others.iter().map(|one| one.name.as_str()).collect();
        if !waiting.is_empty() {
            self.problems.push(format!(
                "{}: the MCP servers {} are not started before you have looked at them: `toolbay \
                 mcp approve NAME`",
                file.display(),
                waiting.join(", ")
            ));
        }
        Ok(approved)
    }

    /// Takes a server unless a stronger scope has one of that name.
    fn add(&mut self, declared: Declared, sources: &Sources<'_>) {
        let is_taken = |name: &str| self.configs.iter().any(|config| config.name == name);
        if is_taken(&declared.name) {
            return;
        }
        let Declared {
            name,
            scope,
            source,
            folder,
            raw,
            pin,
        } = &declared;
        let variable = |name: &str| sources.process.text(name).map(str::to_owned);
        let resolved = raw.resolve(name, *scope, source, folder, &variable);
        let config = match resolved {
            Ok(config) => config,
            Err(error) => {
                let reason = error.problem.clone();
                self.others
                    .push(status(&declared, State::Failed { reason }));
                self.problems.push(error.to_string());
                return;
            }
        };
        match permitted(&config, &sources.settings.managed) {
            Ok(()) => {
                let pin = pin.iter().map(|pin| (name.clone(), pin.clone()));
                self.pins.extend(pin);
                self.configs.push(config);
            }
            Err(reason) => {
                let state = State::Disabled { reason };
                self.others.push(status(&declared, state));
            }
        }
    }
}

/// The servers of a project's file, with what they run. Of an entry that the user has never approved,
/// nothing is looked for.
struct Look<'a> {
    value: Value,
    file: &'a Path,
    trust: &'a Trust,
    ground: LeadGround,
    budget: LookBudget,
    /// What all of them run, if the whole file is trusted.
    whole: Option<Leads>,
}

impl<'a> Look<'a> {
    fn of(
        text: &str,
        file: &'a Path,
        sources: &Sources<'_>,
        trust: &'a Trust,
    ) -> Result<Self, String> {
        let ground = LeadGround {
            names: NameGround::of_clone(sources.cwd, sources.places.home.as_deref()),
            process: sources.process.clone(),
        };
        let plain = read_jsonc(text).map_err(|error| format!("{error:#}"))?;
        let value: Value = serde_json::from_str(&plain).map_err(|error| error.to_string())?;
        let mut whole = None;
        if sources.trust_project || trust.has_seen(file, text) {
            let leads = Leads::of_servers(&value, &ground)?;
            if sources.trust_project || trust.covers(file, text, &leads.files) {
                whole = Some(leads);
            }
        }
        Ok(Self {
            value,
            file,
            trust,
            ground,
            budget: LookBudget::default(),
            whole,
        })
    }

    fn at(&mut self, name: &str) -> Result<(TrustVerdict, Option<Arc<ServerPin>>), String> {
        if let Some(whole) = &self.whole {
            return Ok((TrustVerdict::Trusted, whole.servers.get(name).cloned()));
        }
        let entry = self.value.get("mcpServers").and_then(|all| all.get(name));
        let Some(entry) = entry else {
            return Ok((TrustVerdict::Unknown, None));
        };
        let (key, text) = (entry_key(self.file, name), entry.to_string());
        if !self.trust.has_seen(&key, &text) {
            return Ok((self.trust.judge(&key, &text, &Fingerprint::default()), None));
        }
        let pin = ServerPin::of(entry, &self.ground, &mut self.budget)?;
        let verdict = self.trust.judge(&key, &text, pin.files());
        Ok((verdict, Some(Arc::new(pin))))
    }
}

/// What the owner of the machine has to say about a server.
fn permitted(config: &ServerConfig, managed: &Managed) -> Result<(), String> {
    let place = match &config.link {
        LinkConfig::Stdio(stdio) => {
            let sandbox = &stdio.sandbox;
            for host in sandbox.allowed_hosts.iter().chain(&sandbox.fetch_from) {
                managed
                    .permits_host_line(host)
                    .map_err(|error| error.to_string())?;
            }
            (Some(config.link.place()), None)
        }
        LinkConfig::Http(url) | LinkConfig::Sse(url) | LinkConfig::WebSocket(url) => {
            managed
                .permits_url(&url.url)
                .map_err(|error| error.to_string())?;
            (None, Some(url.url.clone()))
        }
        LinkConfig::InProcess(_) => (None, None),
    };
    let (command, url) = (place.0.as_deref(), place.1.as_deref());
    let permitted = managed.permits_server_at(&config.name, command, url);
    permitted.map_err(|refusal| refusal.to_string())
}

/// An entry that did not become a server. Nothing of it was looked up or started.
fn status(declared: &Declared, state: State) -> Status {
    let raw = &declared.raw;
    let kind = serde_json::to_value(raw.kind()).ok();
    let kind = kind.and_then(|kind| kind.as_str().map(str::to_owned));
    let place = match (&raw.command, &raw.url) {
        (Some(command), _) => [std::slice::from_ref(command), &raw.args]
            .concat()
            .join(" "),
        (None, Some(url)) => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        (None, None) => String::new(),
    };
    Status {
        name: declared.name.clone(),
        scope: declared.scope,
        source: declared.source.clone(),
        transport: kind.unwrap_or_default(),
        place,
        state,
        problems: Vec::new(),
    }
}

/// The servers of a text, by name.
pub fn parse(text: &str, file: &Path, scope: Scope) -> anyhow::Result<Vec<Declared>> {
    let about = || file.display().to_string();
    let plain = read_jsonc(text).with_context(about)?;
    let parsed: ServersFile = serde_json::from_str(&plain).with_context(about)?;
    if scope == Scope::Project {
        project_bounds::check_servers(file, parsed.mcp_servers.len())?;
    }
    let folder = file.parent().unwrap_or(file);
    Ok(declared(parsed.mcp_servers, scope, &about(), folder))
}

/// Servers of one source.
pub fn declared(
    servers: BTreeMap<String, RawServer>,
    scope: Scope,
    source: &str,
    folder: &Path,
) -> Vec<Declared> {
    let one = |(name, raw)| Declared {
        name,
        scope,
        source: source.to_owned(),
        folder: folder.to_path_buf(),
        raw,
        pin: None,
    };
    servers.into_iter().map(one).collect()
}

fn dynamic(given: &str, cwd: &Path) -> anyhow::Result<Vec<Declared>> {
    if given.trim_start().starts_with('{') {
        let parsed: ServersFile = serde_json::from_str(given).context("--mcp-config")?;
        return Ok(declared(
            parsed.mcp_servers,
            Scope::Dynamic,
            "--mcp-config",
            cwd,
        ));
    }
    let file = cwd.join(given);
    let Some(text) = read_text(&file)? else {
        bail!("--mcp-config: there is no file {}", file.display());
    };
    parse(&text, &file, Scope::Dynamic)
}

/// The text of one entry, in one form whatever its spaces and order.
pub fn entry_text(text: &str, name: &str) -> Option<String> {
    let plain = read_jsonc(text).ok()?;
    let value: Value = serde_json::from_str(&plain).ok()?;
    Some(value.get("mcpServers")?.get(name)?.to_string())
}

/// Under which name an approval of one entry is kept.
pub fn entry_key(file: &Path, name: &str) -> PathBuf {
    PathBuf::from(format!("{}#{name}", file.display()))
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests;
