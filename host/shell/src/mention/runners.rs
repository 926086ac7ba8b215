//! Commands that run what stands in their arguments: shells, `eval`, `find -exec`, runners of
//! other programs. It is about hearing what they run; whether all was heard is asked in `plain.rs`.

mod names;

use super::Listener;
use super::heard::Heard;
use crate::wrapper::basename;
use names::{RUNNERS, SHELLS, TEXT_FLAGS, TEXT_RUNNERS};

/// Where among a runner's words its command may begin. One that has more flags is opaque anyway.
const MOST_STARTS: usize = 16;

impl Listener {
    /// What a command runs beside itself.
    pub(super) fn run(&mut self, words: &[Heard], depth: usize) {
        let Some((name, rest)) = words.split_first() else {
            return;
        };
        let base = basename(&name.text).to_owned();
        match base.as_str() {
            shell if SHELLS.contains(&shell) => self.shell(rest, depth),
            "eval" => {
                self.found.is_opaque |= rest.iter().any(|word| !word.is_sure);
                self.script(&joined(rest), depth + 1);
            }
            "trap" => self.first_operand(rest, depth),
            "ssh" => self.behind_operand(rest, depth),
            "find" => self.between(rest, &["-exec", "-execdir", "-ok", "-okdir"], depth),
            "fd" | "fdfind" => {
                self.between(rest, &["-x", "-X", "--exec", "--exec-batch"], depth);
            }
            "git" => {
                for word in rest {
                    if let Some((_, script)) = word.text.split_once("=!") {
                        self.script(script, depth + 1);
                    }
                }
            }
            "env" => self.split_string(rest, depth),
            _ => {}
        }
        if TEXT_RUNNERS.contains(&base.as_str()) {
            self.texts(rest, depth);
        }
        self.flags(&base, rest, depth);
        self.runner(&base, rest, depth);
    }

