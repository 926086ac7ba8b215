//! Zones: what one command may change of all that the session's commands may.
//!
//! A zone is what a question named: a file, or a folder with all that is in it but protected
//! names below it. Zones never widen: each lies in a root or in another place to write to, and
//! what is closed or hidden stays so.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::ground::{Ground, PathError};
use super::guard::{Zone, ZoneKind};
use crate::kernel::{c_text, open};

/// What one command may change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CageZone {
    /// The content of a file. One that does not exist can be made, if its folder exists. It can be
    /// neither removed nor replaced by another file.
    File(PathBuf),
    /// All in a folder but protected names below it. The folder itself exists, and stays.
    Folder(PathBuf),
}

impl CageZone {
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Folder(path) => path,
        }
    }
}

/// Zones with real paths, sorted; none lies in another one that opens it anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Narrow(Vec<CageZone>);

impl Narrow {
    /// `closed` is what protected names of the session lead to, which is closed like them.
    pub(crate) fn new(
        ground: &Ground,
        closed: &[PathBuf],
        zones: &[CageZone],
    ) -> Result<Self, PathError> {
        let real = zones.iter().map(|zone| real(ground, zone));
        let mut real = real.collect::<Result<Vec<_>, _>>()?;
        // Outer ones first.
        real.sort_by(|a, b| a.path().cmp(b.path()).then_with(|| b.cmp(a)));
        real.dedup_by(|later, earlier| later.path() == earlier.path());
        let mut kept: Vec<CageZone> = Vec::new();
        for zone in real {
            let is_open = |outer: &CageZone| opens(ground, closed, outer, zone.path());
            if !kept.iter().any(is_open) {
                kept.push(zone);
            }
        }
        Ok(Self(kept))
    }

    /// The folders in which no search for the whole session has looked: those of a protected name.
    pub(crate) fn unsearched(&self, ground: &Ground) -> Vec<PathBuf> {
        let folders = self.folders();
        let is_unsearched = |path: &PathBuf| {
            let mut places = ground.writable();
            places.retain(|place| path.starts_with(place));
            places.iter().any(|place| has_name(ground, place, path))
        };
        folders.filter(is_unsearched).collect()
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().filter_map(|zone| match zone {
            CageZone::File(_) => None,
            CageZone::Folder(path) => Some(path.clone()),
        })
    }

    /// What can be written to, with the kinds that the guard goes by. What is closed is none.
    pub(crate) fn zones(&self, ground: &Ground) -> Vec<Zone> {
        let is_closed = |path: &Path| {
            let mut closed = ground.protect.iter().chain(&ground.hidden);
            closed.any(|one| path.starts_with(one))
        };
        // A folder of the command's own is open already, and to more.
        let is_own = |path: &Path| ground.own.iter().any(|own| path.starts_with(own));
        let open = self.0.iter();
        let open = open.filter(|zone| !is_closed(zone.path()) && !is_own(zone.path()));
        let zones = open.map(|zone| Zone {
            path: zone.path().into(),
            kind: match zone {
                CageZone::Folder(_) => ZoneKind::Named,
                CageZone::File(path) if path.symlink_metadata().is_ok() => ZoneKind::File,
                CageZone::File(_) => ZoneKind::NewFile,
            },
            identity: None,
        });
        zones.collect()
    }
}

/// Whether a path needs no zone of its own.
fn opens(ground: &Ground, closed: &[PathBuf], outer: &CageZone, path: &Path) -> bool {
    match outer {
        CageZone::File(_) => false,
        CageZone::Folder(outer) => {
            let is_between = |one: &PathBuf| path.starts_with(one) && one.starts_with(outer);
            path.starts_with(outer)
                && !has_name(ground, outer, path)
                && !closed.iter().any(is_between)
        }
    }
}

/// Whether a protected name is part of a path behind another one.
fn has_name(ground: &Ground, outer: &Path, path: &Path) -> bool {
    let inside = path.strip_prefix(outer).unwrap_or(Path::new(""));
    let mut names = inside.iter();
    names.any(|name| ground.protected_against(name.as_bytes()).is_some())
}

fn real(ground: &Ground, zone: &CageZone) -> Result<CageZone, PathError> {
    let path = zone.path();
    let unfit = |reason: String| PathError::NoZone {
        path: path.to_owned(),
        reason,
    };
    if !path.is_absolute() {
        return Err(PathError::Relative(path.to_owned()));
    }
    let there = |path: &Path| {
        path.canonicalize()
            .map_err(|error| unfit(error.to_string()))
    };
    let real = match zone {
        CageZone::Folder(path) => {
            let real = there(path)?;
            if !real.is_dir() {
                return Err(unfit("it is no folder".into()));
            }
            CageZone::Folder(real)
        }
        CageZone::File(path) => CageZone::File(match (path.symlink_metadata(), path.parent()) {
            (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name();
                let name = name.ok_or_else(|| unfit("its last part is no name".into()))?;
                there(parent)?.join(name)
            }
            (Ok(_) | Err(_), _) => {
                let real = there(path)?;
                if !real.is_file() {
                    return Err(unfit("it is no file".into()));
                }
                real
            }
        }),
    };
    let places = ground.writable();
    if !places.iter().any(|place| real.path().starts_with(place)) {
        return Err(unfit("commands of this session cannot write there".into()));
    }
    Ok(real)
}

impl Zone {
    /// Holds what is there now: for a file that does not exist, its folder. Links on the way are
    /// not followed. Where it is known what was there before, anything else is an error.
    pub(crate) fn hold(&self) -> io::Result<OwnedFd> {
        let path = self.path.path();
        let (path, kind) = match self.kind {
            ZoneKind::Shared | ZoneKind::Private => (path, None),
            ZoneKind::Named => (path, Some(libc::S_IFDIR)),
            ZoneKind::File => (path, Some(libc::S_IFREG)),
            ZoneKind::NewFile => (path.parent().unwrap_or(path), Some(libc::S_IFDIR)),
        };
        let held = open::fixed(&c_text(path)?)?;
        let is_kind = match kind {
            Some(kind) => open::kind_of(held.as_fd())? == kind,
            None => true,
        };
        let identity = open::identity(held.as_fd())?;
        if !is_kind || self.identity.is_some_and(|known| known != identity) {
            return Err(io::Error::other("it was replaced meanwhile"));
        }
        Ok(held)
    }

    /// Ties a zone of one command to what is there now.
    pub(crate) fn fix(&mut self) -> io::Result<()> {
        match self.kind {
            ZoneKind::Shared | ZoneKind::Private => {}
            ZoneKind::Named | ZoneKind::File | ZoneKind::NewFile => {
                self.identity = Some(open::identity(self.hold()?.as_fd())?);
            }
        }
        Ok(())
    }
}
