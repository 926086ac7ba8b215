//! Which new names and changes are refused inside the places that a command may write to.
//!
//! A name that does not exist yet cannot be covered by a mount without leaving something in
//! the user's folder. So nothing in a cage can make names by itself: the doorman makes them
//! on its behalf, after asking here. Names are refused at any depth, so that moving a
//! folder around a name gains nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::checked::Checked;
use super::control::{is_folder_that_stays, is_git, is_gits_own, is_head};
use super::pattern::PathGlob;
use super::plan::{Text, Walls};
use crate::names::folded;

/// A folder or a file that may be written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Zone {
    pub(crate) path: Text,
    pub(crate) kind: ZoneKind,
    /// Device and number of what it must be, where another process could put something else in
    /// its place: of the folder around it, for a file that does not exist.
    pub(crate) identity: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ZoneKind {
    /// The user's: protected names hold.
    Shared,
    /// A folder of the user's that was named for this command: protected names hold below it.
    Named,
    /// A file that was named for this command.
    File,
    /// The same, where it does not exist.
    NewFile,
    /// The command's own, often gone with it: anything goes.
    Private,
}

/// What may be done with the control folder of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitAccess {
    /// Nothing may change.
    #[default]
    ReadOnly,
    /// Commits, branches and the like; what makes git run programs stays closed.
    Writes,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guard {
    pub(crate) zones: Vec<Zone>,
    /// What is shown of the host in private places, not to be changed.
    pub(crate) shown: Vec<Text>,
    /// As they are compared.
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<Text>,
    /// Where protected names lead that are links, and other places that are as good as one.
    pub(crate) targets: Vec<Text>,
    /// Protected names that exist: what lies above them must stay where it is, or the next
    /// command would find them elsewhere and uncovered.
    pub(crate) pins: Vec<Text>,
    /// What nobody could look through for protected names.
    pub(crate) unsearched: Vec<Unsearched>,
    /// Not to be read, whether they exist or not.
    pub(crate) unreadable: Vec<Text>,
    /// Closed like what is named, as soon as something matches.
    pub(crate) patterns: Vec<PathGlob>,
    pub(crate) git: GitAccess,
}

/// A folder that was not looked through. What protected names in it lead to is not known, so
/// nothing in it is open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Unsearched {
    pub(crate) path: Text,
    pub(crate) reason: UnsearchedReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UnsearchedReason {
    /// Its mode does not let us; that can change at any time.
    Unreadable,
    /// There are too many files.
    TooMany,
}

impl Unsearched {
    pub(crate) fn unreadable(path: &Path) -> Self {
        Self {
            path: path.into(),
            reason: UnsearchedReason::Unreadable,
        }
    }

    fn sentence(&self) -> String {
        let path = self.path.path().display();
        match self.reason {
            UnsearchedReason::Unreadable => format!(
                "{path} cannot be looked through for protected names, so nothing in it may be \
                 changed: make it readable (`chmod u+rx`) before the command starts"
            ),
            UnsearchedReason::TooMany => format!(
                "{path} was not looked through for protected names, so nothing in it may be \
                 changed: the folders of this session hold too many files; name smaller ones"
            ),
        }
    }
}

/// What somebody wants to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A new file, or a change to an existing one.
    Write,
    /// Something new that is no file.
    Make,
    /// Something that is elsewhere, or leads elsewhere, gets this name.
    Place,
    /// The same for a link that is made.
    Link,
    /// The name goes away.
    Remove,
}

/// What gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    File,
    Folder,
}

impl Act {
    /// Whether what lies below a path lies elsewhere afterwards, or nowhere.
    fn moves(self) -> bool {
        match self {
            Self::Write | Self::Make => false,
            Self::Place | Self::Link | Self::Remove => true,
        }
    }
}

/// How the kernel marks the path of what has been removed.
pub(crate) const REMOVED: &[u8] = b" (deleted)";

