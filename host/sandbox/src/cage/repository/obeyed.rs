//! From git's settings to the files that git would run or obey because of them.

use std::path::{Path, PathBuf};

use super::text::Setting;

/// Settings whose values are texts for a shell, or programs: the first and the last part of the
/// key.
const PROGRAMS: &[(&str, &str)] = &[
    ("core", "fsmonitor"),
    ("core", "sshcommand"),
    ("core", "gitproxy"),
    ("core", "askpass"),
    ("core", "editor"),
    ("core", "pager"),
    ("core", "alternaterefscommand"),
    ("alias", ""),
    ("browser", "cmd"),
    ("browser", "path"),
    ("credential", "helper"),
    ("diff", "command"),
    ("diff", "external"),
    ("diff", "textconv"),
    ("difftool", "cmd"),
    ("difftool", "path"),
    ("filter", "clean"),
    ("filter", "process"),
    ("filter", "smudge"),
    ("gc", "recentobjectshook"),
    ("gpg", "defaultkeycommand"),
    ("gpg", "program"),
    ("guitool", "cmd"),
    ("hook", "command"),
    ("imap", "tunnel"),
    ("instaweb", "browser"),
    ("instaweb", "httpd"),
    ("interactive", "difffilter"),
    ("lfs", "clean"),
    ("lfs", "path"),
    ("lfs", "smudge"),
    ("man", "cmd"),
    ("man", "path"),
    ("merge", "driver"),
    ("mergetool", "cmd"),
    ("mergetool", "path"),
    ("pager", ""),
    ("receive", "procreceiverefs"),
    ("remote", "receivepack"),
    ("remote", "uploadpack"),
    ("sendemail", "sendmailcmd"),
    ("sendemail", "smtpserver"),
    ("sendemail", "tocmd"),
    ("sendemail", "cccmd"),
    ("sendemail", "headercmd"),
    ("sequence", "editor"),
    ("submodule", "update"),
    ("svn", "authorsprog"),
    ("tar", "command"),
    ("trailer", "cmd"),
    ("trailer", "command"),
    ("uploadpack", "packobjectshook"),
    ("web", "browser"),
];

/// Every hook of git. Where the folder of hooks cannot be closed as a whole, these are.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Where values are about.
pub(super) struct Around<'a> {
    /// The folder that git runs hooks and commands in.
    pub(super) top: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// What a setting leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Obeyed {
    /// A folder of hooks.
    Hooks(PathBuf),
    /// A file with more settings.
    Settings(PathBuf),
    /// Files that a command names.
    Programs(Vec<PathBuf>),
    Nothing,
}

impl Around<'_> {
    /// `file` is where the setting stands.
    pub(super) fn obeyed(&self, setting: &Setting, file: Option<&Path>) -> Obeyed {
        let Some((section, name)) = setting.ends() else {
            return Obeyed::Nothing;
        };
        let value = setting.value.as_str();
        match (section, name) {
            ("core", "hookspath") | ("init", "templatedir") if value.is_empty() => Obeyed::Nothing,
            // What a new repository begins with is copied from there, its hooks included.
            ("core", "hookspath") | ("init", "templatedir") => {
                Obeyed::Hooks(self.path(value, self.top))
            }
            ("include" | "includeif", "path") if !value.is_empty() => {
                let base = file.and_then(Path::parent).unwrap_or(self.top);
                Obeyed::Settings(self.path(value, base))
            }
            (section, name) if is_program(section, name) => Obeyed::Programs(self.files(value)),
            _ => Obeyed::Nothing,
        }
    }

    /// A path as git expands it.
    fn path(&self, value: &str, base: &Path) -> PathBuf {
        // Where git is installed, which no project is.
        let value = value.strip_prefix("%(prefix)/").unwrap_or(value);
        match (value.strip_prefix('~'), self.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            // Another user's, beside this one's as a rule.
            (Some(rest), Some(home)) => home.parent().unwrap_or(home).join(rest),
            (Some(_), None) | (None, _) => base.join(value),
        }
    }

    /// The files that a command may name: words with a slash, and other words that are files. The
    /// first word without a slash is looked up elsewhere.
    fn files(&self, value: &str) -> Vec<PathBuf> {
        let value = value.trim_start_matches('!');
        let ends_word = |one: char| one.is_whitespace() || "\"'`;|&()<>$=,{}\\".contains(one);
        let words = value.split(ends_word).filter(|word| !word.is_empty());
        let mut files = Vec::new();
        for (index, word) in words.enumerate() {
            // `-Ffile` is a flag with its value.
            let word = match word.strip_prefix('-') {
                Some(flag) if !flag.starts_with('-') => {
                    let mut letters = flag.chars();
                    letters.next();
                    letters.as_str()
                }
                Some(_) | None => word,
            };
            let path = self.path(word, self.top);
            let is_named = word.contains('/') && !path.is_dir();
            if is_named || index > 0 && path.is_file() {
                files.push(path);
            }
            // What is left of `$(git rev-parse --show-toplevel)/x` or `$PWD/x`.
            let below = self.top.join(word.trim_start_matches('/'));
            if word.starts_with('/') && below.is_file() {
                files.push(below);
            }
        }
        files
    }
}

