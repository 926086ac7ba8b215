//! A helper that stays: it has been started once and forks for each command.
//!
//! Starting a program costs more than the rest of a cage, and the more the larger the
//! program is. The keeper is small, holds nothing, and ends when the cage is dropped or the
//! host dies.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;

use super::plan::{Plan, Walls};
use crate::helper::{ASKED, KEEP};
use crate::kernel::{process, socket};

#[derive(Debug, Default)]
pub(super) struct Keeper(Mutex<Option<Running>>);

#[derive(Debug)]
struct Running {
    child: Child,
    line: UnixStream,
}

impl Keeper {
    /// Asks for a helper whose input, output and errors are the given files; the fourth, if
    /// there is one, is for its command to read.
    pub(super) fn ask(
        &self,
        program: &Path,
        plan: &Plan,
        files: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let kind = match (plan.walls, plan.owner) {
            (Walls::Namespaces, None) => socket::Kind::Spare,
            // A spare has its user already.
            (Walls::Namespaces | Walls::Bubblewrap | Walls::Kernel, _) => socket::Kind::Plain,
        };
        // What is in there is whole, or was not stored.
        let mut running = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(keeper) = &*running
            && socket::send_files(keeper.line.as_fd(), kind, files).is_ok()
        {
            return Ok(());
        }
        // There was none, or somebody killed it.
        let keeper = running.insert(Running::start(program)?);
        socket::send_files(keeper.line.as_fd(), kind, files)
    }
}

impl Running {
    // The door itself.
    #[allow(clippy::disallowed_methods)]
    fn start(program: &Path) -> io::Result<Self> {
        let (line, theirs) = UnixStream::pair()?;
        let mut command = std::process::Command::new(program);
        command
            .args([ASKED, KEEP])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A terminal's signals are for the host to judge, and its keys for the user's programs alone.
        process::start_without_terminal(&mut command);
        let child = command.spawn()?;
        Ok(Self { child, line })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It ends by itself when the line is closed; this only makes sure that it is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
