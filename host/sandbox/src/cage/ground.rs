//! The paths of a session, looked at once and made real, so that nothing that a command or a
//! model says later can widen them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Closed;
use super::control::{controls_that_exist, is_git};
use super::found::{Against, Found, Hit, Hits, is_absence, reachable};
use super::guard::{GitAccess, Unsearched, UnsearchedReason};
use super::narrow::Narrow;
use super::pattern::ClosedPattern;
use super::repository::UsersGit;
use super::ways::way;
use crate::kernel::process;
use crate::names::{ProtectedNames, folded};

/// Paths as somebody wrote them.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    /// Folders that belong to the work; writable where the profile says so.
    pub roots: Vec<PathBuf>,
    /// Further places to write to.
    pub write: Vec<PathBuf>,
    /// Folders of the command's own, which nobody else uses: writable in every profile, and no
    /// name is protected there.
    pub own: Vec<PathBuf>,
    /// Places to read that would otherwise be covered by a private folder, such as `/tmp`.
    pub read: Vec<PathBuf>,
    /// Never to be changed, whether they exist or not.
    pub protect: Vec<PathBuf>,
    /// Never to be changed wherever they stand below `roots` and `write`, in any case.
    pub names: ProtectedNames,
    /// Never to be read or changed. `secrets` has a list to start from.
    pub deny_read: Vec<PathBuf>,
    /// The variables of the user, by which git is found and asked what it would run.
    pub environment: Vec<(OsString, OsString)>,
}

/// Why paths cannot be used.
#[derive(Debug, Error)]
pub enum PathError {
    #[error("{path} cannot be used as a root: {error}")]
    Unusable { path: PathBuf, error: io::Error },
    #[error("{0} is no folder; a root must be one")]
    NoFolder(PathBuf),
    #[error("{0} must not be written to as a whole; name the folders below it that are needed")]
    TooWide(PathBuf),
    #[error("{path} cannot be opened to a single command: {reason}")]
    NoZone { path: PathBuf, reason: String },
    #[error("{0} is not an absolute path")]
    Relative(PathBuf),
    #[error(
        "{path} decides which programs git runs, and cannot be read: {reason}; repair it, or take \
         it away"
    )]
    GitSettings { path: PathBuf, reason: String },
}

/// More entries than this are not looked through: the folders that are left stay closed.
const MOST_ENTRIES: usize = 500_000;

/// Never roots: all of the system, or what the kernel shows as files.
const TOO_WIDE: [&str; 12] = [
    "/", "/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot",
    "/run",
];

/// Real paths.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) own: Vec<PathBuf>,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) protect: Vec<PathBuf>,
    /// Neither to be read nor changed, whether they exist or not.
    pub(crate) hidden: Vec<PathBuf>,
    /// What else is closed to one command.
    pub(crate) patterns: Vec<ClosedPattern>,
    pub(crate) names: ProtectedNames,
    pub(crate) git: UsersGit,
    /// What one command may change, where that is not all.
    pub(crate) narrow: Option<Narrow>,
    /// Whose the first root is, where that is not user 0 and this is.
    pub(crate) owner: Option<(u32, u32)>,
}

impl Ground {
    pub(crate) fn new(paths: &Paths) -> Result<Self, PathError> {
        // Outer ones first: inner ones are laid on top of them.
        let writable = |list: &[PathBuf]| -> Result<Vec<PathBuf>, PathError> {
            let real = list.iter().map(|path| writable(path));
            let mut real = real.collect::<Result<Vec<_>, _>>()?;
            real.sort();
            real.dedup();
            Ok(real)
        };
        let roots = writable(&paths.roots)?;
        let own = writable(&paths.own)?;
        if let Some(file) = roots.iter().chain(&own).find(|root| !root.is_dir()) {
            return Err(PathError::NoFolder(file.clone()));
        }
        let write = writable(&paths.write)?;
        Ok(Self {
            git: {
                let writable = [&roots[..], &write, &own].concat();
                UsersGit::find(&paths.environment, &writable)
            },
            owner: roots.first().and_then(|root| other_owner(root)),
            roots,
            write,
            own,
            read: all_real(&paths.read)?
                .into_iter()
                .filter(|path| path.exists())
                .collect(),
            protect: all_real(&paths.protect)?,
            hidden: all_real_with_links(&paths.deny_read)?,
            names: paths.names.folded(),
            patterns: Vec::new(),
            narrow: None,
        })
    }

    /// The same with more that is closed.
    pub(crate) fn closing(&self, closed: &Closed) -> Self {
        let mut ground = self.clone();
        // What may not be read may not be made either, and must stay where it is.
        ground.protect.extend(closed.unwritable.iter().cloned());
        ground.protect.extend(closed.unreadable.iter().cloned());
        ground.hidden.extend(closed.unreadable.iter().cloned());
        ground.patterns.extend(closed.patterns.iter().cloned());
        for list in [&mut ground.protect, &mut ground.hidden] {
            list.sort();
            list.dedup();
        }
        ground
    }

