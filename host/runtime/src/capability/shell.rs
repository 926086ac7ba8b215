//! `toolbay:host/shell`: commands of the operating system, in a cage.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolbay_contract::{CallEnvironment, CommandRun, HostFailure, OnOutput, Progress};
use toolbay_shell::Place;

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::shell::{Command, Exit, Finding, Host, Report};
use crate::state::{Grade, State};

impl State {
    /// Checks the command again, whatever the plugin said before, and finds who
    /// runs commands here.
    fn shell(
        &self,
        command: Command,
    ) -> Result<(std::sync::Arc<dyn toolbay_contract::Shell>, CommandRun), HostFailure> {
        let environment = self.acting("shell.run")?;
        let read_only = self.grade == Grade::ActReadOnly;
        if read_only && !changes_nothing(&command.script) {
            return Err(self.refuse(
                "shell.run",
                "the call claimed to be read-only, and the command is not known to be",
            ));
        }
        if read_only && !command.sandboxed {
            return Err(self.refuse("shell.run", "a read-only call stays in the cage"));
        }
        let shell = environment.powers.shell.clone().ok_or_else(|| {
            HostFailure::Unavailable("this session has nobody to run commands".into())
        })?;
        let run = CommandRun {
            script: command.script,
            cwd: command.cwd.map(Into::into),
            timeout: command
                .timeout_ms
                .map(|ms| Duration::from_millis(ms.into())),
            sandboxed: command.sandboxed,
            read_only,
            path_rules: environment.path_rules.clone(),
            on_output: self.output_sink(environment),
        };
        Ok((shell, run))
    }
}

impl State {
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

    async fn run(&mut self, command: Command) -> wasmtime::Result<Result<Exit, HostError>> {
        let (shell, run) = match self.shell(command) {
            Ok(found) => found,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let exit = unless_killed(self.kill.clone(), shell.run(run)).await;
        self.script_folder = None;
        Ok(exit
            .map(|exit| {
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
            })
            .map_err(Into::into))
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
        let (shell, run) = match self.shell(command) {
            Ok(found) => found,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let id = unless_killed(self.kill.clone(), shell.run_in_background(run)).await;
        Ok(id.map_err(Into::into))
    }
}