impl Guard {
    /// The zone that a path lies in. Private ones may lie around shared ones.
    pub(crate) fn zone(&self, path: &Path) -> Option<&Zone> {
        let zones = self.zones.iter();
        let zone = zones
            .filter(|zone| match zone.kind {
                ZoneKind::Shared | ZoneKind::Named | ZoneKind::Private => {
                    path.starts_with(zone.path.path())
                }
                ZoneKind::File | ZoneKind::NewFile => path == zone.path.path(),
            })
            .max_by_key(|zone| zone.path.0.len())?;
        let is_around = |shown: &Text| {
            let shown = shown.path();
            path.starts_with(shown) && shown.starts_with(zone.path.path())
        };
        let is_shown = match zone.kind {
            ZoneKind::Private => self.shown.iter().any(is_around),
            ZoneKind::Shared | ZoneKind::Named | ZoneKind::File | ZoneKind::NewFile => false,
        };
        (!is_shown).then_some(zone)
    }

    /// Why something must not be done, or `None` where it may.
    pub(crate) fn refuses(&self, act: Act, path: &Path) -> Option<String> {
        let zone = self.zone(path)?;
        let top = zone.path.path();
        let stays = match zone.kind {
            ZoneKind::Private => return None,
            ZoneKind::Shared => false,
            ZoneKind::Named => act.moves() && path == top,
            ZoneKind::File | ZoneKind::NewFile => act != Act::Write,
        };
        if stays {
            let path = path.display();
            return Some(format!("{path} can be written to, not replaced or removed"));
        }
        if act == Act::Link && self.control_folder(path).is_some() {
            let path = path.display();
            return Some(format!("{path}: links in a repository are protected"));
        }
        let by_name = path
            .strip_prefix(top)
            .ok()
            .and_then(|inside| self.protected_part(inside));
        if let Some(name) = by_name {
            return Some(format!("{}: `{name}` is protected", path.display()));
        }
        if self.must_stay(act, path) {
            let path = path.display();
            return Some(format!(
                "{path} stays: without it git would see no repository here, and perhaps another one"
            ));
        }
        let is_direct = matches!(act, Act::Write | Act::Make | Act::Link);
        if is_direct && self.checked(path).is_some() {
            let path = path.display();
            return Some(format!(
                "{path} is only changed by way of a lock file, as git does"
            ));
        }
        let is_unsearched = |one: &&Unsearched| match zone.kind {
            ZoneKind::Shared | ZoneKind::Private | ZoneKind::Named => {
                path.starts_with(one.path.path())
            }
            // It was named itself.
            ZoneKind::File | ZoneKind::NewFile => false,
        };
        if let Some(unsearched) = self.unsearched.iter().find(is_unsearched) {
            return Some(unsearched.sentence());
        }
        if self.patterns.iter().any(|pattern| pattern.covers(path)) {
            return Some(format!("{} is closed by a deny rule", path.display()));
        }
        let leads_in = |pattern: &PathGlob| act == Act::Link && pattern.depends_on(path);
        if self.patterns.iter().any(leads_in) {
            let path = path.display();
            return Some(format!(
                "{path} must not be a link: a deny rule is about files below it"
            ));
        }
        let covers = |protected: &&Text| {
            let protected = protected.path();
            path.starts_with(protected) || act.moves() && protected.starts_with(path)
        };
        let counts = |target: &&Text| match zone.kind {
            ZoneKind::Shared | ZoneKind::Private => true,
            // What lies around it was named with it.
            ZoneKind::Named | ZoneKind::File | ZoneKind::NewFile => {
                target.path().starts_with(top) && target.path() != top
            }
        };
        let targets = self.targets.iter().filter(counts);
        if let Some(protected) = self.paths.iter().chain(targets).find(covers) {
            return Some(format!("{} is protected", protected.path().display()));
        }
        let holds = |pin: &&Text| act.moves() && pin.path().starts_with(path);
        let pin = self.pins.iter().find(holds)?;
        Some(format!(
            "{} holds {}, which is protected",
            path.display(),
            pin.path().display()
        ))
    }

    /// Whether something must not be read. What was removed meanwhile counts as what it was.
    pub(crate) fn closes_reading(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_bytes();
        let bytes = bytes.strip_suffix(REMOVED).unwrap_or(bytes);
        let path = Path::new(OsStr::from_bytes(bytes));
        let mut patterns = self.patterns.iter().filter(|one| one.closes_reading());
        let is_in = |closed: &Text| {
            let rest = bytes.strip_prefix(closed.0.as_bytes());
            rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        };
        self.unreadable.iter().any(is_in) || patterns.any(|pattern| pattern.covers(path))
    }

