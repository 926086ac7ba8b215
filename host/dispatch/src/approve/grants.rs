//! What a yes would grant, in sentences. Computed from the permit that would be enforced, and shown
//! by everybody who asks.

use std::path::PathBuf;

use toolbay_contract::{Shell, ShellWalls};
use toolbay_policy::{Access, Capability, Outside, Permit, Zone, Zones};

/// All that a permit grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantSummary {
    pub access: Access,
    /// What its component gets from now on, in this session.
    pub capabilities: Vec<Capability>,
    /// Folders that do not exist and may be made on the way to a file.
    pub new_folders: Vec<PathBuf>,
    /// What it can read outside the project.
    pub readable: Zones,
    /// What commands of the call can do beyond that.
    pub walls: ShellWalls,
    /// Whether it runs commands in a cage.
    pub runs_commands: bool,
    /// Scripts that nothing holds.
    pub uncaged: Vec<String>,
}

impl GrantSummary {
    /// What a permit grants in a session whose commands are run by this shell.
    pub fn of(permit: &Permit, shell: Option<&dyn Shell>) -> Self {
        let uncaged = match permit.outside() {
            Outside::Nothing => Vec::new(),
            Outside::Asked(scripts) | Outside::Excluded(scripts) => scripts.clone(),
        };
        let mut caged = permit.scripts().iter();
        let runs_commands = caged.any(|script| !uncaged.contains(script));
        let walls = shell.filter(|_| runs_commands);
        Self {
            access: permit.access().clone(),
            capabilities: Vec::new(),
            new_folders: new_folders(permit.access()),
            readable: permit.extra_reads().clone(),
            walls: walls.map_or_else(ShellWalls::default, |shell| shell.walls(permit.access())),
            runs_commands,
            uncaged,
        }
    }

    /// For what grants nothing but to be said or read.
    pub fn reading() -> Self {
        Self {
            access: Access::ReadOnly,
            capabilities: Vec::new(),
            new_folders: Vec::new(),
            readable: Zones::default(),
            walls: ShellWalls::default(),
            runs_commands: false,
            uncaged: Vec::new(),
        }
    }

    /// One sentence for each thing, the gravest first. They hold text of others: whoever shows
    /// them makes it visible first.
    pub fn sentences(&self) -> Vec<String> {
        let uncaged = self.uncaged.iter();
        let mut all: Vec<String> = uncaged
            .map(|script| format!("running this WITHOUT A CAGE: {script}"))
            .collect();
        let lent = self.capabilities.iter();
        all.extend(lent.map(|one| {
            format!(
                "`{one}` to this component as long as the session; its calls are still asked about"
            )
        }));
        match &self.access {
            Access::ReadOnly if !self.capabilities.is_empty() => {}
            Access::ReadOnly if self.uncaged.is_empty() => all.push("reading only".into()),
            Access::ReadOnly => {}
            Access::ReadWrite { zones } => all.extend(zones.iter().map(|zone| match zone {
                Zone::File(_) => format!("writing the file {zone}"),
                Zone::Folder(_) => format!("writing in {zone}, but for protected names"),
            })),
        }
        let folders = self.new_folders.iter();
        all.extend(folders.map(|folder| format!("making the folder {}", folder.display())));
        if self.runs_commands {
            all.push("running its commands in a cage".into());
        }
        let also = self.walls.writable.iter();
        all.extend(also.map(|path| format!("writing in {} by commands", path.display())));
        let hosts = self.walls.hosts.iter();
        all.extend(hosts.map(|host| format!("network access to {host} by commands")));
        let readable = self.readable.iter();
        all.extend(readable.map(|zone| format!("reading outside the project: {zone}")));
        all
    }
}

/// The folders above named files that do not exist.
fn new_folders(access: &Access) -> Vec<PathBuf> {
    let Access::ReadWrite { zones } = access else {
        return Vec::new();
    };
    let files = zones.iter().filter_map(|zone| match zone {
        Zone::File(file) => Some(file),
        Zone::Folder(_) => None,
    });
    let mut all: Vec<PathBuf> = files
        .flat_map(|file| file.ancestors().skip(1))
        .filter(|folder| !folder.exists())
        .map(PathBuf::from)
        .collect();
    all.sort();
    all.dedup();
    all
}
