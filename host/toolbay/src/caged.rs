//! Runs the commands of a session, each in a cage.
//!
//! What a call was granted decides the cage: a read-only call gets one that cannot write and has
//! no network. The cage is chosen and the project looked through when the first command runs,
//! since most sessions start without one.

pub mod closed;
mod git;
mod hooks;
mod job;
mod judged;
mod output;
mod refusals;
mod runner;
mod script;
mod tasks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use toolbay_contract::{
    CommandEnd, CommandExit, CommandRun, HostFailure, PowerFuture, Shell, ShellWalls,
};
use toolbay_policy::{Access, Zone};
use toolbay_sandbox::cage::{
    self, Bounds, CageZone, Command, Demands, Enclosure, GitAccess, Hosts, Limits, Paths, Profile,
    Programs, ProtectedNames, Streams, Strength,
};
use toolbay_sandbox::process::Bare;

pub use hooks::CagedHooks;
pub use script::ShellKind;
pub use tasks::TaskTable;
pub use toolbay_sandbox::cage::Helper;

use job::{End, Job, Listener};
use runner::{Ending, Runner, meaning};

/// What a command has unless it says otherwise, and at most.
const USUAL_TIME: Duration = Duration::from_secs(120);
const MOST_TIME: Duration = Duration::from_secs(600);
/// What is kept of a command's output. A result is cut to far less; the rest goes to a file.
const MOST_OUTPUT: u64 = 8 << 20;
/// How long a command may keep a session waiting that could go on meanwhile.
pub const USUAL_PATIENCE: Duration = Duration::from_secs(15);

/// What cages of a session are made from.
#[derive(Debug, Clone)]
pub struct CageSetting {
    pub roots: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    /// Our own state, cache and settings.
    pub own: Vec<PathBuf>,
    /// Who builds the walls.
    pub helper: Helper,
    pub sandbox: Sandbox,
    /// After how long a command becomes a task; never in a session that ends with its call.
    pub move_after: Option<Duration>,
    /// The variables of the host, of which commands see few.
    pub environment: Vec<(OsString, OsString)>,
}

/// Settings of the cage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// A degraded cage will do where there is no full one.
    pub degraded_will_do: bool,
    pub allow_write: Vec<PathBuf>,
    pub allow_read: Vec<PathBuf>,
    pub deny_read: Vec<PathBuf>,
    /// Every command may commit, branch and the like, not only git itself.
    pub git_writes: bool,
    /// Hosts that commands may reach, unless they only read.
    pub allowed_hosts: Vec<String>,
    pub denied_hosts: Vec<String>,
    /// After how long a command becomes a task, where settings say so; zero is never.
    pub background_after: Option<Duration>,
    pub shell: ShellKind,
    /// The owner of the machine wants every command in a cage.
    pub never_outside: bool,
}

impl Sandbox {
    /// After how long a command becomes a task in a session that goes on after the call.
    pub fn patience(&self) -> Option<Duration> {
        let after = self.background_after.unwrap_or(USUAL_PATIENCE);
        (!after.is_zero()).then_some(after)
    }
}

/// Runs commands in cages.
pub struct Caged {
    setting: CageSetting,
    enclosure: OnceCell<Enclosure>,
    tasks: Arc<TaskTable>,
}

impl Caged {
    pub fn new(setting: CageSetting, tasks: Arc<TaskTable>) -> Self {
        Self {
            setting,
            enclosure: OnceCell::new(),
            tasks,
        }
    }

    /// Finds a cage before somebody waits for it. Why there is none is told to whoever needs it.
    pub async fn warm(&self) {
        let _ = self.enclosure().await;
    }

    async fn enclosure(&self) -> Result<&Enclosure, HostFailure> {
        self.enclosure
            .get_or_try_init(|| async {
                let setting = self.setting.clone();
                let built =
                    tokio::task::spawn_blocking(move || enclose(&setting, Extra::default())).await;
                let built = built.map_err(|error| HostFailure::Failed(error.to_string()))?;
                built.map_err(HostFailure::Unavailable)
            })
            .await
    }