fn is_program(section: &str, name: &str) -> bool {
    let is_it = |(one, last): &(&str, &str)| *one == section && (last.is_empty() || *last == name);
    PROGRAMS.iter().any(is_it)
}

/// The hooks that a folder may hold, one by one.
pub(super) fn hooks_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    HOOKS.iter().map(move |name| folder.join(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn settings_lead_to_files() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for file in ["evil", "bin/tool"] {
            let file = top.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let around = Around {
            top,
            home: Some(Path::new("/home/u")),
        };
        let at = |list: &[&str]| list.iter().map(|part| top.join(part)).collect();
        for (key, value, wanted) in [
            (
                "core.hookspath",
                ".husky/_",
                Obeyed::Hooks(top.join(".husky/_")),
            ),
            ("core.hookspath", "~/h", Obeyed::Hooks("/home/u/h".into())),
            ("core.hookspath", "~v/h", Obeyed::Hooks("/home/v/h".into())),
            ("include.path", "../x", Obeyed::Settings("/f/../x".into())),
            (
                "includeif.onbranch:a.b.path",
                "x",
                Obeyed::Settings("/f/x".into()),
            ),
            (
                "core.fsmonitor",
                "./evil",
                Obeyed::Programs(at(&["./evil"])),
            ),
            (
                "core.fsmonitor",
                "./later",
                Obeyed::Programs(at(&["./later"])),
            ),
            ("core.fsmonitor", "true", Obeyed::Programs(at(&[]))),
            // By a name without a slash a program is looked up in `PATH`.
            ("core.editor", "evil", Obeyed::Programs(at(&[]))),
            (
                "filter.a.b.clean",
                "sh evil; cat",
                Obeyed::Programs(at(&["evil"])),
            ),
            (
                "filter.lfs.clean",
                "git-lfs clean -- %f",
                Obeyed::Programs(at(&[])),
            ),
            (
                "alias.x",
                "!f() { ./bin/tool; }; f",
                Obeyed::Programs(at(&["./bin/tool"])),
            ),
            (
                "alias.x",
                "!$(git rev-parse --show-toplevel)/bin/tool",
                Obeyed::Programs(vec!["/bin/tool".into(), top.join("bin/tool")]),
            ),
            ("pager.log", "./bin", Obeyed::Programs(at(&[]))),
            (
                "credential.https://x.y.helper",
                "!./evil",
                Obeyed::Programs(at(&["./evil"])),
            ),
            (
                "core.sshcommand",
                "ssh -Fssh/config -v -i key",
                Obeyed::Programs(at(&["ssh/config"])),
            ),
            ("init.templatedir", "tmpl", Obeyed::Hooks(top.join("tmpl"))),
            (
                "lfs.customtransfer.x.path",
                "./xfer",
                Obeyed::Programs(at(&["./xfer"])),
            ),
            (
                "gc.recentobjectshook",
                "./recent",
                Obeyed::Programs(at(&["./recent"])),
            ),
            ("remote.origin.url", "./evil", Obeyed::Nothing),
            ("user.name", "a/b", Obeyed::Nothing),
        ] {
            let setting = Setting {
                key: key.into(),
                value: value.into(),
            };
            let found = around.obeyed(&setting, Some(Path::new("/f/config")));
            assert_eq!(found, wanted, "{key} = {value}");
        }
    }
}
