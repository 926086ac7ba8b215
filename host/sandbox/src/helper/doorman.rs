//! Makes and opens files on behalf of caged processes, which cannot do it themselves.
//!
//! Landlock refuses every new name and every writing to the caged processes, so letting a call go on is always
//! safe, whatever the process does to its memory meanwhile. What may be made is made here,
//! in a folder that is held open, under the name that was judged.

mod checked;
mod content;
mod devices;
mod lookalike;
mod memory;
mod metadata;
mod opening;
mod reading;
mod starting;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::File;
use std::io::Error;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use self::starting::Wanted;
use super::doors::Door;
use super::resolve::{self, Spot};
use crate::cage::guard::{Act, Guard, Moved, REMOVED};
use crate::cage::plan::{Plan, Walls};
use crate::cage::programs::ProgramGuard;
use crate::kernel::open::{self, Pair};
use crate::kernel::seccomp::{self, Answer, Asked};

/// More refusals than this tell nobody anything new.
const MOST_TOLD: usize = 16;

const RENAME_EXCHANGE: u32 = 2;
const RENAME_NOREPLACE: u32 = 1;

pub(crate) struct Doorman<'a> {
    guard: &'a Guard,
    /// Which programs may be started, where not all may.
    programs: Option<&'a ProgramGuard>,
    /// The command has not become its program yet.
    is_starting: bool,
    walls: Walls,
    doors: &'a [Door],
    told: BTreeSet<String>,
    news: Vec<String>,
    /// Calls that cannot be answered yet.
    waiting: Vec<Asked>,
    /// Files in memory that the command made.
    memory_files: Vec<File>,
    /// Each waits for somebody who writes to a pipe.
    readers: Vec<JoinHandle<()>>,
}

/// Whether calls wait that could not be answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    None,
    Some,
}

/// A call broken off early: an error for the process, or "let the kernel answer".
type Step<T> = Result<T, Answer>;

impl<'a> Doorman<'a> {
    pub(crate) fn new(plan: &'a Plan, doors: &'a [Door]) -> Self {
        Self {
            guard: &plan.guard,
            programs: plan.programs.as_ref(),
            is_starting: true,
            walls: plan.walls,
            doors,
            told: BTreeSet::new(),
            news: Vec::new(),
            waiting: Vec::new(),
            memory_files: Vec::new(),
            readers: Vec::new(),
        }
    }

    /// The command has become its program: who asks from now on is not the helper any more.
    pub(crate) fn command_started(&mut self) {
        self.is_starting = false;
    }

    /// Answers one waiting call.
    pub(crate) fn serve(&mut self, listener: BorrowedFd<'_>) {
        // The caller was interrupted before we came; nothing to do.
        let Ok(asked) = seccomp::receive(listener) else {
            return;
        };
        self.attend(listener, asked);
    }

    /// Tries again what could not be answered yet. Tells whether something is left.
    pub(crate) fn serve_waiting(&mut self, listener: BorrowedFd<'_>) -> Waiting {
        for asked in std::mem::take(&mut self.waiting) {
            if seccomp::still_waits(listener, asked.id) {
                self.attend(listener, asked);
            }
        }
        if self.waiting.is_empty() {
            Waiting::None
        } else {
            Waiting::Some
        }
    }

    fn attend(&mut self, listener: BorrowedFd<'_>, asked: Asked) {
        match self.judge(listener, &asked).unwrap_or_else(|early| early) {
            Answer::Later => self.waiting.push(asked),
            answer => seccomp::answer(listener, asked.id, answer),
        }
    }

