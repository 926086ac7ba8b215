//! Programs that run nothing but themselves.
//!
//! A rule that forbids a command is only worth something where it is known what runs. So the
//! list names the programs that are known to start no other, and every other one makes the
//! script opaque: a list of those that do can never be complete.

mod names;

use super::Listener;
use super::builtins;
use super::heard::Heard;
use super::transparent;
use crate::reading::Word;
use crate::{program, table};
use names::{EXCEPT, OBEYED, PLACES_FILES, PLAIN, PROGRAM_FOLDERS};

impl Listener {
    /// Notes that the command may run something that is not heard.
    pub(super) fn doubt(&mut self, words: &[Heard]) {
        self.found.is_opaque |= !self.runs_only_itself(words);
    }

    fn runs_only_itself(&mut self, words: &[Heard]) -> bool {
        let Some((name, rest)) = words.split_first() else {
            return true;
        };
        let Some(base) = program_name(name) else {
            return false;
        };
        let changes_folder = |word: &Heard| {
            let text = word.text.as_str();
            text.starts_with("-C") || text.starts_with("--chdir") || !word.is_sure
        };
        // What it starts there is judged before this is known.
        if base == "env" && rest.iter().any(changes_folder) {
            return false;
        }
        let moves = matches!(base, "cd" | "pushd");
        let leads_there = |word: &Heard| decides_what_runs(&word.text) || is_pattern(word);
        if moves && rest.iter().any(leads_there) {
            return false;
        }
        self.has_moved |= moves;
        if PLACES_FILES.contains(&base) && may_place_programs(base, rest) {
            return false;
        }
        // Elsewhere may be a repository whose settings run programs.
        if base == "git" && self.has_moved {
            return false;
        }
        if PLAIN.contains(&base) {
            return true;
        }
        if let Some((_, flags)) = EXCEPT.iter().find(|(program, _)| *program == base) {
            return !may_have_flag(base, flags, rest);
        }
        match base {
            // What they run is heard: `run` puts it to the same question.
            "find" => rest.iter().all(|word| word.is_sure && !may_be_flag(word)),
            "eval" | "trap" => rest.iter().all(|word| word.is_sure),
            "sh" | "bash" | "dash" | "ash" => is_plain_shell(rest),
            "sed" => is_plain_sed(rest),
            _ => builtins::evaluates_nothing(base, rest)
                .unwrap_or_else(|| transparent::shows_its_command(words) || is_read_only(words)),
        }
    }
}

/// Folders in which programs are what their names say.
const FOLDERS: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
];

/// The name by which a program is known; none of one that lies in a folder of its own.
fn program_name(name: &Heard) -> Option<&str> {
    if !name.is_sure {
        return None;
    }
    if !name.text.contains('/') {
        return Some(&name.text);
    }
    let mut names = FOLDERS
        .iter()
        .filter_map(|folder| name.text.strip_prefix(folder));
    names.find(|name| !name.contains('/'))
}

/// Whether the tables say of it that it only reads.
fn is_read_only(words: &[Heard]) -> bool {
    let words: Option<Vec<Word>> = words.iter().map(|heard| heard.word.clone()).collect();
    words.is_some_and(|words| table::judge(&words).is_ok())
}

/// `sed`, with `-i` or without, whose script runs nothing.
fn is_plain_sed(rest: &[Heard]) -> bool {
    let words: Option<Vec<Word>> = rest.iter().map(|heard| heard.word.clone()).collect();
    let Some(mut words) = words else {
        return false;
    };
    words.retain(|word| !word.text.starts_with("--in-place"));
    for word in &mut words {
        // `-i.bak`, `-Ei`, `-i''`: what stands behind the letter is a suffix.
        let is_cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        let flags = word.text.find('i').filter(|_| is_cluster);
        let has_script = |flags: usize| word.text[..flags].contains(['e', 'f']);
        if let Some(flags) = flags.filter(|flags| !has_script(*flags)) {
            *word = Word::plain(&word.text[..flags]);
        }
    }
    words.retain(|word| word.text != "-");
    program::named("sed").is_some_and(|judge| judge(&words).is_ok())
}

/// Letters of a shell that start nothing: `i` and `s` are not among them.
const SHELL_LETTERS: &str = "celuxvhn";