    fn shell(&mut self, rest: &[Heard], depth: usize) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let is_cluster = text.starts_with(['-', '+']) && !text.starts_with("--");
            if is_cluster && text.contains('c') {
                // The flags behind it come first, then the script.
                match words.find(|word| !word.text.starts_with(['-', '+'])) {
                    Some(script) => {
                        self.found.is_opaque |= !script.is_sure;
                        self.script(&script.text, depth + 1);
                    }
                    None => self.found.is_opaque = true,
                }
                return;
            }
            if !text.starts_with(['-', '+']) {
                // A file.
                self.found.is_opaque = true;
                return;
            }
        }
        self.has_hungry_shell = true;
        self.found.is_opaque = true;
    }

    fn first_operand(&mut self, rest: &[Heard], depth: usize) {
        if let Some(word) = rest.iter().find(|word| !word.text.starts_with('-')) {
            self.script(&word.text, depth + 1);
        }
    }

    /// `ssh host command words`: everything behind the host is a script for its shell.
    fn behind_operand(&mut self, rest: &[Heard], depth: usize) {
        let host = rest.iter().position(|word| !word.text.starts_with('-'));
        if let Some(at) = host {
            self.script(&joined(&rest[at + 1..]), depth + 1);
        }
        self.found.is_opaque = true;
    }

    /// Commands that begin behind a flag and end at `;` or `+`.
    fn between(&mut self, rest: &[Heard], flags: &[&str], depth: usize) {
        for (at, word) in rest.iter().enumerate() {
            if flags.contains(&word.text.as_str()) {
                let inner = &rest[at + 1..];
                let end = inner
                    .iter()
                    .position(|word| matches!(word.text.as_str(), ";" | "+"))
                    .unwrap_or(inner.len());
                let command: Vec<Heard> = inner[..end].iter().map(filled_in).collect();
                self.command(&command, depth + 1);
            }
        }
    }

    /// `env -S 'command words'`, `-iScommand`.
    fn split_string(&mut self, rest: &[Heard], depth: usize) {
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_str();
            let is_cluster = text.starts_with('-') && !text.starts_with("--");
            let long = text
                .split_once('=')
                .filter(|(name, _)| name.len() > 2 && "--split-string".starts_with(name));
            let attached = match text.split_once('S').filter(|_| is_cluster) {
                Some((_, script)) => Some(script),
                None => long.map(|(_, script)| script),
            };
            let is_long = text.len() > 2 && "--split-string".starts_with(text);
            let script = match attached {
                Some("") => rest.get(at + 1).map(|word| word.text.as_str()),
                None if is_long => rest.get(at + 1).map(|word| word.text.as_str()),
                attached => attached,
            };
            if let Some(script) = script {
                let behind: Vec<&str> = rest[at + 1..].iter().map(AsRef::as_ref).collect();
                self.script(script, depth + 1);
                self.script(&format!("{script} {}", behind.join(" ")), depth + 1);
            }
        }
    }

    /// Words, and values in the same word as their flag, that are scripts or programs.
    fn texts(&mut self, rest: &[Heard], depth: usize) {
        for word in rest.iter().take(MOST_STARTS) {
            let text = word.text.as_str();
            let value = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => Some(value),
                _ => text.strip_prefix('-').and_then(|rest| rest.get(1..)),
            };
            for script in value.into_iter().chain([text]) {
                let script = script.trim_start_matches(['!', '+', '|', ':']);
                if !script.is_empty() && !script.starts_with('-') {
                    self.script(script, depth + 1);
                }
            }
        }
    }

    /// Values of flags that are scripts or programs.
    fn flags(&mut self, base: &str, rest: &[Heard], depth: usize) {
        let Some((_, flags)) = TEXT_FLAGS.iter().find(|(name, _)| *name == base) else {
            return;
        };
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_str();
            let next = || rest.get(at + 1).map(|next| next.text.as_str());
            let value = flags.iter().find_map(|flag| match text.split_once('=') {
                Some((name, value)) if is_abbreviation(name, flag) => Some(value),
                _ if text == *flag || is_abbreviation(text, flag) => next(),
                _ if flag.len() == 2 => text.strip_prefix(flag),
                _ => None,
            });
            if let Some(value) = value {
                self.script(value.strip_prefix("exec=").unwrap_or(value), depth + 1);
            }
        }
    }

    /// A runner's command begins at one of the words behind its sub-command.
    fn runner(&mut self, base: &str, rest: &[Heard], depth: usize) {
        let Some((_, subcommands)) = RUNNERS.iter().find(|(name, _)| *name == base) else {
            return;
        };
        let runs = |word: &Heard| subcommands.contains(&word.text.as_str());
        let from = match subcommands.is_empty() {
            true => Some(0),
            false => rest.iter().position(runs).map(|at| at + 1),
        };
        let Some(from) = from else { return };
        self.found.is_opaque = true;
        for start in (from..rest.len()).take(MOST_STARTS) {
            let text = rest[start].text.as_str();
            if !text.starts_with('-') && !text.is_empty() {
                self.behind_runner(&rest[start..], depth);
            }
        }
    }

    /// A command that may be one. What it runs itself is heard if it says so by its name.
    fn behind_runner(&mut self, words: &[Heard], depth: usize) {
        let base = basename(&words[0].text);
        let is_known = SHELLS.contains(&base)
            || crate::wrapper::is_wrapper(base)
            || RUNNERS.iter().any(|(name, _)| *name == base);
        if is_known && depth < 3 {
            self.command(words, depth + 1);
        } else {
            self.mention(words);
        }
        if words[0].text.contains(' ') {
            self.script(&words[0].text.clone(), depth + 1);
        }
    }
}

/// Many programs take the beginning of a long flag for all of it.
fn is_abbreviation(name: &str, flag: &str) -> bool {
    flag.starts_with("--") && name.len() > 2 && flag.starts_with(name)
}

/// `find` and `fd` put names where braces stand.
fn filled_in(word: &Heard) -> Heard {
    if word.text.contains('{') && word.text.contains('}') {
        Heard {
            is_sure: false,
            splits: true,
            word: None,
            ..word.clone()
        }
    } else {
        word.clone()
    }
}

fn joined(words: &[Heard]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}