    /// Whether anything is closed to reading, so that each open has to be judged. Where the devices
    /// are the host's, its terminals are.
    pub(crate) fn judges_reading(&self, walls: Walls) -> bool {
        walls == Walls::Kernel
            || !self.unreadable.is_empty()
            || self.patterns.iter().any(PathGlob::closes_reading)
    }

    /// Whether the content of a file is looked at before it is put in this place.
    pub(crate) fn checked(&self, path: &Path) -> Option<Checked> {
        let inside = path.strip_prefix(self.control_folder(path)?).ok()?;
        let parts: Vec<&OsStr> = inside.iter().collect();
        (self.git == GitAccess::Writes)
            .then(|| Checked::of(&parts))
            .flatten()
    }

    /// Whether an act would leave a control folder that git does not take for one.
    fn must_stay(&self, act: Act, path: &Path) -> bool {
        let inside = self.control_folder(path).map(|it| path.strip_prefix(it));
        let Some(Ok(inside)) = inside else {
            return false;
        };
        let parts: Vec<&OsStr> = inside.iter().collect();
        match act {
            Act::Remove => is_head(&parts) || is_folder_that_stays(&parts),
            // A new head may come into its place, and is looked at.
            Act::Write | Act::Place | Act::Link => is_folder_that_stays(&parts),
            Act::Make => false,
        }
    }

    /// Where the settings of the repository lie that a path belongs to.
    pub(crate) fn settings_of(&self, path: &Path) -> Option<PathBuf> {
        Some(self.control_folder(path)?.join("config"))
    }

    /// Whether what a folder holds has to be compared with patterns when it gets another name.
    pub(crate) fn compares_content(&self, from: &Path, to: &Path) -> bool {
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| pattern.depends_on(from) || pattern.depends_on(to))
    }

    /// Why something in a folder must not move with it: a pattern closes it here or there.
    pub(crate) fn refuses_with(&self, from: &Path, to: &Path) -> Option<String> {
        let mut patterns = self.patterns.iter();
        let is_closed = patterns.any(|pattern| pattern.covers(from) || pattern.covers(to));
        is_closed.then(|| {
            let (from, to) = (from.display(), to.display());
            format!("{from} must not become {to}, which a deny rule closes")
        })
    }

    /// Why something must not move from one path to another, where each of them alone is open: what
    /// was put together where git writes must not become a part of the tree, or the reverse, and no
    /// folder of git's takes the place of another one.
    pub(crate) fn refuses_move(&self, from: &Path, to: &Path, moved: Moved) -> Option<String> {
        let folder = self.control_folder(from);
        let is_across = folder != self.control_folder(to);
        let (from, to) = (from.display(), to.display());
        if is_across {
            return Some(format!(
                "{from} must not become {to}: one of them is in a repository"
            ));
        }
        let is_closed = folder.is_some() && moved == Moved::Folder;
        is_closed.then(|| format!("{from} is a folder of a repository, and stays where it is"))
    }

    /// The control folder of a repository that a path lies in, below the path's zone.
    fn control_folder<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let zone = self.zone(path)?;
        let top = match zone.kind {
            ZoneKind::Private => return None,
            ZoneKind::Shared | ZoneKind::Named | ZoneKind::File | ZoneKind::NewFile => {
                zone.path.path()
            }
        };
        let above = path.ancestors().take_while(|above| *above != top);
        let folders = above.filter(|above| above.file_name().is_some_and(is_git));
        folders.last()
    }

    fn protected_part(&self, inside: &Path) -> Option<String> {
        let parts: Vec<&OsStr> = inside
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                // The kernel's paths have no others.
                Component::CurDir
                | Component::ParentDir
                | Component::RootDir
                | Component::Prefix(_) => None,
            })
            .collect();
        for (index, name) in parts.iter().enumerate() {
            let inside = parts.get(index + 1..).unwrap_or_default();
            // A repository in the control folder of another one is no work of git's.
            let is_outer = !parts[..index].iter().any(|above| is_git(above));
            let is_control = is_git(name) && is_outer && !inside.is_empty();
            if is_control && self.git == GitAccess::Writes {
                if !is_gits_own(inside) {
                    let inside: PathBuf = inside.iter().collect();
                    return Some(format!(".git/{}", inside.display()));
                }
                // What git may write can still hold names that are not its own.
                continue;
            }
            let lower = folded(name.as_bytes());
            if self.names.iter().any(|one| *one.as_bytes() == *lower) {
                return Some(name.to_string_lossy().into_owned());
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