    /// The command, ready to run.
    async fn prepare(
        &self,
        run: &CommandRun,
        arguments: Vec<OsString>,
    ) -> Result<Runner, HostFailure> {
        self.check_shell()?;
        let mut environment = cage::allowed(self.setting.environment.iter().cloned());
        let folder = run
            .cwd
            .clone()
            .unwrap_or_else(|| self.setting.roots[0].clone());
        if !run.sandboxed {
            if run.is_read_only() || self.setting.sandbox.never_outside {
                return Err(HostFailure::Denied("it must run in a cage".into()));
            }
            let command = Bare {
                arguments,
                folder,
                environment,
            };
            return Ok(Runner::Bare(command, self.enclosure.get().cloned()));
        }
        let enclosure = self.enclosure().await?;
        let enclosure = self.closing(enclosure, run).await?;
        let programs = match run.is_read_only() || judged::by_its_words(&run.script) {
            true => Programs::Judged,
            false => Programs::Any,
        };
        if programs == Programs::Judged {
            let quiet = toolbay_shell::QUIET.iter();
            environment.extend(quiet.map(|(name, value)| (name.into(), value.into())));
        }
        let git_writes = self.setting.sandbox.git_writes || git::is_all_it_writes(&run.script);
        let git = match git_writes {
            true => GitAccess::Writes,
            false => GitAccess::ReadOnly,
        };
        let command = Command {
            arguments,
            folder,
            environment,
            profile: match run.is_read_only() {
                true => Profile::ReadOnly,
                false => Profile::Workspace { git },
            },
            programs,
            hosts: self.hosts(run.is_read_only())?,
            // Those of time and output are held by whoever runs it.
            limits: Limits::default(),
            streams: Streams::Together,
        };
        Ok(Runner::Caged(enclosure, command))
    }

    /// A shell that settings want and that is not here is no reason to take another.
    fn check_shell(&self) -> Result<(), HostFailure> {
        let shell = self.setting.sandbox.shell;
        let mut variables = self.setting.environment.iter();
        let path = variables.rfind(|(name, _)| name == "PATH");
        // Where the system looks without one.
        let path = path.map_or("/usr/local/bin:/usr/bin:/bin".into(), |(_, value)| {
            value.clone()
        });
        let is_there = std::env::split_paths(&path)
            .any(|folder| folder.is_absolute() && folder.join(shell.program()).is_file());
        match (shell, is_there) {
            (ShellKind::Bash, _) | (ShellKind::Zsh, true) => Ok(()),
            (ShellKind::Zsh, false) => Err(HostFailure::Unavailable(
                "the settings want commands run by zsh (`sandbox.shell`), and no `zsh` is \
                 installed on the PATH; install it, or take that key out"
                    .into(),
            )),
        }
    }

    /// Closes what rules close to the call, as the project is now.
    async fn closing(
        &self,
        enclosure: &Enclosure,
        run: &CommandRun,
    ) -> Result<Enclosure, HostFailure> {
        let rules = run.path_rules.clone();
        let roots = self.setting.roots.clone();
        let narrower = narrower(&run.access, &roots);
        let enclosure = enclosure.clone();
        let looking = tokio::task::spawn_blocking(move || {
            let closed = closed::by(&rules, &roots)?;
            let closing = enclosure.closing(&closed);
            let closing = closing.map_err(|error| error.to_string())?;
            match narrower {
                Some(zones) => closing.narrowed(&zones).map_err(|error| error.to_string()),
                None => Ok(closing),
            }
        });
        let looked = looking.await;
        let looked = looked.map_err(|error| HostFailure::Failed(error.to_string()))?;
        looked.map_err(HostFailure::Failed)
    }

    /// What may be reached: a call that only reads could still tell others what it has read.
    fn hosts(&self, read_only: bool) -> Result<Hosts, HostFailure> {
        if read_only {
            return Ok(Hosts::default());
        }
        let Sandbox {
            allowed_hosts,
            denied_hosts,
            ..
        } = &self.setting.sandbox;
        let allowed = allowed_hosts.iter().map(String::as_str);
        let denied = denied_hosts.iter().map(String::as_str);
        Hosts::new(allowed, denied)
            .map_err(|error| HostFailure::Failed(format!("`sandbox` in the settings: {error}")))
    }

