//! Files of the project that the user's own git would run or obey: hooks that lie in the tree,
//! programs that settings name, files of settings that others include.
//!
//! A command that rewrites such a file runs outside of every cage, when the user runs git. So git
//! is asked, once a session and when its settings change, and what it names is closed to writing,
//! whether it exists or not. The settings are read here as well: conditions on an include may hold
//! later, and git may be missing. What cannot be read is refused.

mod ask;
mod obeyed;
mod text;

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::control::{folders_that_stay, git_controls};
use super::found::Found;
use super::ground::{Ground, PathError};
use super::guard::GitAccess;
use super::ways::way;
use obeyed::{Around, Obeyed, hooks_in};
use text::Setting;

pub(crate) use ask::UsersGit;

/// A file of settings is some kilobytes; git reads all of a larger one, and nobody writes one.
const MOST_BYTES: u64 = 4 << 20;
/// Files of settings for one repository. git stops at ten levels.
const MOST_FILES: usize = 200;
/// How git begins the content of a `.git` that is a file.
const LINK: &str = "gitdir:";

/// What was learned of the repositories of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repositories {
    /// The `.git` of each, a folder, a file or a link.
    names: Vec<PathBuf>,
    /// All files that were read, as they were.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    /// Closed to every command.
    closed: Vec<PathBuf>,
    /// Folders that must stay where they are, or a way leads elsewhere.
    turns: Vec<PathBuf>,
    /// Control folders in the tree that no protected name covers.
    folders: Vec<PathBuf>,
}