/// A shell with a script among its words, which is heard, and no file that it reads before.
fn is_plain_shell(rest: &[Heard]) -> bool {
    let flags: Vec<&Heard> = rest
        .iter()
        .take_while(|word| word.text.starts_with('-'))
        .collect();
    let is_known = |word: &&Heard| {
        word.is_sure
            && (matches!(word.text.as_str(), "--norc" | "--noprofile" | "--posix")
                || word.text[1..].chars().all(|c| SHELL_LETTERS.contains(c)))
    };
    let has_script = |word: &&Heard| !word.text.starts_with("--") && word.text.contains('c');
    let script = rest.get(flags.len());
    flags.iter().all(is_known)
        && flags.iter().any(has_script)
        && script.is_some_and(|script| script.is_sure)
}

/// Whether one of the words is such a flag, or may turn out to be one.
fn may_have_flag(program: &str, flags: &[&str], rest: &[Heard]) -> bool {
    // Not only up to `--`, which may be the value of a flag.
    let mut words = rest.iter();
    // An archive on another machine is reached by a program.
    let is_remote = program == "tar" && rest.iter().any(|word| word.text.contains(':'));
    // The first word of `tar` is a cluster without a dash.
    let old_style = program == "tar"
        && rest
            .first()
            .is_some_and(|word| word.text.contains(['I', 'F']));
    old_style
        || is_remote
        || words.any(|word| may_be_flag(word) || flags.iter().any(|flag| is_flag(word, flag)))
}

fn is_flag(word: &Heard, flag: &str) -> bool {
    let text = word.text.as_str();
    if flag.starts_with("--") {
        let name = text.split('=').next().unwrap_or(text);
        return name.len() > 2 && flag.starts_with(name);
    }
    let is_cluster = text.starts_with('-') && !text.starts_with("--");
    is_cluster && text[1..].contains(&flag[1..])
}

/// Whether the shell may make a flag of it.
pub(super) fn may_be_flag(word: &Heard) -> bool {
    if !word.is_sure {
        return word.splits || word.begins_unsure || word.text.starts_with('-');
    }
    let begins_with_pattern = word.text.starts_with(['*', '?', '[', '{']);
    begins_with_pattern && word.word.as_ref().is_none_or(|word| word.glob)
}

/// Whether to write to it may change what runs from then on: a folder of programs, or a file that
/// shells and programs obey.
pub(super) fn may_decide(word: &Heard) -> bool {
    decides_what_runs(&word.text) || is_pattern(word)
}

/// Whether a program that puts files somewhere may put them where that decides what runs.
fn may_place_programs(base: &str, rest: &[Heard]) -> bool {
    // The folder may stand in the same word as its flag, behind other letters: `-atbin`.
    let is_named = |word: &Heard| {
        let text = word.text.as_str();
        let letters = text.char_indices().filter(|_| text.starts_with('-'));
        decides_what_runs(text)
            || letters
                .skip(1)
                .any(|(at, _)| decides_what_runs(&text[at..]))
    };
    let is_operand = |word: &&Heard| !word.text.starts_with('-');
    let goes_anywhere = |word: &Heard| !word.is_sure || is_pattern(word);
    let last = rest.iter().rfind(is_operand);
    let has_far_end = matches!(base, "cp" | "mv" | "ln" | "install" | "rsync" | "scp");
    let is_pattern_flag = |word: &Heard| is_pattern(word) && base == "ln";
    let into_folder = |pair: &[Heard]| pair[0].text == "-t" && goes_anywhere(&pair[1]);
    rest.iter()
        .any(|word| is_named(word) || is_pattern_flag(word))
        || rest.windows(2).any(into_folder)
        || has_far_end && last.is_some_and(goes_anywhere)
}

/// Whether it stands for files that match it.
fn is_pattern(word: &Heard) -> bool {
    word.text.contains(['*', '?', '[']) && word.word.as_ref().is_none_or(|word| word.glob)
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['/', '=', ':'])
}

fn is_obeyed(text: &str) -> bool {
    parts(text).any(|part| OBEYED.contains(&part))
}

/// Whether a text names one of them.
pub(super) fn decides_what_runs(text: &str) -> bool {
    parts(text).any(|part| PROGRAM_FOLDERS.contains(&part)) || is_obeyed(text)
}
