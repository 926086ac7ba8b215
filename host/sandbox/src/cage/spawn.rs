//! Starts the helper, with the line on which it is told what to do.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use super::plan::{Plan, Step, Walls};
use super::{Cage, CageError};
use crate::helper::ASKED;

/// Where its output goes.
pub(super) struct Outputs {
    pub(super) output: OwnedFd,
    pub(super) errors: OwnedFd,
}

/// The program to start and its arguments, and our end of the line.
pub(super) struct Ready {
    pub(super) command: std::process::Command,
    pub(super) line: UnixStream,
}

// The door itself.
#[allow(clippy::disallowed_methods)]
pub(super) fn prepare(cage: &Cage, plan: &Plan, outputs: Outputs) -> Result<Ready, CageError> {
    use std::os::unix::process::CommandExt;

    let (line, theirs) = UnixStream::pair().map_err(CageError::NoHelper)?;
    let mut command = match plan.walls {
        Walls::Namespaces | Walls::Kernel => {
            let mut command = std::process::Command::new(&cage.helper);
            command.arg(ASKED);
            command
        }
        Walls::Bubblewrap => {
            let program = cage
                .bubblewrap
                .as_ref()
                .ok_or_else(|| CageError::NoHelper(io::ErrorKind::NotFound.into()))?;
            let mut command = std::process::Command::new(program);
            command.args(bubblewrap_arguments(plan));
            command.arg("--").arg(&cage.helper).arg(ASKED);
            command
        }
    };
    command
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(outputs.output))
        .stderr(Stdio::from(outputs.errors))
        // A terminal's signals are for the host to judge.
        .process_group(0);
    Ok(Ready { command, line })
}

/// The same walls in bubblewrap's words.
fn bubblewrap_arguments(plan: &Plan) -> Vec<std::ffi::OsString> {
    let mut all: Vec<std::ffi::OsString> = [
        "--unshare-all",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        "--dev",
        "/dev",
    ]
    .map(Into::into)
    .to_vec();
    for step in &plan.steps {
        let (word, path, twice) = match step {
            Step::Private { at, .. } => ("--tmpfs", at, false),
            Step::Writable(path) => ("--bind", path, true),
            Step::ReadOnly(path) => ("--ro-bind", path, true),
            Step::Hidden(path) if path.path().is_dir() => ("--tmpfs", path, false),
            Step::Hidden(path) => {
                all.extend(["--ro-bind".into(), "/dev/null".into(), path.0.clone()]);
                continue;
            }
        };
        all.push(word.into());
        all.push(path.0.clone());
        if twice {
            all.push(path.0.clone());
        }
        if matches!(step, Step::Hidden(_)) {
            all.extend(["--remount-ro".into(), path.0.clone()]);
        }
    }
    all
}
