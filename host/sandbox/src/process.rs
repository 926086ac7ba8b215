//! Runs one shell command for the host, and leaves nothing of it behind.
//!
//! Every process of the host comes through here, so that limits, and later cages, are
//! applied in one place. What the command does is not judged here, only bounded.

#[cfg(target_os = "linux")]
mod bare;
mod group;
#[cfg(target_os = "linux")]
mod last_word;
mod output;
#[cfg(target_os = "linux")]
pub(crate) mod question;

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
pub use bare::{Bare, BareEnd, run_bare, run_bare_with_word};
use group::Group;
#[cfg(target_os = "linux")]
pub(crate) use group::forget_other_files;
#[cfg(target_os = "linux")]
pub use last_word::LastWord;
use output::{Flood, Kept};

/// How long children that outlive the shell may still hold its output open: enough for a
/// `tee` to write its last lines, too short for a person to wait for a forgotten server.
const GRACE: Duration = Duration::from_millis(500);

/// A command and all that it is given. Nothing else is inherited.
#[derive(Debug, Clone)]
pub struct Script {
    /// What `/bin/sh -c` gets.
    pub text: String,
    pub cwd: PathBuf,
    /// The whole environment; a later pair beats an earlier one of the same name.
    pub env: Vec<(OsString, OsString)>,
    /// Shared, since one input often goes to many commands.
    pub stdin: Arc<[u8]>,
    /// Wall time for everything, the grace for children included.
    pub time: Duration,
    /// How many bytes are kept of standard output, and as many of standard error.
    pub max_output: usize,
}

/// How the shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Exit(i32),
    /// A signal that did not come from us.
    Signal(i32),
    /// Killed, because its time was up.
    TimedOut,
    /// Killed, because it would not stop writing.
    Flooded,
}

/// What is left of a command that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether one of the two lost something.
    pub truncated: bool,
    /// Whether others held the output when the shell had ended, and were killed: there may have been
    /// more to come.
    pub held_open: bool,
}

/// Why there is nothing to tell of a command.
#[derive(Debug, Error)]
pub enum StartError {
    #[error("the working directory {cwd} is not there or is no folder")]
    NoDirectory { cwd: PathBuf },
    #[error("/bin/sh does not start: {0}")]
    Refused(#[source] std::io::Error),
    #[error("{program} does not start: {error}")]
    NotStarted {
        program: String,
        #[source]
        error: std::io::Error,
    },
    #[error("something else in this program took the command's exit code: {0}")]
    Lost(#[source] std::io::Error),
}

/// Runs a command to its end. Dropping the future kills the command and its process
/// group; so do the time limit, a flood of output, and children that keep the output
/// open after the shell ended. Children that let go of the output are left in peace:
/// scripts start notifiers that way.
///
/// What leaves the process group (`setsid`) is out of reach; only a cage can hold it.
///
/// Needs a tokio runtime with I/O and time.
pub async fn run(script: Script) -> Result<Ended, StartError> {
    let (mut group, pipes) = Group::start(&script)?;
    let mut stdout = Kept::new(pipes.stdout, script.max_output);
    let mut stderr = Kept::new(pipes.stderr, script.max_output);

    let stop = {
        let ending = until_quiet(&mut group, &mut stdout, &mut stderr);
        let mut ending = pin!(timeout(script.time, ending));
        tokio::select! {
            stop = &mut ending => stop,
            // It may have been read or not: neither ends the command.
            () = feed(pipes.stdin, script.stdin) => ending.await,
        }
    };
    let held_open = matches!(stop, Ok(Stop::HeldOpen));
    let how = match stop {
        Ok(Stop::Quiet) => group.leave()?,
        Ok(Stop::HeldOpen) => group.kill().await?,
        // What the shell itself made of the kill is of no interest.
        Ok(Stop::Flooded) => group.kill().await.map_or(How::Flooded, |_| How::Flooded),
        Err(_elapsed) => group.kill().await.map_or(How::TimedOut, |_| How::TimedOut),
    };
    Ok(Ended {
        how,
        truncated: stdout.is_truncated() || stderr.is_truncated(),
        held_open,
        stdout: stdout.into_bytes(),
        stderr: stderr.into_bytes(),
    })
}

/// Why there is nothing more to wait for.
enum Stop {
    /// The shell ended and nobody writes any more.
    Quiet,
    /// The shell ended, but others hold its output.
    HeldOpen,
    Flooded,
}

async fn until_quiet<O, E>(group: &mut Group, stdout: &mut Kept<O>, stderr: &mut Kept<E>) -> Stop
where
    O: tokio::io::AsyncRead + Unpin,
    E: tokio::io::AsyncRead + Unpin,
{
    let mut reading = pin!(async { tokio::try_join!(stdout.read(), stderr.read()) });
    let read = tokio::select! {
        read = &mut reading => {
            if read.is_ok() {
                group.leader_ended().await;
            }
            Ok(read)
        }
        () = group.leader_ended() => timeout(GRACE, reading).await,
    };
    match read {
        Ok(Ok(_)) => Stop::Quiet,
        Ok(Err(Flood)) => Stop::Flooded,
        Err(_elapsed) => Stop::HeldOpen,
    }
}

/// Writes what the command may read, and closes the pipe. A command that does not read
/// does no wrong: a broken pipe is no error.
async fn feed(mut stdin: ChildStdin, bytes: Arc<[u8]>) {
    let _ = stdin.write_all(&bytes).await;
}

// They look into /proc to see that nothing is left.
#[cfg(all(test, target_os = "linux"))]
mod tests;