    /// The same for a command that may change less.
    pub(crate) fn narrowed(&self, narrow: &Narrow) -> Self {
        Self {
            narrow: Some(narrow.clone()),
            ..self.clone()
        }
    }

    /// What of the closed paths can be covered: a link cannot, and where it leads is closed too. The
    /// doorman refuses the others.
    pub(crate) fn covered(&self) -> Vec<PathBuf> {
        let hidden = self.hidden.iter();
        let there = hidden.filter(|path| {
            path.symlink_metadata()
                .is_ok_and(|found| !found.is_symlink())
        });
        let mut there: Vec<PathBuf> = there.cloned().collect();
        there.sort();
        // Nothing can be put below a cover, and nothing has to be.
        there.dedup_by(|inner, outer| inner.starts_with(outer));
        there
    }

    /// Folders and files that commands of the session may write to, outer ones first.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.roots.iter().chain(&self.write).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Looks through everything writable for protected names, once for both kinds of access
    /// to repositories. Links are not followed.
    pub(crate) fn search(&self) -> [Found; 2] {
        self.search_in(self.writable())
    }

    /// The same in some folders alone.
    pub(crate) fn search_in(&self, folders: Vec<PathBuf>) -> [Found; 2] {
        let hits = self.hits(Depth::Whole, folders, MOST_ENTRIES);
        [GitAccess::ReadOnly, GitAccess::Writes].map(|git| self.found(&hits, git, Found::default()))
    }

    /// The same at the top alone: fast enough to be done before each command.
    pub(crate) fn search_top(&self, git: GitAccess, mut known: Found) -> Found {
        // Whoever owns a folder can open it again: it may be another one by then.
        let mut closed = Vec::new();
        let mut links = std::mem::take(&mut known.links);
        known.places.retain(|place| match place.symlink_metadata() {
            // Somebody put a link in its place.
            Ok(found) if found.is_symlink() => {
                links.push(place.clone());
                false
            }
            Ok(_) => true,
            Err(error) if is_absence(&error) => false,
            Err(_) => {
                closed.extend(reachable(place).map(Unsearched::unreadable));
                false
            }
        });
        let (again, left) = std::mem::take(&mut known.unsearched)
            .into_iter()
            .partition::<Vec<_>, _>(|one| one.reason == UnsearchedReason::Unreadable);
        for link in links {
            self.note_link(&link, &mut known);
        }
        known.unsearched = left;
        known.unsearched.extend(closed);
        let again = again.iter().map(|one| one.path.path().to_owned());
        let again = self.hits(Depth::Whole, again.collect(), MOST_ENTRIES);
        let known = self.found(&again, git, known);
        let mut folders = self.writable();
        folders.extend(self.narrow.iter().flat_map(Narrow::folders));
        let hits = self.hits(Depth::Top, folders, MOST_ENTRIES);
        self.found(&hits, git, known)
    }

    fn found(&self, hits: &Hits, git: GitAccess, mut found: Found) -> Found {
        found.unsearched.extend(hits.unsearched.iter().cloned());
        for hit in &hits.names {
            if hit.path.file_name().is_some_and(is_git) {
                found.repositories.push(hit.path.clone());
            }
            let is_held = match hit.against {
                Against::All => true,
                Against::AllButGit => git == GitAccess::ReadOnly,
            };
            if is_held {
                self.note(&hit.path, hit.kind.is_symlink(), git, &mut found);
            }
        }
        self.add_protected(&mut found);
        found.sort();
        found
    }

    fn add_protected(&self, found: &mut Found) {
        for path in &self.protect {
            // A link cannot be covered; the doorman keeps it where it is.
            let is_there = path
                .symlink_metadata()
                .is_ok_and(|found| !found.is_symlink());
            if is_there && self.is_writable(path) {
                found.places.push(path.clone());
            }
        }
    }

    pub(super) fn is_writable(&self, path: &Path) -> bool {
        let mut all = self.roots.iter().chain(&self.write);
        all.any(|place| path.starts_with(place))
    }

    /// Whether a protected name covers a path, wherever it lies below a writable one.
    pub(super) fn has_protected_part(&self, path: &Path) -> bool {
        let mut places = self.roots.iter().chain(&self.write);
        places.any(|place| {
            let inside = path.strip_prefix(place).unwrap_or(Path::new(""));
            let mut names = inside.iter();
            names.any(|name| self.protected_against(name.as_bytes()) == Some(Against::All))
        })
    }

