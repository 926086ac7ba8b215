//! What commands that are in no table read and write, as far as their operands say it. It
//! informs; it allows nothing.

use crate::reading::Word;
use crate::wrapper::basename;

#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) reads: Vec<Word>,
    pub(crate) writes: Vec<Word>,
}

/// How the operands of a family of commands are meant.
enum Roles {
    /// All are changed.
    Writes,
    /// All are read, the last is written.
    IntoLast,
    /// The first is no path, the others are changed.
    WritesAfterFirst,
    /// All are read.
    Reads,
    /// The first is no path, the others are read.
    ReadsAfterFirst,
}

/// The families, by the programs that belong to them.
const FAMILIES: &[(&[&str], Roles)] = &[
    (&["rm", "rmdir", "unlink", "shred"], Roles::Writes),
    (
        &["mkdir", "touch", "mkfifo", "mknod", "truncate", "tee"],
        Roles::Writes,
    ),
    (
        &["chmod", "chown", "chgrp", "setfacl", "chattr"],
        Roles::WritesAfterFirst,
    ),
    (
        &["cp", "mv", "ln", "install", "rsync", "scp"],
        Roles::IntoLast,
    ),
    (
        &[
            "cat", "tac", "head", "tail", "less", "more", "wc", "nl", "od", "xxd", "strings",
        ],
        Roles::Reads,
    ),
    (
        &[
            "sort", "uniq", "cut", "paste", "join", "comm", "fold", "fmt", "column",
        ],
        Roles::Reads,
    ),
    (
        &[
            "ls", "dir", "tree", "stat", "file", "du", "df", "readlink", "realpath",
        ],
        Roles::Reads,
    ),
    (
        &[
            "diff",
            "cmp",
            "sdiff",
            "diff3",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "sha512sum",
        ],
        Roles::Reads,
    ),
    (
        &[
            "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "awk", "sed",
        ],
        Roles::ReadsAfterFirst,
    ),
    (
        &[
            "source", ".", "python", "python3", "node", "ruby", "perl", "bash", "sh",
        ],
        Roles::Reads,
    ),
    (
        &[
            "tar", "zip", "unzip", "gzip", "gunzip", "bzip2", "xz", "zstd",
        ],
        Roles::Reads,
    ),
];

pub(crate) fn of(words: &[Word]) -> Effects {
    let Some((name, rest)) = words.split_first() else {
        return Effects::default();
    };
    let base = basename(&name.text);
    let family = FAMILIES.iter().find(|(names, _)| names.contains(&base));
    let Some((_, roles)) = family else {
        return Effects::default();
    };
    let operands = operands(rest);
    let in_place = matches!(base, "sed" | "perl")
        && rest
            .iter()
            .any(|word| word.text.starts_with("-i") || word.text.starts_with("--in-place"));
    let after_first = || operands.iter().skip(1).cloned().collect::<Vec<_>>();
    let mut effects = Effects::default();
    match roles {
        _ if in_place => effects.writes = after_first(),
        Roles::Writes => effects.writes = operands,
        Roles::WritesAfterFirst => effects.writes = after_first(),
        Roles::Reads => effects.reads = operands,
        Roles::ReadsAfterFirst => effects.reads = after_first(),
        Roles::IntoLast => {
            let mut operands = operands;
            effects.writes.extend(operands.pop());
            if base == "mv" {
                effects.writes.extend(operands);
            } else {
                effects.reads = operands;
            }
        }
    }
    effects
}

fn operands(rest: &[Word]) -> Vec<Word> {
    let mut only_operands = false;
    rest.iter()
        .filter(|word| {
            if !only_operands && word.text == "--" {
                only_operands = true;
                return false;
            }
            only_operands || !word.text.starts_with('-')
        })
        .cloned()
        .collect()
}
