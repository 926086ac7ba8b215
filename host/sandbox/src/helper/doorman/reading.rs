//! Opening files and folders to read them, where something is closed to reading.
//!
//! A mount over what is closed goes away when another process replaces it, and covers nothing that
//! is made later. Landlock cannot help: it refuses to start what it refuses to read. So none of
//! these calls goes on by itself: each file is held, judged by where it lies, and opened by the
//! handle that was judged. What the process changes meanwhile changes nothing.

use std::io::Error;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::opening::{PASSED, Request, reopened};
use super::{Caller, Doorman, Step, failed, is};
use crate::cage::plan::Walls;
use crate::helper::follow::{self, Held, LastLink};
use crate::helper::resolve;
use crate::kernel::open;
use crate::kernel::seccomp::{self, Answer};

/// So many readers may wait for writers of named pipes, each with a thread of the doorman's.
const MOST_WAITING: usize = 128;

impl Doorman<'_> {
    pub(super) fn open_to_read(
        &mut self,
        caller: &Caller<'_>,
        (folder, path): (u64, u64),
        request: Request,
    ) -> Step<Answer> {
        let thread = caller.asked.thread;
        // A text that cannot be read now could be there when the kernel looks.
        let text = resolve::text(thread, path).ok_or(Answer::Fail(libc::EFAULT))?;
        let last = match request.has(libc::O_NOFOLLOW) || request.only_new() {
            true => LastLink::Keep,
            false => LastLink::Follow,
        };
        let held = follow::held(thread, folder as i32, &text, last);
        let Held { handle, path } = held.map_err(|error| self.not_there(&error, request))?;
        if request.only_new() {
            return Err(Answer::Fail(libc::EEXIST));
        }
        self.check_read(&path)?;
        caller.still_waits()?;
        let kind = open::kind_of(handle.as_fd()).map_err(|error| failed(&error))?;
        match kind {
            libc::S_IFLNK => Err(Answer::Fail(libc::ELOOP)),
            libc::S_IFDIR if request.has(libc::O_CREAT) => Err(Answer::Fail(libc::EISDIR)),
            // One without a name has been open all the time and never waits.
            libc::S_IFIFO if path.is_absolute() && !request.has(libc::O_NONBLOCK) => {
                self.wait_for_writer(caller, handle, request)
            }
            kind => request.answer(self.open_to_be_read(&handle, request)?, kind),
        }
    }

    /// Refuses what is closed to reading, by where it lies. Nothing is reported: whatever looks
    /// through a folder tries each file.
    pub(super) fn check_read(&self, path: &Path) -> Step<()> {
        match self.guard.closes_reading(path) {
            true => Err(Answer::Fail(libc::EACCES)),
            false => Ok(()),
        }
    }

    /// What could be made where anything may be made has been made before this.
    fn not_there(&self, error: &Error, request: Request) -> Answer {
        if is(error, libc::ENOENT) && request.has(libc::O_CREAT) {
            return Answer::Fail(match self.walls {
                Walls::Namespaces | Walls::Bubblewrap => libc::EROFS,
                Walls::Kernel => libc::EACCES,
            });
        }
        failed(error)
    }

    /// The kernel alone knows when somebody opens the other end.
    fn wait_for_writer(
        &mut self,
        caller: &Caller<'_>,
        handle: OwnedFd,
        request: Request,
    ) -> Step<Answer> {
        self.readers.retain(|reader| !reader.is_finished());
        if self.readers.len() >= MOST_WAITING {
            return Err(Answer::Fail(libc::EMFILE));
        }
        let listener = caller.listener.try_clone_to_owned();
        let listener = listener.map_err(|error| failed(&error))?;
        let id = caller.asked.id;
        let wait = move || {
            let answer = opened_pipe(handle.as_fd(), request);
            seccomp::answer(listener.as_fd(), id, answer.unwrap_or_else(|early| early));
        };
        let reader = std::thread::Builder::new().spawn(wait);
        self.readers.push(reader.map_err(|error| failed(&error))?);
        Ok(Answer::Elsewhere)
    }
}

fn opened_pipe(handle: BorrowedFd<'_>, request: Request) -> Step<Answer> {
    let file = reopened(handle, request.flags & PASSED).map_err(|error| failed(&error))?;
    request.answer(file, libc::S_IFIFO)
}
