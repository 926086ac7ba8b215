//! Settings files: where they are, whose word they are, and what the program sees of them.
//!
//! The owner of the machine comes first (`/etc/toolbay/managed-settings.json`), then what was
//! given at the start, then the person's files, then the project's. Rules add up, and deny beats
//! ask beats allow whatever the source; of single values the first source that has one counts.

mod absolute;
mod grant;
mod judge;
mod keeper;
mod layer;
mod managed_file;
mod origins;
pub(crate) mod project_bounds;
mod raw;
mod sandbox;
mod serve;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use toolbay_audit::{OnFull, Rotation};
use toolbay_contract::GrantTable;
use toolbay_dispatch::hooks::{CommandForm, Hooks, NameGround, closed_files};
use toolbay_dispatch::real_path;
use toolbay_mcp::client::config::Scope;
use toolbay_policy::{
    Behavior, Closed, Exits, Managed, Mode, Policy, Provenance, Rule, Rules, Source, Trusting,
};
use toolbay_runtime::Limits;

use crate::caged::{Sandbox, ShellKind};
use crate::places::Places;
use crate::servers::{Declared, inventory};
use crate::trust::Leads;

use grant::grant_of;
pub use grant::{Grant, Grantee};
pub use judge::{Asker, ClassifierSettings};
pub use keeper::{FileKeeper, Say, Stamps};
use layer::Layer;
pub use layer::read_text;
pub(crate) use managed_file::check as check_managed;
use origins::FileStanding;
pub use origins::{CommandLine, Origins, ProjectFile};
use raw::OnFullWord;
pub use serve::ServeQuotas;

/// A log of smaller files would turn all the time.
const SMALLEST_FILE: u64 = 64 * 1024;

/// What the program sees.
#[derive(Debug, Default, Clone)]
pub struct Settings {
    pub rules: Rules,
    pub managed: Managed,
    pub trusting: Trusting,
    /// The mode that the settings or the command line want, and who says so.
    pub mode: Option<(Mode, String)>,
    pub additional_directories: Vec<PathBuf>,
    /// Rules that name nothing where they count from, and something from the root.
    pub misread_rules: Vec<(Behavior, Rule, String)>,
    /// What the settings name as such a folder and is none: a sentence for each.
    pub lost_directories: Vec<String>,
    pub limits: BTreeMap<String, Limits>,
    pub plugins: Vec<PluginPath>,
    /// What components may use, by digest or, from the command line, by the tool's name.
    pub grants: Vec<Grant>,
    pub hooks: Hooks,
    pub classifier: Option<ClassifierSettings>,
    pub sandbox: Sandbox,
    pub mcp_servers: Vec<Declared>,
    /// Where a list of further servers is.
    pub mcp_server_list: Option<String>,
    /// What one client of our own server may use.
    pub mcp_serve: ServeQuotas,
    /// What runs outside the cage, and whether a call may ask for it.
    exits: Exits,
    unsandboxed: Option<bool>,
    shell: Option<ShellKind>,
    pub on_full: Option<OnFull>,
    pub rotation: Option<Rotation>,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// The files that were read.
    pub sources: Vec<PathBuf>,
    /// Those that would be read if they were there, too.
    looked_for: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// A component that settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginPath {
    /// A file as it is when it is loaded, or a folder of them.
    Any(PathBuf),
    /// The file of a project, with what it held when the user's trust was looked up.
    Seen { file: PathBuf, digest: String },
}

impl PluginPath {
    pub fn file(&self) -> &Path {
        let (Self::Any(file) | Self::Seen { file, .. }) = self;
        file
    }
}

impl Settings {
    /// What components have been granted. Where only the owner of the machine allows, only the
    /// owner grants.
    pub fn grant_table(&self) -> GrantTable {
        let mut table = GrantTable::default();
        let counts =
            |grant: &&Grant| !self.managed.only_managed_rules || grant.source == Source::Managed;
        for grant in self.grants.iter().filter(counts) {
            match &grant.to {
                Grantee::Digest(digest) => table.by_digest(digest, grant.reach),
                Grantee::Tool(tool) => table.by_tool(tool, grant.reach),
            }
        }
        table
    }

    fn take_command_line(&mut self, origins: &Origins) -> anyhow::Result<()> {
        let given = &origins.given;
        let anchors = origins.anchors();
        let parse = |texts: &[String]| -> anyhow::Result<Vec<Rule>> {
            let parse = |text: &String| {
                let rule = Rule::parse(text, &anchors).context("a rule on the command line")?;
                Ok(rule.from(Provenance::of(Source::CommandLine)))
            };
            texts.iter().map(parse).collect()
        };
        self.rules = Rules {
            allow: parse(&given.allow)?,
            ask: parse(&given.ask)?,
            deny: parse(&given.deny)?,
        };
        for text in &given.grant {
            self.grants.push(grant_of(text)?);
        }
        self.mode = given.mode.map(|mode| (mode, "--permission-mode".into()));
        Ok(())
    }

