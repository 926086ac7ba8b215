//! Files that are kept in memory alone: made here, so that their size is known.
//!
//! What is written to such a file and not mapped stands in the numbers of no process, and whoever
//! has it open can be hidden (a message in a socket, one page of a mapping). A handle that is kept
//! here says how large it is, and the kernel tells by it whether anybody else has it open.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use super::opening::reopened;
use super::{Caller, Doorman, Step, failed};
use crate::helper::resolve;
use crate::helper::usage;
use crate::kernel::memory;
use crate::kernel::seccomp::Answer;

/// Files of a command at once: as many as one process may have open. Whoever wants more gets none.
const MOST_FILES: usize = 4096;
/// The kernel counts in pieces of this size, whatever the file system does.
const BLOCK: u64 = 512;

impl Doorman<'_> {
    pub(super) fn make_memory_file(
        &mut self,
        caller: &Caller<'_>,
        name: u64,
        flags: u32,
    ) -> Step<Answer> {
        // What hides its memory gets a file all the same; the name is only shown.
        let name = resolve::text(caller.asked.thread, name);
        let name = name.as_deref().unwrap_or(c"hidden");
        if self.memory_files.len() >= MOST_FILES {
            self.forget_closed_files();
        }
        if self.memory_files.len() >= MOST_FILES {
            return Err(Answer::Fail(libc::ENFILE));
        }
        caller.still_waits()?;
        let again = |file: &OwnedFd, flags| {
            let opened = reopened(file.as_fd(), flags);
            opened.map_err(|error| failed(&error))
        };
        let made = memory::file(name, flags).map_err(|error| failed(&error))?;
        // The kernel does not count the first one among those that have it open.
        let file = again(&made, libc::O_RDWR)?;
        let handle = again(&made, libc::O_RDONLY)?;
        self.memory_files.push(handle.into());
        Ok(Answer::File {
            file,
            close_on_exec: flags & libc::MFD_CLOEXEC != 0,
        })
    }

    /// Bytes in files of this kind that somebody can still use.
    pub(crate) fn memory_in_files(&mut self) -> u64 {
        self.forget_closed_files();
        self.memory_files.iter().map(size).sum()
    }

    /// Our own handle would keep their memory.
    fn forget_closed_files(&mut self) {
        let is_open = |file: &File| memory::is_open_elsewhere(file.as_fd());
        let is_in_doubt = |file: &File| !is_open(file) && size(file) > 0;
        // A handle that can do nothing does not count as open, and keeps the file too.
        let handles = match self.memory_files.iter().any(is_in_doubt) {
            true => usage::open_files(self.walls),
            false => Some(BTreeSet::new()),
        };
        let is_held = |file: &File| match (file.metadata(), &handles) {
            (Ok(found), Some(handles)) => handles.contains(&(found.dev(), found.ino())),
            (Ok(_) | Err(_), _) => true,
        };
        self.memory_files.retain(|file| {
            let is_wanted = is_open(file) || (size(file) > 0 && is_held(file));
            if !is_wanted {
                empty(file);
            }
            is_wanted
        });
    }
}

/// Nobody can read it any more, but something else may keep it (a watch). One that is sealed stays
/// as it is.
fn empty(file: &File) {
    let opened = reopened(file.as_fd(), libc::O_WRONLY);
    let _ = opened.and_then(|file| File::from(file).set_len(0));
}

fn size(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.blocks() * BLOCK)
}
