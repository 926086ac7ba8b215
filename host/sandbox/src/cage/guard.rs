//! Which new names and changes are refused inside the places that a command may write to.
//!
//! A name that does not exist yet cannot be covered by a mount without leaving something in
//! the user's folder. So nothing in a cage can make names by itself: the doorman makes them
//! on its behalf, after asking here. Names are refused at any depth, so that moving a
//! folder around a name gains nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::plan::Text;

/// A folder that may be written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Zone {
    pub(crate) path: Text,
    pub(crate) kind: ZoneKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ZoneKind {
    /// The user's: protected names hold.
    Shared,
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

/// What the doorman mediates, because the kernel refuses it otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mediation {
    /// New names; mounts cover what exists.
    Making,
    /// New names and the end of old ones: a link cannot be covered by a mount.
    Names,
    /// Names, and every opening for writing.
    Everything,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guard {
    pub(crate) zones: Vec<Zone>,
    /// In lower case: a file system may not tell cases apart.
    pub(crate) names: Vec<Text>,
    pub(crate) paths: Vec<Text>,
    /// Protected names that exist: what lies above them must stay where it is, or the next
    /// command would find them elsewhere and uncovered.
    pub(crate) pins: Vec<Text>,
    pub(crate) git: GitAccess,
    pub(crate) mediation: Mediation,
}

/// What somebody wants to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A new file or folder, or a change to an existing file.
    Make,
    /// Something that is elsewhere, or leads elsewhere, gets this name.
    Place,
    /// The name goes away.
    Remove,
}

const GIT: &[u8] = b".git";

/// What in a repository's control folder decides which programs git runs, or where it looks
/// for that decision.
const GIT_CONTROL: [&[u8]; 10] = [
    b"config",
    b"config.lock",
    b"config.worktree",
    b"commondir",
    b"gitdir",
    b"hooks",
    b"info",
    b"modules",
    b"worktrees",
    b"alternates",
];

impl Guard {
    /// The zone that a path lies in. Private ones may lie around shared ones.
    pub(crate) fn zone(&self, path: &Path) -> Option<&Zone> {
        self.zones
            .iter()
            .filter(|zone| path.starts_with(zone.path.path()))
            .max_by_key(|zone| zone.path.0.len())
    }

    /// Why something must not be done, or `None` where it may.
    pub(crate) fn refuses(&self, act: Act, path: &Path) -> Option<String> {
        let zone = self.zone(path)?;
        if zone.kind == ZoneKind::Private {
            return None;
        }
        let by_name = path
            .strip_prefix(zone.path.path())
            .ok()
            .and_then(|inside| self.protected_part(inside));
        if let Some(name) = by_name {
            return Some(format!("{}: `{name}` is protected", path.display()));
        }
        let covers = |protected: &&Text| {
            let protected = protected.path();
            path.starts_with(protected) || act != Act::Make && protected.starts_with(path)
        };
        if let Some(protected) = self.paths.iter().find(covers) {
            return Some(format!("{} is protected", protected.path().display()));
        }
        let holds = |pin: &&Text| act != Act::Make && pin.path().starts_with(path);
        let pin = self.pins.iter().find(holds)?;
        Some(format!(
            "{} holds {}, which is protected",
            path.display(),
            pin.path().display()
        ))
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
            let lower = name.as_bytes().to_ascii_lowercase();
            if lower == GIT && self.git == GitAccess::Writes {
                match parts.get(index + 1) {
                    Some(next) if !is_git_control(next) => return None,
                    Some(next) => return Some(format!(".git/{}", next.to_string_lossy())),
                    None => {}
                }
            }
            if self.names.iter().any(|one| one.0.as_bytes() == lower) {
                return Some(name.to_string_lossy().into_owned());
            }
        }
        None
    }
}

pub(crate) fn is_git_control(name: &OsStr) -> bool {
    let lower = name.as_bytes().to_ascii_lowercase();
    GIT_CONTROL.iter().any(|one| **one == lower)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn guard(git: GitAccess) -> Guard {
        Guard {
            zones: vec![
                Zone {
                    path: "/tmp".into(),
                    kind: ZoneKind::Private,
                },
                Zone {
                    path: "/tmp/p".into(),
                    kind: ZoneKind::Shared,
                },
            ],
            names: vec![".git".into(), ".claude".into()],
            paths: vec!["/tmp/p/a/b/c".into()],
            pins: vec!["/tmp/p/nested/.git".into()],
            git,
            mediation: Mediation::Making,
        }
    }

    #[test]
    fn protected_names_hold_at_any_depth_and_in_any_case() {
        let guard = guard(GitAccess::ReadOnly);
        for (path, is_refused) in [
            ("/tmp/p/new", false),
            ("/tmp/p/.claude", true),
            ("/tmp/p/x/y/.CLAUDE/settings.json", true),
            ("/tmp/p/.git/config", true),
            ("/tmp/p/.gitignore", false),
            ("/tmp/p/sub/.git", true),
            // A private folder is nobody's project.
            ("/tmp/.git/config", false),
            ("/elsewhere/.git", false),
        ] {
            let refused = guard.refuses(Act::Make, Path::new(path)).is_some();
            assert_eq!(refused, is_refused, "{path}");
        }
    }

    #[test]
    fn the_way_to_a_protected_path_can_be_made_but_not_replaced() {
        let guard = guard(GitAccess::ReadOnly);
        for (act, path, is_refused) in [
            (Act::Make, "/tmp/p/a", false),
            (Act::Make, "/tmp/p/a/b", false),
            (Act::Make, "/tmp/p/a/b/c", true),
            (Act::Make, "/tmp/p/a/b/c/d", true),
            (Act::Place, "/tmp/p/a", true),
            (Act::Remove, "/tmp/p/a/b", true),
            (Act::Place, "/tmp/p/ab", false),
            (Act::Remove, "/tmp/p/nested", true),
            (Act::Make, "/tmp/p/nested/new", false),
        ] {
            let refused = guard.refuses(act, Path::new(path)).is_some();
            assert_eq!(refused, is_refused, "{act:?} {path}");
        }
    }

    #[test]
    fn git_may_write_all_but_what_makes_it_run_programs() {
        let guard = guard(GitAccess::Writes);
        for (path, is_refused) in [
            ("/tmp/p/.git/objects/ab/cd", false),
            ("/tmp/p/.git/index.lock", false),
            ("/tmp/p/.git/hooks/pre-commit", true),
            ("/tmp/p/.git/commondir", true),
            ("/tmp/p/.git/config.lock", true),
            ("/tmp/p/.git", true),
            ("/tmp/p/.claude/x", true),
        ] {
            let refused = guard.refuses(Act::Make, Path::new(path)).is_some();
            assert_eq!(refused, is_refused, "{path}");
        }
    }
}