    /// Takes over what a file says; of one that is not trusted only what tightens.
    fn take(
        &mut self,
        layer: Layer,
        standing: FileStanding,
        hooks_are_seen: bool,
    ) -> anyhow::Result<()> {
        let Layer {
            place,
            raw,
            rules,
            mut hooks,
            folder,
            ..
        } = layer;
        let (trusted, leads, why) = match standing {
            FileStanding::Own => (true, None, None),
            FileStanding::Seen(leads) => (true, Some(leads), None),
            FileStanding::Unseen(why) => (false, None, why),
        };
        let name = place.file.display().to_string();
        if let Some(managed) = &raw.managed {
            self.managed = managed.clone();
            self.sandbox.never_outside = managed.forced_sandbox;
        }
        self.sources.push(place.file.clone());
        match place.source {
            Source::Local => self.trusting.local = trusted,
            Source::Project => self.trusting.project = trusted,
            _ => {}
        }
        for (effect, list) in [
            (Behavior::Deny, &rules.deny),
            (Behavior::Ask, &rules.ask),
            (Behavior::Allow, &rules.allow),
        ] {
            for rule in list {
                let Some(why) = absolute::misread(rule, &folder) else {
                    continue;
                };
                self.problems.push(format!("{}: {why}", rule.provenance()));
                self.misread_rules.push((effect, rule.clone(), why));
            }
        }
        let mut left_out: Vec<&str> = Vec::new();
        if !trusted && !rules.allow.is_empty() {
            left_out.push("allow rules");
        }
        self.rules.allow.extend(rules.allow);
        self.rules.ask.extend(rules.ask);
        self.rules.deny.extend(rules.deny);
        if place.is_in_project() {
            let (caged, refused) = hooks.in_cage();
            hooks = caged;
            if refused > 0 {
                self.problems.push(format!(
                    "{name}: its hooks run in a cage; `\"sandboxed\": false` counts in your own and \
                     in the managed settings alone"
                ));
            }
        }
        if !hooks.is_empty() {
            if trusted || hooks_are_seen {
                self.hooks = std::mem::take(&mut self.hooks).and(hooks);
            } else {
                left_out.push("hooks");
            }
        }
        let absolute = |path: PathBuf| folder.join(path);
        let permissions = raw.permissions;
        let directories = permissions.additional_directories;
        for (word, has) in [
            ("folders", !directories.is_empty()),
            ("plugins", !raw.plugins.is_empty()),
            ("limits", !raw.limits.is_empty()),
            ("grants", !raw.grants.is_empty()),
            ("mode", permissions.default_mode.is_some()),
            ("classifier", permissions.classifier.is_some()),
            ("audit settings", raw.audit.is_some()),
            ("sandbox settings", raw.sandbox.is_some()),
            ("MCP servers", !raw.mcp_servers.is_empty()),
            ("list of MCP servers", raw.mcp_server_list.is_some()),
            ("quotas of MCP clients", raw.mcp_serve.is_some()),
        ] {
            if has && !trusted {
                left_out.push(word);
            }
        }
        if !left_out.is_empty() {
            let why = why.unwrap_or_else(|| {
                "settings in a project are written by whoever made the project".into()
            });
            self.problems.push(format!(
                "{name}: its {} do not count: {why}; look at them, then say so with `toolbay \
                 trust`, or for once with --trust-project",
                left_out.join(", ")
            ));
        }
        if !trusted {
            return Ok(());
        }
        for given in directories.into_iter().map(absolute) {
            if given.is_dir() {
                self.additional_directories.push(given);
                continue;
            }
            // Nothing is lost by it but that folder: calls elsewhere go on.
            let lost = format!(
                "{name}: permissions.additionalDirectories: {} is no folder and is left out",
                given.display()
            );
            self.problems.push(lost.clone());
            self.lost_directories.push(lost);
        }
        match &leads {
            None => {
                let files = raw.plugins.into_iter().map(absolute);
                self.plugins.extend(files.map(PluginPath::Any));
            }
            Some(leads) => self.take_leads(leads),
        }
        for (tool, limits) in raw.limits {
            self.limits.entry(tool).or_insert(limits);
        }
        for (digest, capabilities) in raw.grants {
            anyhow::ensure!(
                digest.starts_with("sha256:"),
                "{name}: `grants` goes by the digest of a component, and {digest:?} is none; \
                 `toolbay inspect FILE` shows it"
            );
            self.grants.push(Grant {
                to: Grantee::Digest(digest),
                reach: capabilities.into_iter().collect(),
                source: place.source,
            });
        }
        if let (Some(mode), None) = (permissions.default_mode, &self.mode) {
            self.mode = Some((mode, name.clone()));
        }
        if let (Some(classifier), None) = (permissions.classifier, &self.classifier) {
            self.classifier = Some(classifier.resolve().with_context(|| name.clone())?);
        }
        let scope = scope_of(place.source);
        let mut servers = inventory::declared(raw.mcp_servers, scope, &name, &folder);
        if let Some(leads) = &leads {
            for server in &mut servers {
                server.pin = leads.servers.get(&server.name).cloned();
            }
        }
        self.mcp_servers.extend(servers);
        self.mcp_server_list = self.mcp_server_list.take().or(raw.mcp_server_list);
        if let Some(quotas) = raw.mcp_serve {
            quotas.check().with_context(|| name.clone())?;
            self.mcp_serve = self.mcp_serve.or(quotas);
        }
        if let Some(audit) = raw.audit {
            self.take_audit(audit);
        }
        if let Some(sandbox) = raw.sandbox {
            self.take_sandbox(sandbox, place.source, &folder)
                .with_context(|| name)?;
        }
        Ok(())
    }

