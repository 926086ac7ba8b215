//! Commands that only zsh has, and that reach around every check of programs: its
//! modules open files, sockets and terminals by themselves.

use crate::check::{Check, Finding};
use crate::reading::Word;

const COMMANDS: &[&str] = &[
    "zmodload",
    "emulate",
    "sysopen",
    "sysread",
    "syswrite",
    "sysseek",
    "zpty",
    "ztcp",
    "zsocket",
    "mapfile",
    "zf_rm",
    "zf_mv",
    "zf_ln",
    "zf_chmod",
    "zf_chown",
    "zf_mkdir",
    "zf_rmdir",
    "zf_chgrp",
    "zf_sync",
    "autoload",
    "zargs",
    "zcompile",
    "zle",
    "bindkey",
    "zstyle",
    "zsystem",
    "zselect",
    "zftp",
    "zcp",
    "zln",
    "zmv",
    "zsh-newuser-install",
    "sched",
    "vared",
    "functions",
    "noglob",
    "nocorrect",
    "TRAPEXIT",
    "zformat",
    "zparseopts",
    "zprof",
    "zregexparse",
    "ztie",
    "zuntie",
];

pub(crate) fn check(name: &Word) -> Option<Finding> {
    let text = name.text.as_str();
    let is_one = COMMANDS.contains(&text) || text.starts_with("zf_");
    is_one.then(|| {
        Check::ZshDangerousCommands.found(format!("`{text}` works around the checks in zsh"))
    })
}
