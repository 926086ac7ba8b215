//! git's own word on a repository: its settings as they take effect, and where its hooks are.
//!
//! Only questions that start nothing of the repository's: no hook, watcher, filter, pager, helper
//! or fetch has a part in listing settings. git is looked for outside of everything that commands
//! can write to.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::text::Setting;
use crate::process::question::Question;

/// One question takes git some milliseconds.
const TIME: Duration = Duration::from_secs(2);
/// For all repositories of a session; the rest is read without git. Somebody waits for it.
const TIME_FOR_ALL: Duration = Duration::from_secs(4);
/// Settings with all that is included. More is no answer.
const MOST: u64 = 4 << 20;
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that say where the user's git finds its settings.
const SETTINGS: [&str; 2] = ["HOME", "XDG_CONFIG_HOME"];
/// The same, and settings themselves.
const SETTINGS_BEGIN: &[u8] = b"GIT_CONFIG";

/// git starts nothing and asks nobody with these.
const QUIET: [(&str, &str); 6] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_ASKPASS", "true"),
];

/// How the user's git is asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsersGit {
    program: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

impl UsersGit {
    /// `host` are the variables of the user; `writable` is what commands may change.
    pub(crate) fn find(host: &[(OsString, OsString)], writable: &[PathBuf]) -> Self {
        let is_safe = |path: &Path| {
            let real = path.canonicalize();
            real.is_ok_and(|real| !writable.iter().any(|place| real.starts_with(place)))
        };
        let path = host.iter().rfind(|(name, _)| name == "PATH");
        let path = path.map_or(OsStr::new(USUAL_PATH), |(_, path)| path.as_os_str());
        let folders = std::env::split_paths(path).filter(|one| one.is_absolute() && is_safe(one));
        let folders: Vec<PathBuf> = folders.collect();
        let programs = folders.iter().map(|folder| folder.join("git"));
        let mut programs = programs.filter(|program| is_program(program) && is_safe(program));
        let wanted = |name: &OsStr| {
            SETTINGS.iter().any(|one| name == *one) || name.as_bytes().starts_with(SETTINGS_BEGIN)
        };
        let mut environment: Vec<(OsString, OsString)> = host.to_vec();
        environment.retain(|(name, _)| wanted(name));
        let quiet = QUIET
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        environment.extend(quiet);
        environment.extend(
            std::env::join_paths(&folders)
                .ok()
                .map(|all| ("PATH".into(), all)),
        );
        Self {
            program: programs.next(),
            environment,
        }
    }

    pub(super) fn variable(&self, wanted: &str) -> Option<&OsStr> {
        let mut all = self.environment.iter();
        let found = all.rfind(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| value.as_os_str())
    }

    /// All settings that take effect, each with the file that it stands in, and the folder of the
    /// hooks. `None` where git is missing, fails or comes to no answer by `deadline`.
    pub(super) fn ask(&self, dot_git: &Path, deadline: Instant) -> Option<Answer> {
        let list = ["config", "--list", "-z", "--show-origin", "--includes"];
        let list = self.question(dot_git, &list, deadline)?;
        let hooks = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
        let mut hooks = self.question(dot_git, &hooks, deadline)?;
        if hooks.last() == Some(&b'\n') {
            hooks.pop();
        }
        let hooks = PathBuf::from(OsString::from_vec(hooks));
        hooks.is_absolute().then_some(Answer {
            settings: listed(&list),
            hooks,
        })
    }

    fn question(&self, dot_git: &Path, words: &[&str], deadline: Instant) -> Option<Vec<u8>> {
        let folder = dot_git.parent()?;
        let left = deadline.saturating_duration_since(Instant::now());
        // Named outright: git must neither look for another repository nor mind its owner.
        let arguments = [
            OsStr::new("--no-pager"),
            OsStr::new("--git-dir"),
            dot_git.as_os_str(),
        ];
        let arguments = arguments.into_iter().chain(words.iter().map(OsStr::new));
        let question = Question {
            program: self.program.as_deref()?,
            arguments: arguments.map(OsStr::to_owned).collect(),
            environment: &self.environment,
            folder: folder.to_owned(),
            time: TIME.min(left),
            most: MOST,
        };
        question.ask().ok()
    }
}

pub(super) fn deadline() -> Instant {
    Instant::now() + TIME_FOR_ALL
}

/// What git said of a repository.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) settings: Vec<(Option<PathBuf>, Setting)>,
    pub(super) hooks: PathBuf,
}

/// A list with a zero byte behind each place and behind each setting. Places are relative to the
/// folder that git was asked in.
fn listed(list: &[u8]) -> Vec<(Option<PathBuf>, Setting)> {
    let mut parts = list.split(|byte| *byte == 0);
    let mut all = Vec::new();
    while let (Some(place), Some(setting)) = (parts.next(), parts.next()) {
        let file = place.strip_prefix(b"file:");
        let file = file.map(|file| PathBuf::from(OsStr::from_bytes(file)));
        let setting = String::from_utf8_lossy(setting);
        let (key, value) = setting.split_once('\n').unwrap_or((&setting, ""));
        all.push((
            file,
            Setting {
                key: key.to_owned(),
                value: value.to_owned(),
            },
        ));
    }
    all
}

fn is_program(path: &Path) -> bool {
    let found = path.metadata();
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
