//! The words that a rule for a command would name.

use crate::report::SimpleCommand;
use crate::wrapper;

/// A prompt with more rules than this is not read.
const MOST: usize = 5;

/// Programs whose arguments are programs: a rule for their name would allow everything.
const RUN_ANYTHING: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ash",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "eval",
    "exec",
    "source",
    ".",
    "python",
    "python2",
    "python3",
    "pypy",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "osascript",
    "Rscript",
    "julia",
    "ssh",
    "su",
    "script",
    "find",
    "fd",
    "vim",
    "vi",
    "nvim",
    "emacs",
    "ed",
    "ex",
    "sed",
    "make",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "tar",
    "rsync",
    "trap",
    "m4",
    "gdb",
    "docker-machine",
    "screen",
    "tmux",
    "at",
    "batch",
    "crontab",
    "env",
    "sudo",
    "doas",
    "xargs",
];

/// The rules for a script, in the order of its commands; none if a command that needs one
/// has none. A script of one command gets its rule even if it only reads.
pub(crate) fn of_all(commands: &[SimpleCommand]) -> Vec<String> {
    let mut prefixes: Vec<String> = Vec::new();
    for command in commands {
        if commands.len() > 1 && command.is_read_only() {
            continue;
        }
        let Some(prefix) = of(command) else {
            return Vec::new();
        };
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    if prefixes.len() > MOST {
        prefixes.clear();
    }
    prefixes
}

/// Programs that make or wait, and can neither destroy nor send anything: a rule for all that they
/// do is what a person means.
const BY_NAME: &[&str] = &["mkdir", "sleep", "touch"];

/// Programs whose first word is no sub-command but something to act on: a rule that begins with it
/// would allow to act on more (`rm a -rf src`).
const ACT_ON_WORDS: &[&str] = &[
    "rm", "rmdir", "unlink", "shred", "truncate", "cp", "mv", "ln", "link", "install", "tee", "dd",
    "chmod", "chown", "chgrp", "chattr", "setfacl", "kill", "pkill", "killall", "scp", "curl",
    "wget", "gzip", "gunzip", "xz", "bzip2", "zip", "unzip", "patch", "mount", "umount", "mkfs",
    "useradd", "userdel", "dropdb", "createdb", "sort", "split", "source",
];

pub(crate) fn of(command: &SimpleCommand) -> Option<String> {
    command.for_rules.as_ref()?;
    if command.reads_outside() {
        return None;
    }
    let [name, second, ..] = command.words.as_slice() else {
        return None;
    };
    if BY_NAME.contains(&name.as_str()) {
        return Some(name.clone());
    }
    let base = wrapper::basename(name);
    let runs_anything = RUN_ANYTHING.contains(&base)
        || wrapper::is_wrapper(name)
        || base.starts_with("python")
        || base.starts_with("zf_");
    let acts = ACT_ON_WORDS.contains(&base) || base.starts_with("mkfs.");
    let is_fit = !runs_anything && !acts && is_name(name) && is_subcommand(second);
    is_fit.then(|| format!("{name} {second}"))
}

/// A program by name, or one of the project.
fn is_name(name: &str) -> bool {
    let name = name.strip_prefix("./").unwrap_or(name);
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+'))
}

/// `commit`, `test-all`: no flag, no path, no text.
fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && !word.ends_with('-')
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
