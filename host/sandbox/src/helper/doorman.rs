//! Makes new names on behalf of caged processes, which cannot do it themselves.
//!
//! Landlock refuses every new name to the caged processes, so letting a call go on is always
//! safe, whatever the process does to its memory meanwhile. What may be made is made here,
//! in a folder that is held open, under the name that was judged.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::Error;
use std::os::fd::{AsFd, BorrowedFd};

use super::resolve::{self, Spot};
use crate::cage::guard::{Act, Guard};
use crate::kernel::open::{self, Pair};
use crate::kernel::seccomp::{self, Answer, Asked};

/// Flags of `open` that are handed on.
const PASSED: i32 = libc::O_ACCMODE
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
/// More refusals than this tell nobody anything new.
const MOST_TOLD: usize = 16;

const RENAME_EXCHANGE: u32 = 2;
const RENAME_NOREPLACE: u32 = 1;

pub(crate) struct Doorman<'a> {
    guard: &'a Guard,
    told: BTreeSet<String>,
    news: Vec<String>,
}

/// A call broken off early: an error for the process, or "let the kernel answer".
type Step<T> = Result<T, Answer>;

impl<'a> Doorman<'a> {
    pub(crate) fn new(guard: &'a Guard) -> Self {
        Self {
            guard,
            told: BTreeSet::new(),
            news: Vec::new(),
        }
    }

    /// Answers one waiting call.
    pub(crate) fn serve(&mut self, listener: BorrowedFd<'_>) {
        // The caller was interrupted before we came; nothing to do.
        let Ok(asked) = seccomp::receive(listener) else {
            return;
        };
        let answer = self.judge(listener, &asked).unwrap_or_else(|early| early);
        seccomp::answer(listener, asked.id, answer);
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
            // The list of calls and this one belong together; what is missing here fails.
            _ => Err(Answer::Fail(libc::ENOSYS)),
        }
    }

    fn open(
        &mut self,
        caller: &Caller<'_>,
        path: (u64, u64),
        flags: i32,
        mode: u32,
    ) -> Step<Answer> {
        // None of these makes or changes a file by its name.
        if flags & libc::O_PATH != 0 || flags & libc::O_DIRECTORY != 0 {
            return Err(Answer::GoOn);
        }
        let is_new = flags & libc::O_CREAT != 0;
        let only_new = is_new && flags & libc::O_EXCL != 0;
        let close_on_exec = flags & libc::O_CLOEXEC != 0;
        let mut spot = caller.spot(path)?;
        for _ in 0..MOST_LINKS {
            if spot.wants_folder || self.guard.zone(&spot.path).is_none() {
                return Err(Answer::GoOn);
            }
            let kind = open::kind(spot.folder.as_fd(), &spot.name);
            // Should it become a pipe meanwhile, nothing must wait for its other end.
            let passed = flags & PASSED | libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let opened = match kind {
                Err(error) if is(&error, libc::ENOENT) && is_new => {
                    self.check(Act::Make, &spot)?;
                    let mode = mode & 0o1777 & !resolve::file_mask(caller.asked.thread);
                    caller.still_waits()?;
                    let flags = passed | libc::O_CREAT | libc::O_EXCL;
                    open::at(Some(spot.folder.as_fd()), &spot.name, flags, mode)
                }
                Ok(libc::S_IFREG) if !only_new => {
                    if flags & (libc::O_ACCMODE | libc::O_TRUNC) != 0 {
                        self.check(Act::Make, &spot)?;
                    }
                    open::at(Some(spot.folder.as_fd()), &spot.name, passed, 0)
                }
                Ok(libc::S_IFLNK) if !only_new && flags & libc::O_NOFOLLOW == 0 => {
                    let target = open::link_target(spot.folder.as_fd(), &spot.name)
                        .map_err(|_| Answer::GoOn)?;
                    let base = target.first() != Some(&b'/');
                    let base = base.then(|| spot.folder.as_fd());
                    spot = resolve::spot(base, &target).ok_or(Answer::GoOn)?;
                    continue;
                }
                _ => return Err(Answer::GoOn),
            };
            match opened {
                Ok(file) => {
                    open::settle(file.as_fd(), flags).map_err(|error| failed(&error))?;
                    return Ok(Answer::File {
                        file,
                        close_on_exec,
                    });
                }
                // Somebody was faster: look again.
                Err(error) if is(&error, libc::EEXIST) && !only_new => {}
                Err(error) if is(&error, libc::ENOENT) && is_new => {}
                Err(error) if is(&error, libc::ELOOP) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(Answer::Fail(libc::ELOOP))
    }

    fn make_folder(&mut self, caller: &Caller<'_>, path: (u64, u64), mode: u32) -> Step<Answer> {
        let spot = self.inside(caller.spot(path)?)?;
        if open::kind(spot.folder.as_fd(), &spot.name).is_ok() {
            return Err(Answer::Fail(libc::EEXIST));
        }
        self.check(Act::Make, &spot)?;
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
        self.check(Act::Place, &spot)?;
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
        caller.still_waits()?;
        done(open::rename(&pair(&from, &to), flags))
    }

    fn remove(&mut self, caller: &Caller<'_>, path: (u64, u64), flags: i32) -> Step<Answer> {
        let spot = self.inside(caller.spot(path)?)?;
        self.check(Act::Remove, &spot)?;
        caller.still_waits()?;
        done(open::remove(spot.folder.as_fd(), &spot.name, flags))
    }

    /// Opens the file as for writing and cuts it, so that links are followed and judged.
    fn truncate(&mut self, caller: &Caller<'_>, path: u64, length: u64) -> Step<Answer> {
        const HERE: u64 = libc::AT_FDCWD as u32 as u64;
        let Answer::File { file, .. } = self.open(caller, (HERE, path), libc::O_WRONLY, 0)? else {
            return Err(Answer::GoOn);
        };
        done(std::fs::File::from(file).set_len(length))
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
        open::kind(from.folder.as_fd(), &from.name).map_err(|error| failed(&error))?;
        self.check(Act::Remove, &from)?;
        self.check(Act::Place, &to)?;
        Ok((from, to))
    }

    /// Outside the places that may be written to the kernel refuses by itself.
    fn inside(&self, spot: Spot) -> Step<Spot> {
        match self.guard.zone(&spot.path) {
            Some(_) => Ok(spot),
            None => Err(Answer::GoOn),
        }
    }

    fn check(&mut self, act: Act, spot: &Spot) -> Step<()> {
        let Some(reason) = self.guard.refuses(act, &spot.path) else {
            return Ok(());
        };
        if self.told.len() < MOST_TOLD && self.told.insert(reason.clone()) {
            self.news.push(reason);
        }
        Err(Answer::Fail(libc::EACCES))
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