    /// Runs a command, and waits for its end or until it becomes a task. Whoever drops the future
    /// kills the command, unless it has become one.
    async fn run_and_wait(
        &self,
        run: CommandRun,
        move_after: Option<Duration>,
    ) -> Result<CommandEnd, HostFailure> {
        let time = run.timeout.unwrap_or(USUAL_TIME).min(MOST_TIME);
        let arguments = script::reporting(self.setting.sandbox.shell, &run.script);
        let runner = self.prepare(&run, arguments).await?;
        let read_only = run.is_read_only();
        let walls = match &runner {
            Runner::Caged(enclosure, command) => {
                Some((command.folder.clone(), enclosure.unreadable()))
            }
            Runner::Bare(..) => None,
        };
        let bounds = Bounds {
            time,
            output: MOST_OUTPUT,
            pace: None,
        };
        let listener = Listener::Call {
            output: Vec::new(),
            also: run.on_output,
        };
        let mut job = Job::start(runner, bounds, Ending::Reported, listener);
        if let Some(after) = move_after.filter(|after| *after < time) {
            let waited = tokio::time::timeout(after, job.ended()).await;
            if waited.is_err() && job.end().is_none() {
                // Its own limit of time still holds; the usual one was for those who wait.
                let time = run.timeout.map(|time| time.min(MOST_TIME));
                job = match self.tasks.adopt(run.script, job, time) {
                    Ok((id, output)) => return Ok(CommandEnd::Moved { id, output }),
                    // So many run already that this one is waited for.
                    Err(job) => job,
                };
            }
        }
        let Some(End { finished, .. }) = job.ended().await else {
            return Err(HostFailure::Cancelled);
        };
        let finished = finished.map_err(HostFailure::Failed)?;
        let output = job.said();
        let (code, why) = meaning(finished.how, Some(time));
        let mut remarks: Vec<String> = why.into_iter().chain(finished.remarks).collect();
        if let Some((folder, closed)) = &walls
            && code != 0
        {
            let walls = refusals::Walls {
                read_only,
                folder,
                closed,
                has_hosts: !self.setting.sandbox.allowed_hosts.is_empty(),
            };
            remarks.extend(refusals::explain(&output, &walls));
        }
        Ok(CommandEnd::Ended(CommandExit {
            code,
            output,
            remarks,
            truncated: finished.truncated,
            folder: finished.folder.filter(|folder| self.is_inside(folder)),
        }))
    }

    fn is_inside(&self, folder: &Path) -> bool {
        self.setting
            .roots
            .iter()
            .any(|root| folder.starts_with(root))
    }
}

impl Shell for Caged {
    fn walls(&self, access: &Access) -> ShellWalls {
        match access {
            Access::ReadOnly => ShellWalls::default(),
            Access::ReadWrite { .. } => ShellWalls {
                writable: match narrower(access, &self.setting.roots) {
                    Some(_) => Vec::new(),
                    None => self.setting.sandbox.allow_write.clone(),
                },
                hosts: self.setting.sandbox.allowed_hosts.clone(),
            },
        }
    }

    fn run(&self, command: CommandRun) -> PowerFuture<'_, CommandExit> {
        Box::pin(async move {
            match self.run_and_wait(command, None).await? {
                CommandEnd::Ended(exit) => Ok(exit),
                CommandEnd::Moved { .. } => Err(HostFailure::Cancelled),
            }
        })
    }

    fn run_or_move(&self, command: CommandRun) -> PowerFuture<'_, CommandEnd> {
        Box::pin(self.run_and_wait(command, self.setting.move_after))
    }

    fn run_in_background(&self, command: CommandRun) -> PowerFuture<'_, String> {
        Box::pin(async move {
            // Where a task ends is nobody's folder: it needs no mark in its output.
            let arguments = self.setting.sandbox.shell.plainly(&command.script);
            let runner = self.prepare(&command, arguments).await?;
            self.tasks.start(command.script, runner)
        })
    }
}

