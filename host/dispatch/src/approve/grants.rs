//! What a yes grants, as sentences: the same ones on the card, in the line protocol and over MCP.

use std::path::PathBuf;

use toolbay_policy::Access;

/// Everything that a permit lets a call do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantSummary {
    /// Where it can write.
    pub writable: Vec<PathBuf>,
    /// What it can read outside the project.
    pub readable: Vec<PathBuf>,
    /// Hosts that it can reach.
    pub hosts: Vec<String>,
    /// Scripts that it can run in a cage.
    pub scripts: Vec<String>,
    /// Scripts that nothing holds.
    pub uncaged: Vec<String>,
}

impl GrantSummary {
    /// What is known of a permit by its access to files.
    pub fn of(access: &Access) -> Self {
        match access {
            Access::ReadOnly => Self::default(),
            Access::ReadWrite { zones } => Self {
                writable: zones.clone(),
                ..Self::default()
            },
        }
    }

    /// One sentence for each thing, the gravest first. They hold text of others: whoever shows
    /// them makes it visible first.
    pub fn sentences(&self) -> Vec<String> {
        let uncaged = self.uncaged.iter();
        let uncaged = uncaged.map(|script| format!("running this WITHOUT A CAGE: {script}"));
        let writable = self.writable.iter();
        let writable = writable.map(|zone| format!("writing in {}", zone.display()));
        let hosts = self.hosts.iter();
        let hosts = hosts.map(|host| format!("network access to {host}"));
        let scripts = self.scripts.iter();
        let scripts = scripts.map(|script| format!("running this in a cage: {script}"));
        let readable = self.readable.iter();
        let readable =
            readable.map(|path| format!("reading outside the project: {}", path.display()));
        let mut all: Vec<String> = uncaged.chain(writable).chain(hosts).collect();
        all.extend(scripts);
        if self.writable.is_empty() && self.uncaged.is_empty() {
            all.push("reading only".into());
        }
        all.extend(readable);
        all
    }
}
