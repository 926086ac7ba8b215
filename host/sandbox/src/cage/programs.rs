//! Which programs the processes of a command may start.
//!
//! A script that was judged by its words is known to start the programs that it names. Those may
//! still be led to start others by files that a repository brings along: git by its
//! configuration, a tool chain's proxy by a file in the project. So the doorman is asked about every
//! start in such a cage: shells and wrappers start what the script says, every other program
//! what it is known to need, and never a file of the project.

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
    /// For a script of which every command was judged by its words: what the script names, and what
    /// those programs are known to need.
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

/// A program that is to be started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started<'a> {
    /// As it was named, made absolute; and the same with the links before its last part followed.
    pub(crate) written: &'a Path,
    pub(crate) found: &'a Path,
    /// Where it lies.
    pub(crate) real: &'a Path,
    pub(crate) kind: FileKind,
    /// Its arguments, its name first.
    pub(crate) words: &'a [&'a [u8]],
}

impl Started<'_> {
    fn names(&self) -> impl Iterator<Item = &Path> {
        [self.written, self.found, self.real].into_iter()
    }
}

/// What the kernel makes of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Binary,
    /// It begins with `#!`, or cannot be read.
    Script,
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

/// What programs start that are no starters, by who starts what. Everything else is refused: a list of
/// programs that run a text, or a file of the project, can never be complete.
const STARTED: &[(&[&str], &[&str])] = &[
    (GIT, &["git", "git-lfs"]),
    (&["gh", "git-lfs"], &["git"]),
    (RUST, RUST),
    (&["man", "apropos", "whatis"], MANUAL),
    (&["apt", "apt-cache", "apt-get", "apt-config"], &["dpkg"]),
    (
        &["gcc", "g++", "cc", "c++", "clang"],
        &["cc1", "cc1plus", "collect2", "as", "ld"],
    ),
];

/// git and its parts that are one program, where they are files of their own.
const GIT: &[&str] = &["git", "git-*"];

/// A tool chain and the proxies before it.
const RUST: &[&str] = &[
    "cargo",
    "cargo-clippy",
    "cargo-fmt",
    "clippy-driver",
    "rustc",
    "rustdoc",
    "rustfmt",
    "rustup",
];

/// How pages of the manual are set. `nroff` is a script that starts the others.
const MANUAL: &[&str] = &[
    "col", "eqn", "geqn", "groff", "grotty", "gtbl", "gtroff", "gzip", "manconv", "man", "neqn",
    "nroff", "preconv", "tbl", "troff", "zsoelim",
];

/// May be a script: every other one that a program starts is its own interpreter, by name unknown.
const SCRIPTS: &[&str] = &["nroff", "neqn"];

/// How git starts the filter of large files: a text for a shell, always the same.
const LARGE_FILES: [&[u8]; 3] = [b"sh", b"-c", b"git-lfs filter-process"];

impl ProgramGuard {
    /// Why the program `by` must not start another one, or `None` where it may.
    pub(crate) fn refuses(&self, by: &Path, started: &Started<'_>) -> Option<String> {
        let program = started.real;
        let starts_others = is_starter(by);
        let is_on_path = || {
            let folder = started.found.parent();
            self.path.iter().any(|one| folder == Some(one.path()))
        };
        // A link in the project is the project's choice, wherever it leads.
        let is_data = started.names().any(|name| self.is_data(name));
        if is_data && !(starts_others && is_on_path()) {
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
        let is_known = STARTED
            .iter()
            .any(|(who, what)| is_one_of(by, who) && is_one_of(program, what));
        let is_script = started.kind == FileKind::Script && !is_one_of(program, SCRIPTS);
        let is_filter = is_one_of(by, GIT) && is_large_file_filter(started.words);
        (!is_filter && (!is_known || is_script)).then(|| {
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
    is_one_of(program, STARTERS)
}

/// Whether a program has one of these names; a `*` at the end stands for anything.
fn is_one_of(program: &Path, names: &[&str]) -> bool {
    let name = name(program);
    names.iter().any(|one| match one.strip_suffix('*') {
        Some(begin) => name.starts_with(begin.as_bytes()),
        None => one.as_bytes() == name,
    })
}

fn is_large_file_filter(words: &[&[u8]]) -> bool {
    let Some((shell, rest)) = words.split_first() else {
        return false;
    };
    // git names the shell by its path or without it, and may give the text a name.
    let shell = shell.rsplit(|byte| *byte == b'/').next();
    shell == Some(LARGE_FILES[0]) && rest.starts_with(&LARGE_FILES[1..])
}

#[cfg(test)]
mod tests;
