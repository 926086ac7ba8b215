//! One question to a program that is known to answer at once: without a shell, without input, with
//! an end to its time and its answer.
//!
//! For callers that are not async: what a session's cage is built from is found out before there is
//! a command to wait for.

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often a program is looked at that has closed its output and not ended.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What is started, and with what.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// Absolute: nothing is looked up.
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    /// The whole environment.
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) folder: PathBuf,
    pub(crate) time: Duration,
    pub(crate) most: u64,
}

impl Question<'_> {
    /// What the program printed, if it ended well and in time.
    pub(crate) fn ask(self) -> std::io::Result<Vec<u8>> {
        let deadline = Instant::now() + self.time;
        let most = self.most;
        let mut asked = Asked::start(self)?;
        let output = asked.child.stdout.take();
        let output = output.ok_or_else(|| Error::other("it has no output"))?;
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            let read = output.take(most + 1).read_to_end(&mut bytes);
            let read = read.map(|_| bytes);
            // Nobody listens any more once the time is up.
            let _ = sender.send(read);
        })?;
        let late = || Error::new(ErrorKind::TimedOut, "it came to no answer in time");
        let left = deadline.saturating_duration_since(Instant::now());
        let bytes = receiver.recv_timeout(left).map_err(|_| late())??;
        if bytes.len() as u64 > most {
            let text = format!("its answer is longer than {most} bytes");
            return Err(Error::new(ErrorKind::FileTooLarge, text));
        }
        loop {
            match asked.child.try_wait()? {
                Some(status) if status.success() => return Ok(bytes),
                Some(status) => return Err(Error::other(status.to_string())),
                None if Instant::now() >= deadline => return Err(late()),
                None => thread::sleep(LOOK_AGAIN),
            }
        }
    }
}

/// Dies with its process group when it is dropped before it was waited for.
struct Asked {
    child: Child,
}

impl Asked {
    // This crate is the door to processes.
    #[allow(clippy::disallowed_methods)]
    fn start(question: Question<'_>) -> std::io::Result<Self> {
        let mut command = Command::new(question.program);
        command
            .args(question.arguments)
            .current_dir(question.folder)
            .env_clear()
            .envs(
                question
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.spawn()?;
        Ok(Self { child })
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // One that was waited for has given its number back.
        if let Ok(None) = self.child.try_wait() {
            let number = i32::try_from(self.child.id()).ok();
            if let Some(group) = number.and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn ask(script: &str) -> std::io::Result<Vec<u8>> {
        Question {
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            environment: &[("A".into(), "b".into())],
            folder: "/".into(),
            time: Duration::from_secs(2),
            most: 100,
        }
        .ask()
    }

    #[test]
    fn an_answer_has_an_end_and_a_good_one() {
        for (script, wanted) in [
            ("printf '%s' $A; pwd", Ok("b/\n")),
            ("cat", Ok("")),
            ("echo x; exit 3", Err("exit status: 3")),
            ("cat /dev/zero", Err("longer than 100 bytes")),
            ("echo x; sleep 60", Err("no answer in time")),
            ("sleep 60 & echo x", Err("no answer in time")),
        ] {
            match (ask(script), wanted) {
                (Ok(bytes), Ok(text)) => assert_eq!(bytes, text.as_bytes(), "{script}"),
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "{script}: {error}");
                }
                (found, _) => panic!("{script}: {found:?}"),
            }
        }
    }
}
