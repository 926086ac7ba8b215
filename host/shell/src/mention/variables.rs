//! Variables that decide what runs: where programs are looked for, what is loaded into them, and
//! which helpers they start.

use super::heard::Heard;
use super::nodes::holds_code;
use super::plain;
use crate::environment;

/// Beginnings of names that shells, loaders and common programs obey. They may be exported
/// already, so that setting them is enough.
const BEGINNINGS: &[&str] = &[
    "BASH",
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE",
    "NPM_",
    "LESS",
    "MAN",
    "SSH",
    "RSYNC_",
    "MAKE",
    "CARGO",
    "RUST",
    "GO",
    "JAVA",
    "_JAVA",
    "JDK_",
    "LUA",
    "PHP",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "XDG_",
    "DOCKER",
    "KUBE",
    "GCONV",
    "GNUPG",
    "CVS",
    "SVN",
    "HG",
    "TAR_",
    "ZIP",
    "GREP_",
    "RIPGREP_",
    "ACK_",
    "FZF_",
    "BAT_",
    "DELTA_",
    "SUDO_",
    "SYSTEMD_",
    "GLIBC_",
    "HIST",
    "EPOCH",
    "COMP",
    "READLINE_",
    "DIRSTACK",
    "GROUPS",
    "TEXTDOMAIN",
    "MALLOC_",
    "PROMPT_",
    "CURL_",
    "WGET",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
];

/// Ends of such names.
const ENDS: &[&str] = &[
    "PATH", "_COMMAND", "_EDITOR", "_PAGER", "_ASKPASS", "_OPTIONS", "_OPTS", "_CONFIG",
    "_WRAPPER", "_SHELL", "_PROGRAM", "_RC", "RC", "_HOME",
];

const NAMES: &[&str] = &[
    "ENV",
    "IFS",
    "HOME",
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "HISTFILE",
    "INPUTRC",
    "FCEDIT",
    "ZDOTDIR",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "TERMINFO",
    "POSIXLY_CORRECT",
    "FUNCNEST",
    "MAIL",
    "FIGNORE",
    "TMOUT",
    "OPTIND",
    "REPLY",
    // Bash computes what is assigned to these.
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "COLUMNS",
    "LINES",
    "UID",
    "EUID",
    "PPID",
];

/// Whether to set it may change what runs from then on.
pub(super) fn decides_what_runs(name: &str) -> bool {
    let is_listed = NAMES.contains(&name)
        || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        || ENDS.iter().any(|end| name.ends_with(end));
    is_listed && !environment::is_safe(name)
}

/// The same for one that programs get to see: there are more of them than anybody has listed, but
/// those for programs are written in capitals.
pub(super) fn may_decide_what_runs(name: &str) -> bool {
    let has_capital = name.bytes().any(|byte| byte.is_ascii_uppercase());
    has_capital && !environment::is_safe(name)
}

/// Who gets to see a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    ByTheShell,
    ByPrograms,
}

/// `NAME=value` or `NAME` in a command that declares: whether it is known to change nothing.
pub(super) fn is_harmless(word: &Heard, seen: Seen) -> bool {
    let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
    let name = name.trim_end_matches('+');
    let is_decisive = match seen {
        Seen::ByTheShell => decides_what_runs(name),
        Seen::ByPrograms => may_decide_what_runs(name),
    };
    // A value that is quoted here may be evaluated later: as an index, a number, an array.
    is_identifier(name)
        && !word.begins_unsure
        && !is_decisive
        && !plain::decides_what_runs(value)
        && !holds_code(value)
}

pub(super) fn is_identifier(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.starts_with(|first: char| !first.is_ascii_digit())
}
