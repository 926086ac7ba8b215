//! Which programs the processes of a command may start.
//!
//! A script that was judged by its words is known to start the programs that it names. Those may
//! still be led to start others by files that a repository brings along: git by its
//! configuration, a tool chain's proxy by a file in the project. So the doorman is asked about every
//! start in such a cage: shells and wrappers start what the script says, every other program
//! neither files of the project nor anything that runs a text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::Text;

/// Which programs a command may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Programs {
    /// All that it can read.
    #[default]
    Any,
    /// For a script of which every command was judged by its words: what the script names. A program
    /// of it starts neither files of the project nor interpreters.
    Judged,
}

/// What the doorman goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramGuard {
    /// Places whose files count as data: the project's, and those that commands can write to.
    pub(crate) data: Vec<Text>,
    /// Folders that the environment names for programs, wherever they lie.
    pub(crate) path: Vec<Text>,
    /// Folders of version managers, wherever they lie: no project puts anything there.
    pub(crate) tools: Vec<Text>,
}

/// Shells, and programs that start what their arguments say; the arguments were judged. Version
/// managers start the program that they stand for.
const STARTERS: &[&str] = &[
    "ash",
    "asdf",
    "bash",
    "busybox",
    "chrt",
    "coreutils",
    "dash",
    "env",
    "fd",
    "fdfind",
    "find",
    "fnm",
    "ionice",
    "ksh",
    "mise",
    "nice",
    "nohup",
    "parallel",
    "proto-shim",
    "rbash",
    "setsid",
    "sh",
    "stdbuf",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "volta-shim",
    "xargs",
    "zsh",
];

/// Run a text, or the file that they are given; versions may follow the name (`python3.11`).
const INTERPRETERS: &[&str] = &[
    "awk",
    "bun",
    "csh",
    "deno",
    "expect",
    "fish",
    "gawk",
    "guile",
    "java",
    "julia",
    "lua",
    "luajit",
    "make",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "rscript",
    "ruby",
    "tclsh",
    "tcsh",
    "wish",
];

/// How git starts the filter of large files: a text for a shell, always the same.
const LARGE_FILES: [&[u8]; 3] = [b"sh", b"-c", b"git-lfs filter-process"];

impl ProgramGuard {
    /// Why the program `by` must not start another one, or `None` where it may. `words` are the
    /// arguments of the other one, its name first.
    pub(crate) fn refuses(
        &self,
        by: &Path,
        program: &Path,
        words: &[impl AsRef<[u8]>],
    ) -> Option<String> {
        let starts_others = is_starter(by);
        let is_on_path = || {
            let folder = program.parent();
            self.path.iter().any(|one| folder == Some(one.path()))
        };
        if self.is_data(program) && !(starts_others && is_on_path()) {
            return Some(format!(
                "{} wants to start {}, a file of the project; this script was judged as one that \
                 starts none",
                by.display(),
                program.display()
            ));
        }
        if starts_others {
            return None;
        }
        let is_refused = match is_git(by) {
            true => !is_git(program) && !is_large_file_filter(words),
            false => is_interpreter(program) || is_starter(program),
        };
        is_refused.then(|| {
            format!(
                "{} wants to start {}; this script was judged without it (a repository's settings \
                 can cause this)",
                by.display(),
                program.display()
            )
        })
    }

    /// Whether programs may be started out of a folder that counts as data.
    pub(crate) fn has_programs_in(&self, folder: &Path) -> bool {
        let mut all = self.path.iter().chain(&self.tools);
        all.any(|one| one.path().starts_with(folder))
    }

    fn is_data(&self, program: &Path) -> bool {
        let lies_in = |list: &[Text]| list.iter().any(|one| program.starts_with(one.path()));
        lies_in(&self.data) && !lies_in(&self.tools)
    }
}

fn name(program: &Path) -> &[u8] {
    program.file_name().map_or(&[], OsStr::as_bytes)
}

fn is_starter(program: &Path) -> bool {
    let name = name(program);
    STARTERS.iter().any(|one| one.as_bytes() == name)
}

fn is_interpreter(program: &Path) -> bool {
    let name = name(program);
    let versions = name.iter().rev();
    let versions = versions.take_while(|byte| byte.is_ascii_digit() || b".-".contains(byte));
    let plain = &name[..name.len() - versions.count()];
    INTERPRETERS
        .iter()
        .any(|one| one.as_bytes().eq_ignore_ascii_case(plain))
}

/// git and its parts, which are programs beside it.
fn is_git(program: &Path) -> bool {
    let name = name(program);
    name == b"git" || name.starts_with(b"git-")
}

fn is_large_file_filter(words: &[impl AsRef<[u8]>]) -> bool {
    let last = |word: &[u8]| -> Vec<u8> {
        let from = word.iter().rposition(|byte| *byte == b'/');
        word[from.map_or(0, |at| at + 1)..].to_vec()
    };
    // git names the shell by its path or without it.
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_ref().to_vec()).collect();
    match words.as_slice() {
        [shell, rest @ ..] if last(shell) == LARGE_FILES[0] => {
            let rest = rest.iter().map(Vec::as_slice);
            // A name of the shell's own follows where git gives the text arguments.
            rest.take(2).eq(LARGE_FILES[1..].iter().copied())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
