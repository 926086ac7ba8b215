//! Opening files to write to them, and making them by opening.
//!
//! Nothing that exists is trusted to be covered by a mount: another process of the host may
//! have put it there, or put another file in its place, since the mounts were made.

use std::io::Error;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::{Caller, Doorman, Step, done, failed, is};
use crate::cage::guard::Act;
use crate::cage::plan::Walls;
use crate::helper::doors::Door;
use crate::helper::resolve::{self, Spot};
use crate::kernel::seccomp::Answer;
use crate::kernel::{c_text, open};

/// Flags of `open` that are handed on.
pub(super) const PASSED: i32 = libc::O_ACCMODE
    | libc::O_APPEND
    | libc::O_TRUNC
    | libc::O_NONBLOCK
    | libc::O_SYNC
    | libc::O_DSYNC
    | libc::O_DIRECT
    | libc::O_LARGEFILE
    | libc::O_NOATIME
    | libc::O_NOCTTY;

/// As the kernel counts when it follows links.
const MOST_LINKS: usize = 40;

/// What a process wants of `open`.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub(super) flags: i32,
    mode: u32,
}

impl Request {
    pub(super) fn has(self, flag: i32) -> bool {
        self.flags & flag == flag
    }

    fn writes(self) -> bool {
        self.flags & (libc::O_ACCMODE | libc::O_TRUNC) != 0
    }

    pub(super) fn only_new(self) -> bool {
        self.has(libc::O_CREAT | libc::O_EXCL)
    }

    /// Should a file become a pipe meanwhile, nothing must wait for its other end.
    pub(super) fn passed(self) -> i32 {
        self.flags & PASSED | libc::O_NONBLOCK
    }

    fn mode(self, caller: &Caller<'_>) -> u32 {
        self.mode & 0o1777 & !resolve::file_mask(caller.asked.thread)
    }

    pub(super) fn answer(self, file: OwnedFd, kind: u32) -> Step<Answer> {
        open::settle(file.as_fd(), kind, self.flags).map_err(|error| failed(&error))?;
        Ok(Answer::File {
            file,
            close_on_exec: self.has(libc::O_CLOEXEC),
        })
    }
}

impl<'a> Doorman<'a> {
    pub(super) fn open(
        &mut self,
        caller: &Caller<'_>,
        path: (u64, u64),
        flags: i32,
        mode: u32,
    ) -> Step<Answer> {
        let request = Request { flags, mode };
        let is_about_names = request.writes() || request.has(libc::O_CREAT);
        let early = match is_about_names {
            true => self.open_to_change(caller, path, request),
            false => Err(Answer::GoOn),
        };
        match early {
            // What would be opened to write to it, the kernel refuses by itself.
            Ok(Answer::GoOn) | Err(Answer::GoOn) if self.judges_reading(request) => {
                self.open_to_read(caller, path, request)
            }
            Ok(Answer::GoOn) | Err(Answer::GoOn) if self.walls == Walls::Kernel => {
                self.write_device(caller, path, request)
            }
            answer => answer,
        }
    }

    /// Whether the kernel would let through what must not be.
    fn judges_reading(&self, request: Request) -> bool {
        let is_for_reading = !request.writes() && !request.has(libc::O_PATH);
        is_for_reading && self.guard.judges_reading(self.walls)
    }

