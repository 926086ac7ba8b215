//! One piece of work in a process of its own, which may compute and nothing else.
//!
//! For work on hostile data that can neither be bounded nor interrupted inside this program, such as
//! compiling a component. The process is this same program, started again. It gets one open file to
//! read and one to write, and gives up everything else before it reads the first byte: files,
//! network, other processes, capabilities. Its memory, its processor time and its output are
//! limited by the kernel. It ends when the future that waits for it is dropped, and when this
//! program ends.
//!
//! It is no cage: a cage runs programs of others, which need files and processes. A worker runs code
//! of ours that needs neither, so that a list of some thirty system calls is all of its walls, and
//! they stand on every kernel that has seccomp.

mod child;
mod filter;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

use crate::cage::Helper;
use crate::process::forget_other_files;

pub use child::worker_if_asked;

/// The first argument that makes a program a worker.
const ASKED: &str = "--toolbay-worker";
/// Exit code of a worker that says why it did not do its work.
const SAID_WHY: i32 = 3;
/// How much is kept of what a worker says.
const MOST_WORDS: usize = 16 << 10;

/// What a worker may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Bytes of memory of its own.
    pub memory: u64,
    /// Bytes of its output.
    pub output: u64,
    /// Processor time of all its threads together; whole seconds.
    pub processor: Duration,
    /// Time on the clock.
    pub time: Duration,
    pub threads: usize,
}

/// A piece of work.
#[derive(Debug)]
pub struct WorkerJob {
    /// Which program has the work; its `main` calls `worker_if_asked` first.
    pub program: Helper,
    /// The name of the work.
    pub task: &'static str,
    /// Read from where it stands.
    pub input: File,
    /// Written from where it stands.
    pub output: File,
    pub limits: WorkerLimits,
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    Done,
    /// It says why the work cannot be done.
    Refused(String),
    OutOfMemory,
    OutOfTime,
    TooMuchOutput,
    /// It broke; what is known of that.
    Broke(String),
}

/// Does the work in a process of its own. When this returns, that process is gone: nobody writes
/// to the output any more. Dropping the future kills the process.
///
/// Needs a tokio runtime with I/O and time.
pub async fn run_worker(job: WorkerJob) -> io::Result<WorkerEnd> {
    let limits = job.limits;
    let mut child = command(job)?.spawn()?;
    let words = child.stderr.take();
    let work = async {
        let (words, status) = tokio::join!(heard(words), child.wait());
        Ok(how_it_ended(status?, &words))
    };
    match tokio::time::timeout(limits.time, work).await {
        Ok(end) => end,
        Err(_elapsed) => {
            child.kill().await?;
            Ok(WorkerEnd::OutOfTime)
        }
    }
}

// The door itself.
#[allow(clippy::disallowed_methods)]
fn command(job: WorkerJob) -> io::Result<Command> {
    let program = match job.program {
        // The file that runs now, even if another one took its name since.
        Helper::ThisProgram => PathBuf::from("/proc/self/exe"),
        Helper::At(path) => path,
    };
    let limits = job.limits;
    let numbers = [
        limits.memory,
        limits.output,
        limits.processor.as_secs().max(1),
    ];
    let mut command = Command::new(program);
    forget_other_files(&mut command);
    command
        .args([ASKED, job.task])
        .args(numbers.map(|number| OsString::from(number.to_string())))
        .env_clear()
        // The pool of threads that compilers of ours use; others have one thread anyway.
        .env("RAYON_NUM_THREADS", limits.threads.max(1).to_string())
        .current_dir("/")
        .stdin(Stdio::from(job.input))
        .stdout(Stdio::from(job.output))
        .stderr(Stdio::piped())
        // A terminal's signals are for the host to judge.
        .process_group(0)
        .kill_on_drop(true);
    Ok(command)
}

/// All that a worker says; the beginning of it is kept.
async fn heard(pipe: Option<ChildStderr>) -> String {
    let Some(mut pipe) = pipe else {
        return String::new();
    };
    let mut kept = Vec::new();
    let mut buffer = vec![0; 4096];
    // What cannot be read says nothing more.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let room = MOST_WORDS.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

fn how_it_ended(status: ExitStatus, words: &str) -> WorkerEnd {
    match (status.code(), status.signal()) {
        (Some(0), _) => WorkerEnd::Done,
        (Some(SAID_WHY), _) => WorkerEnd::Refused(words.to_owned()),
        (_, Some(libc::SIGXFSZ)) => WorkerEnd::TooMuchOutput,
        // The hard limit comes as a plain kill; nobody else kills a worker that is waited for.
        (_, Some(libc::SIGXCPU | libc::SIGKILL)) => WorkerEnd::OutOfTime,
        // Rust's own words; threads that cannot be started for want of memory say the second.
        _ if words.contains("memory allocation of") || words.contains("Cannot allocate memory") => {
            WorkerEnd::OutOfMemory
        }
        _ if words.contains("overflowed its stack") => {
            WorkerEnd::Broke("its call stack overflowed".to_owned())
        }
        (code, signal) => {
            let how = match (code, signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no exit code".to_owned(),
            };
            let mut said = words.lines().filter(|line| !line.starts_with("note: "));
            let last = said.next_back().unwrap_or_default();
            WorkerEnd::Broke(match last {
                "" => how,
                last => format!("{how}: {last}"),
            })
        }
    }
}

#[cfg(test)]
mod tests;
