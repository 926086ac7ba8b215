//! Runs the commands of a session, each in a cage.
//!
//! What a call was granted decides the cage: a read-only call gets one that cannot write and has
//! no network. The cage is chosen and the project looked through when the first command runs,
//! since most sessions start without one.

mod closed;
mod git;
mod refusals;
mod script;
mod tasks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use toolbay_contract::{CommandExit, CommandRun, HostFailure, PowerFuture, Shell};
use toolbay_sandbox::cage::{
    self, Command, Demands, Enclosure, GitAccess, Hosts, How, Limits, Paths, Profile, Streams,
    Strength,
};

pub use tasks::TaskTable;
pub use toolbay_sandbox::cage::Helper;

use script::Script;

/// What a command has unless it says otherwise, and at most.
const USUAL_TIME: Duration = Duration::from_secs(120);
const MOST_TIME: Duration = Duration::from_secs(600);
/// A task in the background ends with its session; this is for one that nobody ends.
const TASK_TIME: Duration = Duration::from_secs(24 * 3600);
/// What is kept of a command's output. A result is cut to far less; the rest goes to a file.
const MOST_OUTPUT: u64 = 8 << 20;

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

    async fn enclosure(&self) -> Result<&Enclosure, HostFailure> {
        self.enclosure
            .get_or_try_init(|| async {
                let setting = self.setting.clone();
                let built = tokio::task::spawn_blocking(move || enclose(&setting)).await;
                let built = built.map_err(|error| HostFailure::Failed(error.to_string()))?;
                built.map_err(HostFailure::Unavailable)
            })
            .await
    }

    /// The cage and the command for it.
    async fn prepare(
        &self,
        run: &CommandRun,
        time: Duration,
    ) -> Result<(Enclosure, Command, Script), HostFailure> {
        if !run.sandboxed {
            return Err(HostFailure::Denied(
                "commands run in a cage only; change what the cage allows in the settings \
                 (`sandbox`) instead"
                    .into(),
            ));
        }
        let enclosure = self.enclosure().await?;
        let enclosure = self.closing(enclosure, run).await?;
        let script = Script::new(&run.script)?;
        let mut environment = cage::allowed(self.setting.environment.iter().cloned());
        if run.read_only {
            let quiet = toolbay_shell::QUIET.iter();
            environment.extend(quiet.map(|(name, value)| (name.into(), value.into())));
        }
        let git_writes = self.setting.sandbox.git_writes || git::is_all_it_writes(&run.script);
        let git = match git_writes {
            true => GitAccess::Writes,
            false => GitAccess::ReadOnly,
        };
        let command = Command {
            arguments: script.arguments(),
            folder: run
                .cwd
                .clone()
                .unwrap_or_else(|| self.setting.roots[0].clone()),
            environment,
            profile: match run.read_only {
                true => Profile::ReadOnly,
                false => Profile::Workspace { git },
            },
            hosts: self.hosts(run.read_only)?,
            limits: Limits {
                time,
                output: MOST_OUTPUT,
                ..Limits::default()
            },
            streams: Streams::Together,
        };
        Ok((enclosure, command, script))
    }

    /// Closes what rules close to the call, as the project is now.
    async fn closing(
        &self,
        enclosure: &Enclosure,
        run: &CommandRun,
    ) -> Result<Enclosure, HostFailure> {
        let rules = run.path_rules.clone();
        let roots = self.setting.roots.clone();
        let looking = tokio::task::spawn_blocking(move || closed::by(&rules, &roots));
        let closed = looking
            .await
            .map_err(|error| HostFailure::Failed(error.to_string()))?
            .map_err(HostFailure::Failed)?;
        let closing = enclosure.closing(&closed);
        closing.map_err(|error| HostFailure::Failed(error.to_string()))
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

    async fn run_to_its_end(&self, run: CommandRun) -> Result<CommandExit, HostFailure> {
        let time = run.timeout.unwrap_or(USUAL_TIME).min(MOST_TIME);
        let (enclosure, command, script) = self.prepare(&run, time).await?;
        let mut output = Vec::new();
        let ended = enclosure
            .run(&command, &mut |_, bytes| {
                output.extend_from_slice(bytes);
                let shown = script.without_mark(bytes);
                if !shown.is_empty() {
                    (run.on_output.0)(shown);
                }
            })
            .await
            .map_err(|error| HostFailure::Failed(error.to_string()))?;
        let folder = script.take_mark(&mut output);
        let folder = folder.filter(|folder| self.is_inside(folder));
        let (code, why) = meaning(ended.how, time);
        let mut remarks: Vec<String> = why.into_iter().collect();
        remarks.extend(
            ended
                .refused
                .iter()
                .map(|refused| format!("The cage refused: {refused}")),
        );
        if code != 0 {
            let walls = refusals::Walls {
                read_only: run.read_only,
                folder: &command.folder,
                closed: &enclosure.unreadable(),
                has_hosts: !self.setting.sandbox.allowed_hosts.is_empty(),
            };
            remarks.extend(refusals::explain(&output, &walls));
        }
        if ended.strength == Strength::Degraded {
            remarks
                .push("This ran in a degraded cage; `toolbay doctor` says what it lacks.".into());
        }
        Ok(CommandExit {
            code,
            output,
            remarks,
            truncated: ended.truncated,
            folder,
        })
    }

    fn is_inside(&self, folder: &Path) -> bool {
        self.setting
            .roots
            .iter()
            .any(|root| folder.starts_with(root))
    }
}

impl Shell for Caged {
    fn run(&self, command: CommandRun) -> PowerFuture<'_, CommandExit> {
        Box::pin(self.run_to_its_end(command))
    }

    fn run_in_background(&self, command: CommandRun) -> PowerFuture<'_, String> {
        Box::pin(async move {
            let (enclosure, mut prepared, _) = self.prepare(&command, TASK_TIME).await?;
            // Where a task ends is nobody's folder: it needs no mark in its output.
            prepared.arguments = ["bash", "-c", &command.script].map(OsString::from).into();
            self.tasks.start(enclosure, prepared)
        })
    }
}

/// An exit code as shells have it, and what else there is to say.
fn meaning(how: How, time: Duration) -> (i32, Option<String>) {
    match how {
        How::Exit(code) => (code, None),
        How::Signal(signal) => (128 + signal, Some(format!("A signal ended it: {signal}."))),
        How::TimedOut => {
            let limit = format!(
                "It was ended after {} s, its time limit.",
                time.as_secs_f32()
            );
            (124, Some(limit))
        }
        How::Flooded => (
            137,
            Some("It was ended because it would not stop writing.".into()),
        ),
        How::OutOfMemory => (
            137,
            Some("It was ended because it used too much memory.".into()),
        ),
        How::TooManyProcesses => (
            137,
            Some("It was ended because it started too many processes.".into()),
        ),
    }
}

/// Finds the strongest cage of this machine, and fixes the paths of the session. The error says
/// why there is none.
pub(crate) fn enclose(setting: &CageSetting) -> Result<Enclosure, String> {
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
    let mut deny_read = cage::secrets(setting.home.as_deref());
    deny_read.extend(sandbox.deny_read.iter().cloned());
    deny_read.extend(setting.own.iter().cloned());
    let mut protect = Vec::new();
    if let Some(home) = &setting.home {
        protect.extend(cage::home_controls(home));
    }
    let paths = Paths {
        roots: setting.roots.clone(),
        write: sandbox.allow_write.clone(),
        read: sandbox.allow_read.clone(),
        protect,
        deny_read,
    };
    cage.around(&paths).map_err(|error| error.to_string())
}
