//! `toolbay:host/shell`: commands of the operating system, in a cage.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolbay_contract::{
    CallEnvironment, CommandEnd, CommandExit, CommandRun, HostFailure, NestedAct, NestedDecisions,
    NestedRequest, OnOutput, Progress, Shell,
};
use toolbay_policy::{Outside, is_protected};
use toolbay_shell::Place;

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::shell::{Command, Exit, Finding, Host, Moved, Ran, Report};
use crate::state::{Grade, State};

/// A command that may run once it is decided about.
struct Prepared {
    shell: Arc<dyn Shell>,
    run: CommandRun,
    /// Who decides, and about what; none if the call's own permit covers the script.
    open: Option<Undecided>,
}

/// Who decides about a script, and what is asked.
type Undecided = (Arc<dyn NestedDecisions>, NestedRequest);

impl State {
    /// Checks the command again, whatever the plugin said before, and finds who
    /// runs commands here.
    fn prepare(&self, command: Command, background: bool) -> Result<Prepared, HostFailure> {
        let environment = self.acting("shell.run")?;
        let read_only = self.grade == Grade::ActReadOnly;
        if read_only && !changes_nothing(&command.script) {
            return Err(self.refuse(
                "shell.run",
                "the call claimed to be read-only, and the command is not known to be",
            ));
        }
        let sandboxed = match (&self.grant.outside, command.sandboxed) {
            (Outside::Asked(scripts), false) if scripts.contains(&command.script) => false,
            (Outside::Excluded(scripts), true) if scripts.contains(&command.script) => false,
            (_, true) => true,
            (_, false) => {
                let why = "this call was not permitted to run that outside the cage";
                return Err(self.refuse("shell.run", why));
            }
        };
        if read_only && !sandboxed {
            return Err(self.refuse("shell.run", "a read-only call stays in the cage"));
        }
        let shell = environment.powers.shell.clone().ok_or_else(|| {
            HostFailure::Unavailable("this session has nobody to run commands".into())
        })?;
        let here = &environment.working_directory;
        let folder = command
            .cwd
            .map_or_else(|| here.clone(), |cwd| here.join(cwd));
        let open = self.undecided(
            environment,
            &command.script,
            &folder,
            (sandboxed, background),
        )?;
        let run = CommandRun {
            access: self.grant.access.clone(),
            script: command.script,
            cwd: Some(folder),
            timeout: command
                .timeout_ms
                .map(|ms| Duration::from_millis(ms.into())),
            sandboxed,
            path_rules: environment.path_rules.get(),
            on_output: self.output_sink(environment),
        };
        Ok(Prepared { shell, run, open })
    }

    /// What still has to be decided about a script. One that was decided about with the call, in
    /// the folder that was looked at then, has the call's own permit; any other is decided like a
    /// call of its own, and stays in the cage.
    fn undecided(
        &self,
        environment: &CallEnvironment,
        script: &str,
        folder: &Path,
        (sandboxed, background): (bool, bool),
    ) -> Result<Option<Undecided>, HostFailure> {
        let was_decided = self.grant.scripts.iter().any(|known| known == script);
        if was_decided && folder == environment.working_directory {
            return Ok(None);
        }
        if !sandboxed {
            let why = "only in the session's own folder may that run outside the cage";
            return Err(self.refuse("shell.run", why));
        }
        let Some(decider) = environment.nested.clone() else {
            let why = "nothing in this session can decide about a script of a component";
            return Err(self.refuse("shell.run", why));
        };
        let request = NestedRequest {
            tool: self.plugin.clone(),
            call_id: self.call_id.clone(),
            access: self.grant.access.clone(),
            act: NestedAct::Script {
                text: script.to_owned(),
                folder: folder.to_owned(),
                background,
            },
            kill: self.kill.clone(),
        };
        Ok(Some((decider, request)))
    }

    /// The command with what it may do, once that is decided.
    async fn shell(
        &mut self,
        command: Command,
        background: bool,
    ) -> Result<(Arc<dyn Shell>, CommandRun), HostFailure> {
        let Prepared {
            shell,
            mut run,
            open,
        } = self.prepare(command, background)?;
        let Some((decider, request)) = open else {
            return Ok((shell, run));
        };
        let (kill, clock) = (self.kill.clone(), self.clock.clone());
        let decided = {
            // A user may be asked, and how long one thinks is not the component's time.
            let _paused = clock.pause();
            unless_killed(kill, decider.decide(request)).await
        };
        match decided {
            Ok(permit) => {
                run.access = permit.access().clone();
                // Rules may have come while somebody thought.
                if let Some(environment) = &self.environment {
                    run.path_rules = environment.path_rules.get();
                }
                Ok((shell, run))
            }
            Err(HostFailure::Denied(why)) => Err(self.refuse("shell.run", why)),
            Err(failure) => Err(failure),
        }
    }
}

