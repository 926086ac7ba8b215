//! Commands that run what stands in their arguments: shells, `eval`, `find -exec`, interpreters.

use super::Listener;
use super::heard::Heard;
use crate::wrapper::basename;

const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "yash",
];

/// Programs that run a text or file in a language that is not looked into.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "osascript",
    "Rscript",
    "julia",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "m4",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "gdb",
    "lldb",
    "make",
    "gmake",
    "ninja",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "pwsh",
    "powershell",
    "at",
    "batch",
    "crontab",
    "docker",
    "podman",
    "kubectl",
    "tar",
    "rsync",
    "screen",
    "tmux",
    "npm",
    "yarn",
    "pnpm",
    "cargo",
    "go",
    "git",
    "man",
    "psql",
    "sqlite3",
    "mysql",
    "ld.so",
    "ld-linux-x86-64.so.2",
    "ld-linux.so.2",
    "source",
    ".",
    "enable",
    "alias",
    "bind",
    "complete",
    "compgen",
    "mapfile",
    "readarray",
    "fc",
    "history",
    "zmodload",
    "autoload",
    "emulate",
];

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
            "su" | "script" | "runuser" | "flock" | "sg" => {
                self.behind_flag(rest, &["-c", "--command"], depth);
            }
            "watch" | "ssh" | "entr" | "parallel" | "hyperfine" | "nodemon" | "sudo" | "doas" => {
                for word in rest.iter().filter(|word| word.text.contains(' ')) {
                    self.script(&word.text, depth + 1);
                }
                if base == "ssh" {
                    self.behind_operand(rest, depth);
                }
            }
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
        if INTERPRETERS.contains(&base.as_str()) || base.starts_with("python") {
            self.found.is_opaque = true;
        }
    }

    fn shell(&mut self, rest: &[Heard], depth: usize) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let is_cluster =
                text.len() > 1 && text.starts_with(['-', '+']) && !text.starts_with("--");
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

    fn behind_flag(&mut self, rest: &[Heard], flags: &[&str], depth: usize) {
        for pair in rest.windows(2) {
            let text = pair[0].text.as_str();
            let is_cluster =
                text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
            if flags.contains(&text) || is_cluster {
                self.script(&pair[1].text, depth + 1);
            }
        }
        for word in rest {
            if let Some(script) = word.text.strip_prefix("--command=") {
                self.script(script, depth + 1);
            }
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
                self.command(&inner[..end], depth + 1);
            }
        }
    }

    /// `env -S 'command words'`.
    fn split_string(&mut self, rest: &[Heard], depth: usize) {
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_str();
            let script = match (
                text,
                text.strip_prefix("--split-string="),
                text.strip_prefix("-S"),
            ) {
                ("-S" | "--split-string", ..) => rest.get(at + 1).map(|word| word.text.clone()),
                (_, Some(script), _) | (_, _, Some(script)) => Some(script.to_owned()),
                _ => None,
            };
            if let Some(script) = script {
                self.script(&script, depth + 1);
            }
        }
    }
}

fn joined(words: &[Heard]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}