/// The zones of a call that may write less than the roots: its commands write there and nowhere
/// else. None for a call that may write in all of them.
fn narrower(access: &Access, roots: &[PathBuf]) -> Option<Vec<CageZone>> {
    let zones = match access {
        Access::ReadOnly => return None,
        Access::ReadWrite { zones } => zones,
    };
    let is_whole = |root: &PathBuf| zones.iter().any(|zone| *zone == Zone::Folder(root.clone()));
    if roots.iter().all(is_whole) {
        return None;
    }
    // What cannot be there is not opened: less than was permitted, never more.
    let is_there = |zone: &&Zone| match zone {
        Zone::File(file) => file.parent().is_some_and(Path::is_dir),
        Zone::Folder(folder) => folder.is_dir(),
    };
    let inside = |zone: &&Zone| roots.iter().any(|root| zone.path().starts_with(root));
    let zones = zones.iter().filter(inside).filter(is_there);
    let zones = zones.map(|zone| match zone {
        Zone::File(file) => CageZone::File(file.clone()),
        Zone::Folder(folder) => CageZone::Folder(folder.clone()),
    });
    Some(zones.collect())
}

/// What a cage has beside what all cages of a session have.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Folders of the command's own.
    pub(crate) own: Vec<PathBuf>,
    /// Closed to writing, but for those.
    pub(crate) protect: Vec<PathBuf>,
    pub(crate) deny_read: Vec<PathBuf>,
}

/// Finds the strongest cage of this machine, and fixes the paths of the session. The error says
/// why there is none.
pub(crate) fn enclose(setting: &CageSetting, extra: Extra) -> Result<Enclosure, String> {
    let sandbox = &setting.sandbox;
    let demands = Demands {
        least: match sandbox.degraded_will_do {
            true => Strength::Degraded,
            false => Strength::Full,
        },
        helper: setting.helper.clone(),
        ..Demands::default()
    };
    let cage = cage::choose(&demands).map_err(|why| {
        format!(
            "this machine has no cage to run commands in: {why}; `toolbay doctor` says more, and \
             `\"sandbox\": {{\"degraded\": true}}` in the settings accepts a weaker one"
        )
    })?;
    let homes = cage::user_homes(setting.home.as_deref(), &setting.roots);
    let mut deny_read = secrets(&homes);
    deny_read.extend(sandbox.deny_read.iter().cloned());
    deny_read.extend(setting.own.iter().cloned());
    deny_read.extend(extra.deny_read);
    let mut protect = extra.protect;
    protect.extend(homes.iter().flat_map(|home| cage::home_controls(home)));
    let paths = Paths {
        roots: setting.roots.clone(),
        // What is not there cannot be written to; a command that needs it says so itself.
        write: sandbox
            .allow_write
            .iter()
            .filter(|path| path.exists())
            .cloned()
            .collect(),
        own: extra.own,
        read: sandbox.allow_read.clone(),
        protect,
        names: protected(),
        deny_read,
        environment: setting.environment.clone(),
    };
    cage.around(&paths).map_err(|error| error.to_string())
}

/// Secrets of the machine and of these homes.
pub fn secrets(homes: &[PathBuf]) -> Vec<PathBuf> {
    let in_homes = homes.iter().flat_map(|home| cage::secrets(Some(home)));
    let mut all: Vec<PathBuf> = cage::secrets(None).into_iter().chain(in_homes).collect();
    all.sort();
    all.dedup();
    all
}

/// The one list of protected names, as cages take it.
pub fn protected() -> ProtectedNames {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ProtectedNames {
        always: owned(toolbay_policy::protected_names()),
        but_for_git: owned(toolbay_policy::ci_names()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_machine_and_of_every_home_are_closed_once() {
        let homes = ["/home/a", "/root", "/home/a"].map(PathBuf::from);
        let closed = secrets(&homes);
        for path in ["/home/a/.ssh", "/root/.ssh", "/root/.aws", "/etc/shadow"] {
            let count = closed.iter().filter(|one| *one == Path::new(path)).count();
            assert_eq!(count, 1, "{path}");
        }
    }

    /// The home of whoever runs this, by the password database, is not the one of the setting.
    #[test]
    fn keys_in_the_users_own_home_are_closed_whatever_home_is_named() {
        let Some(own) = cage::user_homes(None, &[]).pop() else {
            return;
        };
        let named = Path::new("/home/named");
        let homes = cage::user_homes(Some(named), &[]);
        let closed = secrets(&homes);
        for home in [own.as_path(), named] {
            assert!(closed.contains(&home.join(".ssh")), "{}", home.display());
        }
    }
}