    fn open_to_change(
        &mut self,
        caller: &Caller<'_>,
        path: (u64, u64),
        request: Request,
    ) -> Step<Answer> {
        if request.has(libc::O_TMPFILE) {
            return self.open_nameless(caller, path, request);
        }
        // Neither of these makes or changes a file by its name.
        if request.has(libc::O_PATH) || request.has(libc::O_DIRECTORY) {
            return Err(Answer::GoOn);
        }
        let mut spot = caller.spot(path)?;
        for _ in 0..MOST_LINKS {
            if spot.wants_folder {
                return Err(Answer::GoOn);
            }
            if let Some(number) = own_number(&spot.path) {
                return self.open_again(caller, number, request);
            }
            let folder = self.folder(&spot)?;
            let kind = open::kind(folder, &spot.name);
            if let Ok(libc::S_IFLNK) = kind {
                if request.only_new() || request.has(libc::O_NOFOLLOW) {
                    return Err(Answer::GoOn);
                }
                spot = followed(&spot)?;
                continue;
            }
            if self.guard.zone(&spot.path).is_none() {
                return Err(Answer::GoOn);
            }
            match self.open_spot(caller, &spot, request, kind)? {
                Ok((file, kind)) => return request.answer(file, kind),
                // Another process was faster: look again.
                Err(error) if is(&error, libc::EEXIST) && !request.only_new() => {}
                Err(error) if is(&error, libc::ENOENT) && request.has(libc::O_CREAT) => {}
                Err(error) if is(&error, libc::ELOOP) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(Answer::Fail(libc::ELOOP))
    }

    /// The folder to find a name in: where one file may be made in a folder that is closed, the
    /// handle that can do so.
    fn folder<'s>(&self, spot: &'s Spot) -> Step<BorrowedFd<'s>>
    where
        'a: 's,
    {
        let doors: &'a [Door] = self.doors;
        match doors.iter().find(|door| door.path == spot.path) {
            // Another folder took its place: the kernel refuses.
            Some(door) => door.folder_for(spot.folder.as_fd()).ok_or(Answer::GoOn),
            None => Ok(spot.folder.as_fd()),
        }
    }

    fn open_spot(
        &mut self,
        caller: &Caller<'_>,
        spot: &Spot,
        request: Request,
        kind: Result<u32, Error>,
    ) -> Step<Result<(OwnedFd, u32), Error>> {
        let folder = self.folder(spot)?;
        let passed = request.passed() | libc::O_NOFOLLOW;
        let open = |flags, mode, kind| {
            let opened = open::at(Some(folder), &spot.name, flags, mode);
            opened.map(|file| (file, kind))
        };
        match kind {
            Err(error) if is(&error, libc::ENOENT) && request.has(libc::O_CREAT) => {
                self.check(Act::Write, spot)?;
                let _turn = self.check_look(spot)?;
                let mode = request.mode(caller);
                caller.still_waits()?;
                let flags = passed | libc::O_CREAT | libc::O_EXCL;
                Ok(open(flags, mode, libc::S_IFREG))
            }
            Ok(libc::S_IFREG) if !request.only_new() => {
                match request.writes() {
                    true => self.check(Act::Write, spot)?,
                    false => self.check_read(&spot.path)?,
                }
                Ok(open(passed, 0, libc::S_IFREG))
            }
            Ok(libc::S_IFIFO) if !request.only_new() && request.writes() => {
                self.check(Act::Write, spot)?;
                match open(passed, 0, libc::S_IFIFO) {
                    // No reader is there yet, and the process would wait for one.
                    Err(error) if is(&error, libc::ENXIO) && !request.has(libc::O_NONBLOCK) => {
                        Err(Answer::Later)
                    }
                    opened => Ok(opened),
                }
            }
            Ok(_) | Err(_) => Err(Answer::GoOn),
        }
    }

    /// A file without a name, which can never get one: giving it one is refused.
    fn open_nameless(
        &mut self,
        caller: &Caller<'_>,
        (base, path): (u64, u64),
        request: Request,
    ) -> Step<Answer> {
        let thread = caller.asked.thread;
        let text = caller.text(path)?;
        let base = match text.as_bytes().first() {
            Some(b'/') => None,
            Some(_) | None => Some(resolve::base(thread, base as i32).ok_or(Answer::GoOn)?),
        };
        let base = base.as_ref().map(AsFd::as_fd);
        let folder = open::place(base, &text, libc::O_DIRECTORY).map_err(|_| Answer::GoOn)?;
        let path = open::known_path_of(folder.as_fd()).map_err(|_| Answer::GoOn)?;
        if self.guard.zone(&path).is_none() {
            return Err(Answer::GoOn);
        }
        self.check_path(Act::Write, &path)?;
        let mode = request.mode(caller);
        caller.still_waits()?;
        let flags = request.flags & PASSED | libc::O_TMPFILE | request.flags & libc::O_EXCL;
        let file = open::at(Some(folder.as_fd()), c".", flags, mode);
        request.answer(file.map_err(|error| failed(&error))?, libc::S_IFREG)
    }

    /// What the process has open already, by its number: `/dev/stdout` is such a path.
    fn open_again(&mut self, caller: &Caller<'_>, number: u32, request: Request) -> Step<Answer> {
        let link = c_text(format!("/proc/{}/fd/{number}", caller.asked.thread));
        let handle = link.and_then(|link| open::plain(&link, libc::O_PATH));
        let handle = handle.map_err(|_| Answer::GoOn)?;
        let (handle, path) = self.judged(handle)?;
        let is_file = open::kind_of(handle.as_fd()).is_ok_and(|kind| kind == libc::S_IFREG);
        // Pipes and terminals are let through by the kernel.
        if !is_file || request.only_new() || self.guard.zone(&path).is_none() {
            return Err(Answer::GoOn);
        }
        match request.writes() {
            true => self.check_path(Act::Write, &path)?,
            false => self.check_read(&path)?,
        }
        caller.still_waits()?;
        let file = reopened(handle.as_fd(), request.passed());
        request.answer(file.map_err(|error| failed(&error))?, libc::S_IFREG)
    }

    /// Opens the file as for writing and cuts it, so that links are followed and judged.
    pub(super) fn truncate(&mut self, caller: &Caller<'_>, path: u64, length: u64) -> Step<Answer> {
        const HERE: u64 = libc::AT_FDCWD as u32 as u64;
        let Answer::File { file, .. } = self.open(caller, (HERE, path), libc::O_WRONLY, 0)? else {
            return Err(Answer::GoOn);
        };
        done(std::fs::File::from(file).set_len(length))
    }
}

pub(super) fn reopened(handle: BorrowedFd<'_>, flags: i32) -> Result<OwnedFd, Error> {
    let path = c_text(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
    open::plain(&path, flags)
}

fn followed(spot: &Spot) -> Step<Spot> {
    let target = open::link_target(spot.folder.as_fd(), &spot.name).map_err(|_| Answer::GoOn)?;
    let is_relative = target.first() != Some(&b'/');
    let base = is_relative.then(|| spot.folder.as_fd());
    resolve::spot(base, &target).ok_or(Answer::GoOn)
}

/// The number of a file that a process has open, where a path means one of its own. Here, such
/// a path leads to the files of this process; the number is the caller's.
fn own_number(path: &Path) -> Option<u32> {
    let own = std::process::id();
    let folder = path.parent()?;
    let is_own = folder == Path::new(&format!("/proc/{own}/fd"))
        || folder == Path::new(&format!("/proc/{own}/task/{own}/fd"));
    let name = path.file_name()?.to_str()?;
    is_own.then(|| name.parse().ok()).flatten()
}
