//! Runs one command without a cage, because somebody who may has said so: bounded, with nothing of
//! the host but what it is given, and gone with all of its process group at the end.
//!
//! What leaves the group (`setsid`) is out of reach here; only a cage can hold it.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until};

use super::group::Group;
use super::{GRACE, LastWord, StartError};
use crate::cage::leash::Pace;
use crate::cage::{How, Leash};

/// How much is read past the limit before the writer counts as one that will not stop.
const SPILL: u64 = 256 << 10;
const CHUNK: usize = 32 << 10;

/// A command and all that it is given. Its input is empty; both outputs are one.
#[derive(Debug, Clone)]
pub struct Bare {
    /// The program, by path or by a name to be found in `PATH`, and what it is told.
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// The whole environment; a later pair beats an earlier one of the same name.
    pub environment: Vec<(OsString, OsString)>,
}

/// What is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareEnd {
    pub how: How,
    /// Whether output was lost.
    pub truncated: bool,
}

/// Runs a command to its end. Output goes to `sink` as it comes. Dropping the future kills the
/// command and its process group; so does every other end.
///
/// Needs a tokio runtime with I/O and time.
pub async fn run_bare(
    command: &Bare,
    leash: &Leash,
    sink: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<BareEnd, StartError> {
    run_with(
        command,
        leash,
        &mut LastWord::default(),
        Stdio::null(),
        sink,
    )
    .await
}

/// The same for a command whose input is a pipe for a last word.
pub async fn run_bare_with_word(
    command: &Bare,
    leash: &Leash,
    word: &mut LastWord,
    sink: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<BareEnd, StartError> {
    let input = word.listen().map_err(StartError::Refused)?;
    run_with(command, leash, word, input.into(), sink).await
}

async fn run_with(
    command: &Bare,
    leash: &Leash,
    word: &mut LastWord,
    input: Stdio,
    sink: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<BareEnd, StartError> {
    let started = Instant::now();
    let (mut group, pipe) = Group::start_bare(command, input)?;
    let pipe = Receiver::from_owned_fd(OwnedFd::from(pipe)).map_err(StartError::Refused)?;
    let mut pipe = Some(pipe);
    let mut bounds = leash.follow();
    let mut now = *bounds.borrow_and_update();
    let mut deadline = started + now.time;
    let mut pace = Pace::default();
    let mut buffer = vec![0; CHUNK];
    let (mut written, mut truncated, mut has_ended) = (0_u64, false, false);
    let mut stopped = None;
    while stopped.is_none() && !(has_ended && pipe.is_none()) {
        let wait = pace.wait();
        tokio::select! {
            count = read(&mut pipe, &mut buffer), if wait.is_none() => {
                if count == 0 {
                    pipe = None;
                    continue;
                }
                pace.took(count, now.pace);
                let room = now.output.saturating_sub(written);
                let kept = count.min(usize::try_from(room).unwrap_or(usize::MAX));
                written += count as u64;
                truncated |= kept < count;
                if kept > 0 {
                    sink(&buffer[..kept]);
                }
                if written > now.output.saturating_add(SPILL) {
                    stopped = Some(How::Flooded);
                }
            }
            () = word.hear() => {}
            () = sleep_until(wait.unwrap_or(started)), if wait.is_some() => {}
            () = group.leader_ended(), if !has_ended => {
                has_ended = true;
                // Others may hold the output: a `tee` writes its last lines, a server does not.
                deadline = deadline.min(Instant::now() + GRACE);
            }
            Ok(()) = bounds.changed() => {
                now = *bounds.borrow_and_update();
                if !has_ended {
                    deadline = started + now.time;
                }
            }
            () = sleep_until(deadline) => {
                if has_ended {
                    break;
                }
                stopped = Some(How::TimedOut);
            }
        }
    }
    let shell = group.kill().await?;
    word.finish();
    let how = stopped.unwrap_or(match shell {
        super::How::Exit(code) => How::Exit(code),
        super::How::Signal(signal) => How::Signal(signal),
        super::How::TimedOut => How::TimedOut,
        super::How::Flooded => How::Flooded,
    });
    Ok(BareEnd { how, truncated })
}

/// How much was read; 0 is the end. A pipe that cannot be read gives nothing more.
async fn read(pipe: &mut Option<Receiver>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