/// A file that was changed has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: (u64, u64),
    size: u64,
    changed: (i64, i64),
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.metadata().ok()?;
    Some(Stamp {
        identity: (found.dev(), found.ino()),
        size: found.size(),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}

impl Repositories {
    /// Asks about the repositories of these names, and about those that lie around the ground.
    pub(crate) fn of(ground: &Ground, names: &[PathBuf]) -> Result<Self, PathError> {
        let mut all = Self {
            names: names.to_vec(),
            ..Self::default()
        };
        let mut asked = names.to_vec();
        for place in ground.writable() {
            let mut above = place.ancestors().map(|folder| folder.join(".git"));
            asked.extend(above.find(|name| name.symlink_metadata().is_ok()));
        }
        asked.sort();
        asked.dedup();
        // The user's settings count for repositories that are made later, and elsewhere.
        let home = ground.git.variable("HOME").map(PathBuf::from);
        for place in ground.writable() {
            let around = Around {
                top: &place,
                home: home.as_deref(),
            };
            let files = users_files(&ground.git, home.as_deref());
            all.follow(ground, &around, files)?;
        }
        let deadline = ask::deadline();
        for name in asked {
            all.learn(ground, &name, deadline)?;
        }
        for list in [
            &mut all.names,
            &mut all.closed,
            &mut all.turns,
            &mut all.folders,
        ] {
            list.sort();
            list.dedup();
        }
        all.stamps.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.stamps.dedup_by(|(one, _), (other, _)| one == other);
        Ok(all)
    }

    /// Whether nothing has changed since, as far as the names and the files that were read tell.
    pub(crate) fn are_current(&self, names: &[PathBuf]) -> bool {
        let is_known = |name: &PathBuf| self.names.binary_search(name).is_ok();
        names.iter().all(is_known) && self.stamps.iter().all(|(path, was)| stamp(path) == *was)
    }

    /// Adds what is to be closed for one kind of access.
    pub(crate) fn close(&self, ground: &Ground, git: GitAccess, found: &mut Found) {
        let controls = self.folders.iter().flat_map(|folder| match git {
            GitAccess::ReadOnly => vec![folder.clone()],
            GitAccess::Writes => git_controls(folder),
        });
        let writable = ground.writable();
        for path in self.closed.iter().cloned().chain(controls) {
            let is_around = writable.iter().any(|place| place.starts_with(&path));
            if is_around || !ground.is_writable(&path) {
                continue;
            }
            let is_covered = found.places.iter().any(|place| path.starts_with(place));
            let found_there = path.symlink_metadata();
            if !is_covered && found_there.is_ok_and(|found| !found.is_symlink()) {
                found.places.push(path.clone());
            }
            found.targets.push(path);
        }
        let stay = self.folders.iter().flat_map(|it| folders_that_stay(it));
        let stay = stay.filter(|path| ground.is_writable(path));
        found.turns.extend(self.turns.iter().cloned().chain(stay));
        found.sort();
    }

    fn learn(
        &mut self,
        ground: &Ground,
        dot_git: &Path,
        deadline: Instant,
    ) -> Result<(), PathError> {
        let Some(top) = dot_git.parent() else {
            return Ok(());
        };
        let folder = self.control_folder(dot_git)?;
        let common = self.common_folder(&folder)?;
        for folder in [&folder, &common] {
            if ground.is_writable(folder) && !ground.has_protected_part(folder) {
                self.folders.push(folder.clone());
            }
        }
        let home = ground.git.variable("HOME").map(PathBuf::from);
        let around = Around {
            top,
            home: home.as_deref(),
        };
        let mut files = vec![common.join("config"), folder.join("config.worktree")];
        files.extend(users_files(&ground.git, home.as_deref()));
        self.hooks(ground, &common.join("hooks"));
        self.follow(ground, &around, files)?;
        let Some(answer) = ground.git.ask(dot_git, deadline) else {
            return Ok(());
        };
        self.hooks(ground, &answer.hooks);
        let mut included = Vec::new();
        for (file, setting) in &answer.settings {
            let file = file.as_ref().map(|file| top.join(file));
            if let Some(file) = &file {
                self.close_way(file);
                included.push(file.clone());
            }
            included.extend(self.obey(ground, &around, setting, file.as_deref())?);
        }
        self.follow(ground, &around, included)
    }

    /// Reads files of settings, and those that they include on whatever condition.
    fn follow(
        &mut self,
        ground: &Ground,
        around: &Around<'_>,
        mut open: Vec<PathBuf>,
    ) -> Result<(), PathError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        while let Some(file) = open.pop() {
            if seen.contains(&file) {
                continue;
            }
            if seen.len() == MOST_FILES {
                let reason = format!("it is one of more than {MOST_FILES} that settings include");
                return Err(PathError::GitSettings { path: file, reason });
            }
            let text = self.read(&file)?;
            for setting in text.iter().flat_map(|text| text::parse(text)) {
                open.extend(self.obey(ground, around, &setting, Some(&file))?);
            }
            seen.push(file);
        }
        Ok(())
    }

    /// Closes what a setting leads to. Tells which further settings count.
    fn obey(
        &mut self,
        ground: &Ground,
        around: &Around<'_>,
        setting: &Setting,
        file: Option<&Path>,
    ) -> Result<Option<PathBuf>, PathError> {
        let obeyed = around.obeyed(setting, file);
        let is_text = !setting.value.contains('\u{fffd}');
        if obeyed != Obeyed::Nothing && !is_text {
            let reason = format!("the value of {} is not UTF-8 text", setting.key);
            let path = file.unwrap_or(around.top).to_owned();
            return Err(PathError::GitSettings { path, reason });
        }
        match obeyed {
            Obeyed::Hooks(folder) => self.hooks(ground, &folder),
            Obeyed::Programs(files) => {
                files.iter().for_each(|file| self.close_way(file));
            }
            Obeyed::Settings(file) => {
                self.close_way(&file);
                return Ok(Some(file));
            }
            Obeyed::Nothing => {}
        }
        Ok(None)
    }

    /// A folder of hooks as a whole, or each hook in it where that would close a root; and where
    /// those lead that are links.
    fn hooks(&mut self, ground: &Ground, folder: &Path) {
        let end = self.end(folder);
        let writable = ground.writable();
        if writable.iter().any(|place| place.starts_with(&end)) {
            for hook in hooks_in(&end) {
                self.close_way(&hook);
            }
            return;
        }
        self.stamps.push((end.clone(), stamp(&end)));
        let entries = std::fs::read_dir(&end).into_iter().flatten();
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        for link in paths.filter(|path| path.is_symlink()) {
            self.close_way(&link);
        }
        self.closed.push(end);
    }

    /// Where a `.git` leads.
    fn control_folder(&mut self, dot_git: &Path) -> Result<PathBuf, PathError> {
        let end = match dot_git.is_symlink() {
            true => self.end(dot_git),
            false => dot_git.to_owned(),
        };
        if !end.is_file() {
            // A folder, or what may become one.
            return Ok(end);
        }
        let text = self.read(dot_git)?.unwrap_or_default();
        let target = text.strip_prefix(LINK).map(str::trim).unwrap_or_default();
        let top = dot_git.parent().unwrap_or(dot_git);
        Ok(match target {
            // No repository, or not yet.
            "" => end,
            target => self.end(&top.join(target)),
        })
    }

    /// Where the settings and hooks of a linked work tree are.
    fn common_folder(&mut self, folder: &Path) -> Result<PathBuf, PathError> {
        let text = self.read(&folder.join("commondir"))?;
        Ok(match text.as_deref().map(str::trim) {
            None | Some("") => folder.to_owned(),
            Some(target) => self.end(&folder.join(target)),
        })
    }

    /// Where a path leads; the links on the way are closed.
    fn end(&mut self, path: &Path) -> PathBuf {
        let way = way(path);
        self.closed.extend(way.links);
        self.turns.extend(way.turns);
        way.end
    }

    /// The same with the end.
    fn close_way(&mut self, path: &Path) {
        let end = self.end(path);
        self.closed.push(end);
    }

    /// The text of a file, if it exists.
    fn read(&mut self, path: &Path) -> Result<Option<String>, PathError> {
        self.stamps.push((path.to_owned(), stamp(path)));
        match read(path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(PathError::GitSettings {
                path: path.to_owned(),
                reason: error.to_string(),
            }),
        }
    }
}

/// Settings of the user and of the machine, where git keeps them.
fn users_files(git: &UsersGit, home: Option<&Path>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]
        .iter()
        .filter_map(|name| git.variable(name).map(PathBuf::from))
        .filter(|path| path.is_absolute() && path != Path::new("/dev/null"))
        .collect();
    all.extend(["/etc/gitconfig", "/usr/local/etc/gitconfig"].map(PathBuf::from));
    all.extend(home.map(|home| home.join(".gitconfig")));
    let own = git.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let own = own.or_else(|| home.map(|home| home.join(".config")));
    all.extend(own.map(|folder| folder.join("git/config")));
    all
}

/// What a repository brings along may be a pipe or endless.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let reason = format!("it is larger than {MOST_BYTES} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