    /// What cannot be listed or known is told, never left out.
    fn hits(&self, depth: Depth, folders: Vec<PathBuf>, most: usize) -> Hits {
        let mut hits = Hits::default();
        let mut seen = 0;
        let mut open = folders;
        while let Some(folder) = open.pop() {
            if self.own.contains(&folder) {
                continue;
            }
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    hits.miss(&folder, &error);
                    continue;
                }
            };
            for entry in entries {
                seen += 1;
                if seen > most {
                    open.push(folder);
                    hits.leave(open);
                    return hits;
                }
                let known = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
                let (kind, entry) = match known {
                    Ok(known) => known,
                    Err(error) => {
                        hits.miss(&folder, &error);
                        continue;
                    }
                };
                let against = self.protected_against(entry.file_name().as_bytes());
                // What is open to git may hold names that are not.
                if against != Some(Against::All) && kind.is_dir() && depth == Depth::Whole {
                    open.push(entry.path());
                }
                hits.names.extend(against.map(|against| Hit {
                    path: entry.path(),
                    kind,
                    against,
                }));
            }
        }
        if depth == Depth::Whole {
            self.add_links_within(&mut hits, most);
        }
        hits
    }

    /// Whom a name is protected against, if it is.
    pub(super) fn protected_against(&self, name: &[u8]) -> Option<Against> {
        let name = folded(name);
        let is_in = |list: &[String]| list.iter().any(|one| one.as_bytes() == &*name);
        if is_in(&self.names.always) {
            Some(Against::All)
        } else {
            is_in(&self.names.but_for_git).then_some(Against::AllButGit)
        }
    }

    fn note(&self, path: &Path, is_link: bool, git: GitAccess, found: &mut Found) {
        if is_link {
            // Where the link leads is as good as the name itself.
            return self.note_link(path, found);
        }
        let is_repository = path.is_dir() && path.file_name() == Some(OsStr::new(".git"));
        let is_open_to_git = git == GitAccess::Writes && is_repository;
        if is_open_to_git {
            found.places.extend(controls_that_exist(path));
        } else {
            found.places.push(path.to_owned());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Whole,
}

/// User 0 without capabilities can write to nothing that is not its own, so commands run as
/// the owner of the root, if the owner can get there.
fn other_owner(root: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let owner = root.metadata().ok()?;
    let can_pass = |folder: &Path| {
        folder.metadata().is_ok_and(|found| {
            found.mode() & 0o001 != 0
                || found.uid() == owner.uid() && found.mode() & 0o100 != 0
                || found.gid() == owner.gid() && found.mode() & 0o010 != 0
        })
    };
    let is_wanted = process::user_and_group().0 == 0 && owner.uid() != 0;
    (is_wanted && root.ancestors().all(can_pass)).then(|| (owner.uid(), owner.gid()))
}

fn writable(path: &Path) -> Result<PathBuf, PathError> {
    absolute(path)?;
    let real = path.canonicalize().map_err(|error| PathError::Unusable {
        path: path.to_owned(),
        error,
    })?;
    let is_kernel = ["/proc", "/sys", "/dev"]
        .iter()
        .any(|top| real.starts_with(top));
    if is_kernel || TOO_WIDE.iter().any(|wide| real == Path::new(wide)) {
        return Err(PathError::TooWide(real));
    }
    Ok(real)
}

/// All of them, in order.
pub(super) fn all_real(list: &[PathBuf]) -> Result<Vec<PathBuf>, PathError> {
    let mut real = list
        .iter()
        .map(|path| real(path))
        .collect::<Result<Vec<_>, _>>()?;
    real.sort();
    real.dedup();
    Ok(real)
}

/// The same, with the links among them: what leads to a path must stay as it is, too.
pub(super) fn all_real_with_links(list: &[PathBuf]) -> Result<Vec<PathBuf>, PathError> {
    let mut all = all_real(list)?;
    let links = list.iter().filter(|path| path.is_symlink());
    for link in links {
        if let (Some(folder), Some(name)) = (link.parent(), link.file_name()) {
            // Links that lead to each other are closed, all of them.
            all.extend(way(&real(folder)?.join(name)).links);
        }
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// Patterns that count from real folders.
pub(super) fn real_patterns(list: &[ClosedPattern]) -> Result<Vec<ClosedPattern>, PathError> {
    let real = list.iter().map(|pattern| {
        Ok(ClosedPattern {
            below: real(&pattern.below)?,
            ..pattern.clone()
        })
    });
    real.collect()
}

/// The real path of something that may not exist: of as much as does, then the rest.
fn real(path: &Path) -> Result<PathBuf, PathError> {
    absolute(path)?;
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        if let Ok(real) = there.canonicalize() {
            return Ok(rest.iter().rev().fold(real, |all, part| all.join(part)));
        }
        if there.is_symlink() {
            // It leads to what may be made.
            return Ok(way(path).end);
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                there = parent;
            }
            // `..` behind something that does not exist means nothing.
            _ => {
                return Err(PathError::Unusable {
                    path: path.to_owned(),
                    error: io::ErrorKind::NotFound.into(),
                });
            }
        }
    }
}

fn absolute(path: &Path) -> Result<(), PathError> {
    if path.is_absolute() {
        Ok(())
    } else {
        Err(PathError::Relative(path.to_owned()))
    }
}

#[cfg(test)]
mod tests;