impl State {
    /// How a script ended, for the guest. Where it did is remembered.
    fn exit(&mut self, exit: CommandExit) -> Exit {
        let folder = exit
            .folder
            .and_then(|folder| folder.into_os_string().into_string().ok());
        self.script_folder = folder;
        Exit {
            code: exit.code,
            stdout: exit.output,
            stderr: exit.remarks.join("\n").into_bytes(),
            truncated: exit.truncated,
        }
    }

    /// Passes output on as progress, within the budget of the call.
    fn output_sink(&self, environment: &CallEnvironment) -> OnOutput {
        let progress = environment.progress.clone();
        let call_id = self.call_id.clone();
        let left = AtomicU64::new(
            self.limits
                .progress_bytes
                .saturating_sub(self.progress.bytes),
        );
        OnOutput(Arc::new(move |bytes| {
            let size = bytes.len() as u64;
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(size)
            });
            match taken {
                Ok(_) => progress(&call_id, Progress::Output(bytes.to_vec())),
                // Told once: then the budget is gone.
                Err(left_over) if left_over > 0 => {
                    left.store(0, Ordering::Relaxed);
                    progress(&call_id, Progress::Dropped);
                }
                Err(_) => {}
            }
        }))
    }
}

/// Whether a script only reads. Where it reads is the policy's question, which was answered
/// before the call got here.
fn changes_nothing(script: &str) -> bool {
    toolbay_shell::inspect(script, &Place::anywhere()).read_only()
}

/// A file inside the roots that is no link and that commands may change, by its real path. What
/// is protected in the cage is protected from what is done in a command's stead.
fn plain_file(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let real = path.canonicalize().ok()?;
    let root = roots.iter().find(|root| real.starts_with(root))?;
    let mut names = real.strip_prefix(root).ok()?.components();
    let is_protected = names.any(|name| is_protected(name.as_os_str()));
    (!is_protected).then_some(real)
}

impl Host for State {
    fn inspect(&mut self, script: String) -> wasmtime::Result<Report> {
        let report = toolbay_shell::inspect(&script, &Place::anywhere());
        let prefix = report.prefix().map(str::to_owned);
        Ok(Report {
            read_only: report.read_only(),
            findings: report
                .findings
                .into_iter()
                .map(|finding| Finding {
                    check: finding.check.number().into(),
                    message: finding.message,
                })
                .collect(),
            prefix,
        })
    }

    fn edits(&mut self, script: String) -> wasmtime::Result<Option<String>> {
        let found = self.environment.as_ref().and_then(|environment| {
            let edit = toolbay_shell::in_place(&script)?;
            let path = environment.working_directory.join(&edit.file);
            plain_file(&path, &environment.roots)
        });
        Ok(found.and_then(|path| path.into_os_string().into_string().ok()))
    }

    fn edited(&mut self, script: String, content: String) -> wasmtime::Result<Option<String>> {
        let edit = toolbay_shell::in_place(&script);
        Ok(edit.and_then(|edit| edit.apply(&content)))
    }

    async fn run(&mut self, command: Command) -> wasmtime::Result<Result<Exit, HostError>> {
        let (shell, run) = match self.shell(command, false).await {
            Ok(found) => found,
            Err(failure) => return Ok(Err(failure.into())),
        };
        self.script_folder = None;
        let exit = unless_killed(self.kill.clone(), shell.run(run)).await;
        Ok(exit.map(|exit| self.exit(exit)).map_err(Into::into))
    }

    async fn run_or_move(&mut self, command: Command) -> wasmtime::Result<Result<Ran, HostError>> {
        let (shell, run) = match self.shell(command, false).await {
            Ok(found) => found,
            Err(failure) => return Ok(Err(failure.into())),
        };
        self.script_folder = None;
        let end = unless_killed(self.kill.clone(), shell.run_or_move(run)).await;
        let ran = end.map(|end| match end {
            CommandEnd::Ended(exit) => Ran::Ended(self.exit(exit)),
            CommandEnd::Moved { id, output } => Ran::Moved(Moved { id, stdout: output }),
        });
        Ok(ran.map_err(Into::into))
    }

    fn ended_in(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.script_folder.clone())
    }

    fn exit_meaning(&mut self, script: String, code: i32) -> wasmtime::Result<Option<String>> {
        let report = toolbay_shell::inspect(&script, &Place::anywhere());
        Ok(toolbay_shell::exit_meaning(&report.commands, code))
    }

    async fn run_in_background(
        &mut self,
        command: Command,
    ) -> wasmtime::Result<Result<String, HostError>> {
        let (shell, run) = match self.shell(command, true).await {
            Ok(found) => found,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let id = unless_killed(self.kill.clone(), shell.run_in_background(run)).await;
        Ok(id.map_err(Into::into))
    }
}