    /// The components that were looked at, and no others: neither one that comes into a folder
    /// later, nor another one of the same name.
    fn take_leads(&mut self, leads: &Leads) {
        let missing = leads.missing.iter();
        let sentences =
            missing.map(|path| format!("{}: there is no such component", path.display()));
        self.problems.extend(sentences);
        let plugins = leads.plugins.iter().cloned();
        self.plugins
            .extend(plugins.map(|(file, digest)| PluginPath::Seen { file, digest }));
        // What changes is looked at again, while the session runs.
        let files = leads.files.files().map(|(path, _)| path.to_owned());
        self.looked_for.extend(files);
        self.looked_for.extend(leads.folders.iter().cloned());
    }

    fn take_audit(&mut self, audit: raw::RawAudit) {
        self.on_full = self.on_full.or(audit.on_full.map(|word| match word {
            OnFullWord::Stop => OnFull::Stop,
            OnFullWord::GoOn => OnFull::GoOn,
        }));
        if self.rotation.is_none() && (audit.file_bytes.is_some() || audit.files.is_some()) {
            let usual = Rotation::default();
            self.rotation = Some(Rotation {
                max_bytes: audit
                    .file_bytes
                    .unwrap_or(usual.max_bytes)
                    .max(SMALLEST_FILE),
                keep: audit
                    .files
                    .map_or(usual.keep, |files| files.max(1) as usize),
            });
        }
    }

    /// The limits of one tool.
    pub fn limits_of(&self, tool: &str) -> Limits {
        self.limits
            .get(tool)
            .or_else(|| self.limits.get("*"))
            .copied()
            .unwrap_or_default()
    }

    /// The policy of a session: what its hooks run is closed, too.
    pub fn session_policy(
        &self,
        roots: Vec<PathBuf>,
        mut closed: Closed,
        home: Option<&Path>,
    ) -> Policy {
        // Hooks run outside of every cage: what they run is not for tools to write.
        let run_by_hooks = roots
            .iter()
            .flat_map(|root| self.hooks.files_in(root, home));
        closed.unwritable.extend(run_by_hooks);
        // The command that answers questions in the user's place is no other matter.
        if let Some(Asker::Command(command)) = self.classifier.as_ref().map(|it| &it.asker) {
            let grounds = roots.iter().map(|root| NameGround::of_project(root, home));
            let files =
                grounds.flat_map(|ground| closed_files(CommandForm::Shell(command), &ground));
            closed.unwritable.extend(files);
        }
        self.policy(roots, &closed, home)
    }

    /// The policy that they make.
    pub fn policy(&self, roots: Vec<PathBuf>, closed: &Closed, home: Option<&Path>) -> Policy {
        let policy = Policy::governed(
            self.rules.clone().followed(&|path| real_path(path)),
            roots,
            closed,
            self.trusting,
            self.managed.clone(),
        );
        let mut exits = self.exits.clone();
        exits.on_request = self.unsandboxed == Some(true);
        let policy = policy.with_exits(exits);
        let policy = match home {
            Some(home) => policy.with_home(home),
            None => policy,
        };
        match &self.mode {
            Some((mode, _)) => policy.with_mode(*mode),
            None => policy,
        }
    }
}

/// Whose servers these are.
fn scope_of(source: Source) -> Scope {
    match source {
        Source::Managed => Scope::Managed,
        Source::Flags | Source::CommandLine | Source::Session => Scope::Dynamic,
        Source::Local => Scope::Local,
        Source::Project => Scope::Project,
        Source::User => Scope::User,
    }
}

/// What no tool may touch, whatever anybody allows: settings decide what tools may
/// do, the key vouches for native code, and the cache is native code.
pub fn own_files(places: &Places) -> Closed {
    // Calls are compared as the kernel sees them: the home folder may be behind a link.
    let real = |folders: Vec<PathBuf>| -> Vec<PathBuf> {
        let leads_to = folders.iter().map(|folder| real_path(folder));
        let mut all: Vec<PathBuf> = leads_to.collect();
        all.extend(folders);
        all.dedup();
        all
    };
    Closed {
        unreadable: real(vec![places.state.clone()]),
        unwritable: real(vec![
            places.cache.clone(),
            places.data.clone(),
            places.managed_folder(),
        ]),
        unwritable_names: vec![".toolbay".into()],
        readable: Vec::new(),
        only: None,
    }
}

#[cfg(test)]
mod tests;
