//! A shell in a process group of its own, and the end of that group.
//!
//! The group carries the shell's process id, which the kernel may give away again once
//! the shell is waited for. So its end is first seen without waiting for it, then the
//! group is killed, and only then the shell is waited for: no kill hits a stranger.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::{How, Script, StartError};

/// How long a killed shell may take to go. The kernel needs microseconds, unless a
/// device or a network file system holds the process; then the runtime reaps it later.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// How often a shell is looked at when the runtime no longer tells of ended children.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// Dies when it is dropped, unless it was left.
pub(super) struct Group {
    leader: Pid,
    /// The runtime reaps it if we could not.
    child: Child,
    children_end: Signals,
    is_over: bool,
}

impl Group {
    pub(super) fn start(script: &Script) -> Result<(Self, Pipes), StartError> {
        // Before the start, so that no end goes unseen.
        let children_end = signal(SignalKind::child()).map_err(StartError::Refused)?;
        let mut child = spawn(script)?;
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(leader), (Some(stdin), Some(stdout), Some(stderr))) = (leader, pipes) else {
            // A fresh child has both; were it ever otherwise, nothing may run on.
            let _ = child.start_kill();
            return Err(StartError::Refused(io::Error::other(
                "a fresh child has no process id or no pipes",
            )));
        };
        let group = Self {
            leader,
            child,
            children_end,
            is_over: false,
        };
        let pipes = Pipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((group, pipes))
    }

    /// The same for a command that gets no input, and whose outputs are one.
    #[cfg(target_os = "linux")]
    pub(super) fn start_bare(
        command: &super::bare::Bare,
        input: Stdio,
    ) -> Result<(Self, io::PipeReader), StartError> {
        let children_end = signal(SignalKind::child()).map_err(StartError::Refused)?;
        let (mut child, output) = spawn_bare(command, input)?;
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let Some(leader) = leader else {
            let _ = child.start_kill();
            return Err(StartError::Refused(io::Error::other(
                "a fresh child has no process id",
            )));
        };
        let group = Self {
            leader,
            child,
            children_end,
            is_over: false,
        };
        Ok((group, output))
    }

    /// Waits until the shell has ended, and leaves its process id taken.
    pub(super) async fn leader_ended(&mut self) {
        while !self.has_ended() {
            if self.children_end.recv().await.is_none() {
                sleep(LOOK_AGAIN).await;
            }
        }
    }

    /// The shell ended; what else is in its group may live on.
    pub(super) fn leave(mut self) -> Result<How, StartError> {
        let how = self.reap();
        self.is_over = true;
        match how? {
            Some(status) => Ok(how_it_ended(status)),
            None => Err(StartError::Lost(io::Error::other("it has not ended"))),
        }
    }

    /// Kills the whole group. Tells how the shell ended, which may have been before.
    pub(super) async fn kill(mut self) -> Result<How, StartError> {
        self.kill_now();
        // Should it not go in time, dropping it hands it to the runtime.
        let _ = timeout(LAST_BREATH, self.leader_ended()).await;
        let how = self.reap();
        self.is_over = true;
        Ok(how?.map_or(How::Signal(Signal::KILL.as_raw()), how_it_ended))
    }

    fn kill_now(&mut self) {
        // Both only fail where there is nothing left to kill. The shell itself is named
        // too, because it may have moved to another group.
        let _ = kill_process_group(self.leader, Signal::KILL);
        let _ = self.child.start_kill();
    }

    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.leader), look) {
            Ok(ended) => ended.is_some(),
            // Somebody else waited for it.
            Err(error) => error == rustix::io::Errno::CHILD,
        }
    }

    fn reap(&mut self) -> Result<Option<ExitStatus>, StartError> {
        self.child.try_wait().map_err(StartError::Lost)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill_now();
        }
    }
}

// The door itself.
#[allow(clippy::disallowed_methods)]
fn spawn(script: &Script) -> Result<Child, StartError> {
    if !script.cwd.is_dir() {
        // The system would only say that something is not there.
        return Err(StartError::NoDirectory {
            cwd: script.cwd.clone(),
        });
    }
    let mut command = Command::new("/bin/sh");
    forget_other_files(&mut command);
    command
        .arg("-c")
        .arg(&script.text)
        .current_dir(&script.cwd)
        .env_clear()
        .envs(script.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(StartError::Refused)
}

#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods)]
fn spawn_bare(
    command: &super::bare::Bare,
    input: Stdio,
) -> Result<(Child, io::PipeReader), StartError> {
    if !command.folder.is_dir() {
        return Err(StartError::NoDirectory {
            cwd: command.folder.clone(),
        });
    }
    let [program, arguments @ ..] = command.arguments.as_slice() else {
        return Err(StartError::Refused(io::ErrorKind::InvalidInput.into()));
    };
    let (output, writer) = io::pipe().map_err(StartError::Refused)?;
    let errors = writer.try_clone().map_err(StartError::Refused)?;
    let environment = command.environment.iter();
    let mut child = Command::new(program);
    forget_other_files(&mut child);
    let child = child
        .args(arguments)
        .current_dir(&command.folder)
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .stdin(input)
        .stdout(writer)
        .stderr(errors)
        .process_group(0)
        .spawn();
    let child = child.map_err(|error| StartError::NotStarted {
        program: program.display().to_string(),
        error,
    })?;
    Ok((child, output))
}

/// Nothing that this program has open is for its commands: not even what it was given open by
/// whoever started it, and what a library forgot to mark.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(crate) fn forget_other_files(command: &mut Command) {
    // SAFETY: between fork and exec it makes one system call, which takes no locks and no memory.
    unsafe {
        command.pre_exec(|| crate::kernel::process::close_from(3));
    }
}

#[cfg(not(target_os = "linux"))]
fn forget_other_files(_: &mut Command) {}

fn how_it_ended(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exit(code),
        (None, Some(signal)) => How::Signal(signal),
        // Neither stopped nor continued children are waited for.
        (None, None) => How::Exit(-1),
    }
}