    /// What was refused since the last time, without repetitions.
    pub(crate) fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    fn judge(&mut self, listener: BorrowedFd<'_>, asked: &Asked) -> Step<Answer> {
        const HERE: u64 = libc::AT_FDCWD as u32 as u64;
        let caller = Caller { listener, asked };
        let [a, b, c, d, e, _] = asked.arguments;
        match asked.call {
            libc::SYS_openat => self.open(&caller, (a, b), c as i32, d as u32),
            libc::SYS_mkdirat => self.make_folder(&caller, (a, b), c as u32),
            libc::SYS_mknodat => self.make_node(&caller, (a, b), c as u32),
            libc::SYS_symlinkat => self.make_link(&caller, a, (b, c)),
            libc::SYS_linkat => self.second_name(&caller, (a, b), (c, d)),
            libc::SYS_renameat => self.rename(&caller, (a, b), (c, d), 0),
            libc::SYS_renameat2 => self.rename(&caller, (a, b), (c, d), e as u32),
            libc::SYS_unlinkat => self.remove(&caller, (a, b), c as i32),
            libc::SYS_truncate => self.truncate(&caller, a, b),
            libc::SYS_memfd_create => self.make_memory_file(&caller, a, b as u32),
            libc::SYS_execve => self.start_program(
                &caller,
                Wanted {
                    folder: HERE,
                    path: a,
                    words: b,
                    flags: 0,
                },
            ),
            libc::SYS_execveat => self.start_program(
                &caller,
                Wanted {
                    folder: a,
                    path: b,
                    words: c,
                    flags: e as i32,
                },
            ),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => self.open(&caller, (HERE, a), b as i32, c as u32),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
                self.open(&caller, (HERE, a), flags, b as u32)
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => self.make_folder(&caller, (HERE, a), b as u32),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => self.make_node(&caller, (HERE, a), b as u32),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => self.make_link(&caller, a, (HERE, b)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => self.second_name(&caller, (HERE, a), (HERE, b)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => self.rename(&caller, (HERE, a), (HERE, b), 0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => self.remove(&caller, (HERE, a), 0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => self.remove(&caller, (HERE, a), libc::AT_REMOVEDIR),
            // The list of calls and these belong together; what is missing here fails.
            _ => self
                .metadata(&caller)
                .unwrap_or(Err(Answer::Fail(libc::ENOSYS))),
        }
    }

    fn make_folder(&mut self, caller: &Caller<'_>, path: (u64, u64), mode: u32) -> Step<Answer> {
        let spot = self.inside(caller.spot(path)?)?;
        if open::kind(spot.folder.as_fd(), &spot.name).is_ok() {
            return Err(Answer::Fail(libc::EEXIST));
        }
        self.check(Act::Make, &spot)?;
        let _turn = self.check_look(&spot)?;
        let mode = mode & 0o1777 & !resolve::file_mask(caller.asked.thread);
        caller.still_waits()?;
        done(open::make_folder(spot.folder.as_fd(), &spot.name, mode))
    }

    fn make_node(&mut self, caller: &Caller<'_>, path: (u64, u64), mode: u32) -> Step<Answer> {
        let kind = mode & libc::S_IFMT;
        if !matches!(kind, 0 | libc::S_IFREG | libc::S_IFIFO | libc::S_IFSOCK) {
            return Err(Answer::Fail(libc::EPERM));
        }
        let spot = self.inside(caller.spot(path)?)?;
        self.check(Act::Make, &spot)?;
        let _turn = self.check_look(&spot)?;
        let bits = mode & 0o1777 & !resolve::file_mask(caller.asked.thread);
        caller.still_waits()?;
        done(open::make_node(
            spot.folder.as_fd(),
            &spot.name,
            kind | bits,
        ))
    }

    fn make_link(&mut self, caller: &Caller<'_>, target: u64, path: (u64, u64)) -> Step<Answer> {
        let target = caller.text(target)?;
        let spot = self.inside(caller.spot(path)?)?;
        self.check(Act::Link, &spot)?;
        let _turn = self.check_look(&spot)?;
        caller.still_waits()?;
        done(open::make_link(&target, spot.folder.as_fd(), &spot.name))
    }

    fn second_name(
        &mut self,
        caller: &Caller<'_>,
        from: (u64, u64),
        to: (u64, u64),
    ) -> Step<Answer> {
        let (from, to) = self.both_inside(caller, from, to)?;
        if self.guard.checked(&to.path).is_some() {
            return Err(self.not_by_git(&to));
        }
        let _turn = self.check_look(&to)?;
        caller.still_waits()?;
        done(open::second_name(&pair(&from, &to)))
    }

    fn rename(
        &mut self,
        caller: &Caller<'_>,
        from: (u64, u64),
        to: (u64, u64),
        flags: u32,
    ) -> Step<Answer> {
        if flags & !(RENAME_EXCHANGE | RENAME_NOREPLACE) != 0 {
            return Err(Answer::Fail(libc::EINVAL));
        }
        let (from, to) = self.both_inside(caller, from, to)?;
        let _turn = self.check_look(&to)?;
        caller.still_waits()?;
        let is_exchange = flags & RENAME_EXCHANGE != 0;
        match self.guard.checked(&to.path) {
            None if !is_exchange || self.guard.checked(&from.path).is_none() => {
                done(open::rename(&pair(&from, &to), flags))
            }
            Some(kind) if flags == 0 => self.put_checked(kind, &from, &to),
            Some(_) | None => Err(self.not_by_git(&to)),
        }
    }

    fn remove(&mut self, caller: &Caller<'_>, path: (u64, u64), flags: i32) -> Step<Answer> {
        let spot = self.inside(caller.spot(path)?)?;
        self.check(Act::Remove, &spot)?;
        caller.still_waits()?;
        done(open::remove(spot.folder.as_fd(), &spot.name, flags))
    }

    fn both_inside(
        &mut self,
        caller: &Caller<'_>,
        from: (u64, u64),
        to: (u64, u64),
    ) -> Step<(Spot, Spot)> {
        let from = self.inside(caller.spot(from)?)?;
        let to = self.inside(caller.spot(to)?)?;
        // What was put together where anything goes must not move in as a whole.
        if self.guard.zone(&from.path) != self.guard.zone(&to.path) {
            return Err(Answer::Fail(libc::EXDEV));
        }
        let kind = open::kind(from.folder.as_fd(), &from.name).map_err(|error| failed(&error))?;
        let is_folder = |kind: u32| kind == libc::S_IFDIR;
        let replaced = open::kind(to.folder.as_fd(), &to.name);
        let moved = match is_folder(kind) || replaced.is_ok_and(is_folder) {
            true => Moved::Folder,
            false => Moved::File,
        };
        if let Some(reason) = self.guard.refuses_move(&from.path, &to.path, moved) {
            return Err(self.refuse(reason));
        }
        self.check(Act::Remove, &from)?;
        self.check(Act::Place, &to)?;
        if moved == Moved::Folder {
            self.check_content(&from, &to.path)?;
            self.check_content(&to, &from.path)?;
        }
        Ok((from, to))
    }

    /// Compares what a folder holds with patterns under its old and its new name. Nothing in it changes
    /// meanwhile: the processes of the cage make no names without asking here.
    fn check_content(&mut self, folder: &Spot, becomes: &Path) -> Step<()> {
        if !self.guard.compares_content(&folder.path, becomes) {
            return Ok(());
        }
        content::each(folder, &mut |inside| {
            let (from, to) = (folder.path.join(inside), becomes.join(inside));
            self.guard.refuses_with(&from, &to)
        })
        .map_err(|reason| self.refuse(reason))
    }

    /// Outside the places that may be written to the kernel refuses by itself.
    fn inside(&self, spot: Spot) -> Step<Spot> {
        match self.guard.zone(&spot.path) {
            Some(_) => Ok(spot),
            None => Err(Answer::GoOn),
        }
    }

    /// What is held, with the path to judge it by.
    fn judged(&self, held: OwnedFd) -> Step<(OwnedFd, PathBuf)> {
        let mut doors = self.doors.iter();
        let made = doors.find_map(|door| Some((door.file_like(held.as_fd())?, door.path.clone())));
        match made {
            Some(made) => Ok(made),
            None => {
                let mut path = open::path_of(held.as_fd()).map_err(|error| failed(&error))?;
                let is_removed = path.as_os_str().as_bytes().ends_with(REMOVED);
                if self.guard.zone(&path).is_some() && !is_removed {
                    let known = open::known_path_of(held.as_fd());
                    path = known.map_err(|_| Answer::Fail(libc::EACCES))?;
                }
                Ok((held, path))
            }
        }
    }

    fn check(&mut self, act: Act, spot: &Spot) -> Step<()> {
        self.check_path(act, &spot.path)
    }

    fn check_path(&mut self, act: Act, path: &Path) -> Step<()> {
        let Some(reason) = self.guard.refuses(act, path) else {
            return Ok(());
        };
        Err(self.refuse(reason))
    }

    fn refuse(&mut self, reason: String) -> Answer {
        if self.told.len() < MOST_TOLD && self.told.insert(reason.clone()) {
            self.news.push(reason);
        }
        Answer::Fail(libc::EACCES)
    }
}

/// The process that waits.
struct Caller<'a> {
    listener: BorrowedFd<'a>,
    asked: &'a Asked,
}

impl Caller<'_> {
    fn text(&self, address: u64) -> Step<CString> {
        resolve::text(self.asked.thread, address).ok_or(Answer::GoOn)
    }

    fn spot(&self, (folder, path): (u64, u64)) -> Step<Spot> {
        let path = self.text(path)?;
        resolve::spot_of(self.asked.thread, folder as i32, path.as_bytes()).ok_or(Answer::GoOn)
    }

    /// What was read belongs to the caller only if it is still the same process.
    fn still_waits(&self) -> Step<()> {
        if seccomp::still_waits(self.listener, self.asked.id) {
            Ok(())
        } else {
            Err(Answer::Fail(libc::EINTR))
        }
    }
}

fn pair<'a>(from: &'a Spot, to: &'a Spot) -> Pair<'a> {
    Pair {
        from: (from.folder.as_fd(), &from.name),
        to: (to.folder.as_fd(), &to.name),
    }
}

fn done(result: std::io::Result<()>) -> Step<Answer> {
    result
        .map(|()| Answer::Done)
        .map_err(|error| failed(&error))
}

fn failed(error: &Error) -> Answer {
    Answer::Fail(error.raw_os_error().unwrap_or(libc::EIO))
}

fn is(error: &Error, number: i32) -> bool {
    error.raw_os_error() == Some(number)
}
