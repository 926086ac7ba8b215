//! Links with protected names, and links in protected folders: what they lead to is as good as the
//! name itself, whether it exists or not.
//!
//! What exists is covered by a mount and kept by the doorman; what does not is left to the doorman
//! alone. The links on the way must stay, too, and so must the folders that it leaves by `..`.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::control::{is_git, is_gits_own};
use super::found::{Against, Found, Hit, Hits};
use super::ground::Ground;
use super::ways::way;

impl Ground {
    /// Closes where a link leads. The link itself has a protected name, or lies below one.
    pub(super) fn note_link(&self, link: &Path, found: &mut Found) {
        let way = way(link);
        if way.links.is_empty() {
            return;
        }
        found.links.push(link.to_owned());
        let between = way.links.into_iter().filter(|one| one != link);
        let closed: Vec<PathBuf> = between
            .chain([way.end])
            .filter(|path| self.is_open(path))
            .collect();
        // Links cannot be covered; the doorman keeps them where they are.
        let there = closed.iter().filter(|path| {
            path.symlink_metadata()
                .is_ok_and(|found| !found.is_symlink())
        });
        found.places.extend(there.cloned());
        if !closed.is_empty() {
            let turns = way.turns.into_iter();
            found.turns.extend(turns.filter(|turn| self.is_open(turn)));
        }
        found.targets.extend(closed);
    }

    /// Whether a command could change a path that no protected name covers. One around a root would
    /// close the root.
    fn is_open(&self, path: &Path) -> bool {
        self.is_writable(path)
            && !self.roots.iter().any(|root| root.starts_with(path))
            && !self.is_covered_by_name(path)
    }

    /// Whether a protected name keeps it from every command: what git may write it does not.
    fn is_covered_by_name(&self, path: &Path) -> bool {
        let mut places = self.roots.iter().chain(&self.write);
        let holds = |place: &PathBuf| {
            let inside = path.strip_prefix(place).unwrap_or(Path::new(""));
            inside.iter().any(|name| {
                !is_git(name) && self.protected_against(name.as_bytes()) == Some(Against::All)
            })
        };
        places.any(holds)
    }

    /// Adds the links in all protected folders that were met, and in those that such links lead to.
    /// Past so many entries no more are followed: the folders themselves are closed anyway, and to
    /// close them once more would keep git from its own files.
    pub(super) fn add_links_within(&self, hits: &mut Hits, most: usize) {
        let mut seen = 0;
        let mut entered = BTreeSet::new();
        let folders = hits.names.iter();
        let mut open: Vec<(PathBuf, Against)> = folders
            .filter_map(|hit| Some((folder_of(self, &hit.path)?, hit.against)))
            .collect();
        while let Some((folder, against)) = open.pop() {
            if self.own.contains(&folder) || !entered.insert(folder.clone()) {
                continue;
            }
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    hits.miss(&folder, &error);
                    continue;
                }
            };
            for entry in entries.filter_map(Result::ok) {
                seen += 1;
                if seen > most {
                    return;
                }
                let (path, kind) = (entry.path(), entry.file_type());
                let Ok(kind) = kind else { continue };
                if is_written_by_git(&path) {
                    continue;
                }
                if kind.is_dir() {
                    open.push((path, against));
                } else if kind.is_symlink() {
                    open.extend(folder_of(self, &path).map(|folder| (folder, against)));
                    let hit = Hit {
                        path,
                        kind,
                        against,
                    };
                    hits.names.push(hit);
                }
            }
        }
    }
}

/// The folder that a path is or leads to, where commands could write to it.
fn folder_of(ground: &Ground, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let is_around = ground.roots.iter().any(|root| root.starts_with(&real));
    (real.is_dir() && ground.is_writable(&real) && !is_around).then_some(real)
}

/// Whether something in a repository is git's own to write, and decides nothing.
fn is_written_by_git(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().collect();
    let control = parts.iter().position(|name| is_git(name));
    control.is_some_and(|at| is_gits_own(&parts[at + 1..]))
}
