//! Starting programs, where a command may not start all.
//!
//! Who asks is no attacker yet: it is a program that the script names, or its shell. So that what it
//! points to may be read here and once more by the kernel.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::opening::reopened;
use super::{Caller, Doorman, Step, failed};
use crate::cage::programs::{FileKind, Started};
use crate::helper::resolve;
use crate::kernel::seccomp::Answer;
use crate::kernel::{c_text, open};

/// More words of a program are not looked at.
const MOST_WORDS: usize = 4;

/// What a process wants to start, as it says it.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) folder: u64,
    pub(super) path: u64,
    pub(super) words: u64,
    pub(super) flags: i32,
}

impl Doorman<'_> {
    pub(super) fn start_program(&mut self, caller: &Caller<'_>, wanted: Wanted) -> Step<Answer> {
        // The helper itself becomes the command; its memory is closed to everybody.
        let Some(guard) = self.programs.filter(|_| !self.is_starting) else {
            return Err(Answer::GoOn);
        };
        let thread = caller.asked.thread;
        let text = resolve::text(thread, wanted.path).ok_or(Answer::Fail(libc::EFAULT))?;
        let program = program_of(thread, wanted, &text)?;
        let real = open::known_path_of(program.as_fd()).map_err(|error| failed(&error))?;
        let by = std::fs::read_link(format!("/proc/{thread}/exe"));
        let by = by.map_err(|error| failed(&error))?;
        let words = words_of(thread, wanted.words);
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let written = written(thread, wanted, &text);
        let found = resolve::spot_of(thread, wanted.folder as i32, text.as_bytes());
        let found = found.map_or_else(|| real.clone(), |spot| spot.path);
        let started = Started {
            written: &written,
            found: &found,
            real: &real,
            kind: kind_of(&program),
            words: &words,
        };
        let reason = match is_nameless(&real) {
            true => Some(format!(
                "{} wants to start a program that has no name",
                by.display()
            )),
            false => guard.refuses(&by, &started),
        };
        match reason {
            Some(reason) => Err(self.refuse(reason)),
            None => Err(Answer::GoOn),
        }
    }
}

/// The file that is to be started. What cannot be looked up is not started either.
fn program_of(thread: i32, wanted: Wanted, text: &CStr) -> Step<OwnedFd> {
    let bytes = text.to_bytes();
    let folder = wanted.folder as i32;
    let opened = if bytes.is_empty() && wanted.flags & libc::AT_EMPTY_PATH != 0 {
        numbered(thread, folder)
    } else if bytes.starts_with(b"/proc/") {
        open::plain(&own_files(thread, bytes)?, libc::O_PATH)
    } else if bytes.starts_with(b"/") {
        open::place(None, text, 0)
    } else {
        let base = resolve::base(thread, folder).ok_or(Answer::Fail(libc::ENOENT))?;
        open::place(Some(base.as_fd()), text, 0)
    };
    opened.map_err(|error| failed(&error))
}

/// The path as it was written, from the root on. `..` and links stay; what a process calls its own
/// folder is looked up, since that may be the project's.
fn written(thread: i32, wanted: Wanted, text: &CStr) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(text.to_bytes()));
    let base = |folder| {
        let base = resolve::base(thread, folder);
        base.and_then(|base| open::path_of(base.as_fd()).ok())
            .unwrap_or_default()
    };
    let own = ["/proc/self/cwd", "/proc/thread-self/cwd"];
    let own = own.iter().find_map(|own| path.strip_prefix(own).ok());
    match own {
        Some(rest) => base(libc::AT_FDCWD).join(rest),
        None => base(wanted.folder as i32).join(path),
    }
}

/// By its first bytes, as the kernel does. What is no file, which the kernel does not start, is not
/// opened: a pipe would keep us waiting, and a device may do something.
fn kind_of(program: &OwnedFd) -> FileKind {
    const BINARY: &[u8] = b"\x7fELF";
    if !open::kind_of(program.as_fd()).is_ok_and(|kind| kind == libc::S_IFREG) {
        return FileKind::Script;
    }
    let mut begin = [0; 4];
    let read = reopened(program.as_fd(), libc::O_RDONLY | libc::O_NONBLOCK)
        .and_then(|file| File::from(file).read_exact(&mut begin));
    match read {
        Ok(()) if begin == BINARY => FileKind::Binary,
        Ok(()) | Err(_) => FileKind::Script,
    }
}

fn numbered(thread: i32, number: i32) -> std::io::Result<OwnedFd> {
    open::plain(
        &c_text(format!("/proc/{thread}/fd/{number}"))?,
        libc::O_PATH,
    )
}

/// What a process calls its own files are here those of this process.
fn own_files(thread: i32, path: &[u8]) -> Step<CString> {
    let own = [&b"/proc/self/"[..], b"/proc/thread-self/"];
    let rest = own.iter().find_map(|prefix| path.strip_prefix(*prefix));
    let real = match rest {
        Some(rest) => [format!("/proc/{thread}/").as_bytes(), rest].concat(),
        None => path.to_vec(),
    };
    CString::new(real).map_err(|_| Answer::Fail(libc::EFAULT))
}

/// Kept in memory alone, or removed since: nothing says what it is.
fn is_nameless(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.starts_with(b"/memfd:") || text.ends_with(b" (deleted)") || !path.is_absolute()
}

/// The first words that a program is given.
fn words_of(thread: i32, list: u64) -> Vec<CString> {
    let word = |at: usize| {
        let address = list.checked_add(8 * at as u64)?;
        let pointer = resolve::number(thread, address).filter(|pointer| *pointer != 0)?;
        resolve::text(thread, pointer)
    };
    (0..MOST_WORDS).map_while(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_name_is_told_from_others() {
        for (path, wanted) in [
            ("/usr/bin/git", false),
            ("/memfd:x (deleted)", true),
            ("/memfd:x", true),
            ("/tmp/x (deleted)", true),
            ("pipe:[3]", true),
        ] {
            assert_eq!(is_nameless(Path::new(path)), wanted, "{path}");
        }
    }

    #[test]
    fn own_files_are_those_of_the_thread_that_asks() {
        for (path, wanted) in [
            ("/proc/self/exe", "/proc/7/exe"),
            ("/proc/thread-self/fd/3", "/proc/7/fd/3"),
            ("/proc/8/exe", "/proc/8/exe"),
            ("/proc/selfish", "/proc/selfish"),
        ] {
            let found = own_files(7, path.as_bytes());
            assert!(found.is_ok_and(|found| found.as_bytes() == wanted.as_bytes()));
        }
    }
}
