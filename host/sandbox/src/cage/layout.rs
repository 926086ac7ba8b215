//! From a session's paths and a command's profile to what the command will see.

use std::path::{Path, PathBuf};

use super::Profile;
use super::ground::{Found, Ground};
use super::guard::{GitAccess, Guard, Mediation, Zone, ZoneKind};
use super::limits::Limits;
use super::plan::{Step, Text, Walls};
use crate::names::PROTECTED;

/// Folders for temporary files: each command has its own.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Where services keep their sockets: nothing for a command.
const SERVICES: &str = "/run";
/// Parts of that folder that hold programs on some systems.
const PROGRAMS_AMONG_SERVICES: [&str; 2] = ["/run/current-system", "/run/wrappers"];
const SHARED_MEMORY: &str = "/dev/shm";

/// What a command will see and may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) steps: Vec<Step>,
    pub(crate) guard: Guard,
}

pub(crate) fn layout(
    ground: &Ground,
    found: &Found,
    profile: Profile,
    limits: &Limits,
    walls: Walls,
) -> Layout {
    let covered = covered(ground);
    let mut steps: Vec<Step> = covered
        .iter()
        .map(|path| Step::Private {
            at: path.as_path().into(),
            bytes: limits.temporary,
        })
        .collect();
    let is_covered = |path: &Path| covered.iter().any(|top| path.starts_with(top));
    for path in PROGRAMS_AMONG_SERVICES.map(Path::new) {
        if is_covered(path) && path.is_dir() {
            steps.push(Step::ReadOnly(path.into()));
        }
    }
    // Only what a private folder covers has to be shown again to be read: what was asked
    // for, and what lies around a root, as everywhere else.
    let mut shown: Vec<PathBuf> = ground
        .writable()
        .iter()
        .chain(&ground.own)
        .filter_map(|root| neighbourhood(root, &covered))
        .chain(ground.read.iter().filter(|path| is_covered(path)).cloned())
        .collect();
    shown.sort();
    shown.dedup();
    steps.extend(shown.into_iter().map(|path| Step::ReadOnly(path.into())));
    let writable = match profile {
        Profile::ReadOnly => {
            let shown = ground.writable();
            let shown = shown.iter().filter(|path| is_covered(path));
            steps.extend(shown.map(|path| Step::ReadOnly(path.as_path().into())));
            Vec::new()
        }
        Profile::Workspace { .. } => ground.writable(),
    };
    steps.extend(
        writable
            .iter()
            .map(|path| Step::Writable(path.as_path().into())),
    );
    if !writable.is_empty() {
        let places = found.places.iter();
        steps.extend(places.map(|path| Step::ReadOnly(path.as_path().into())));
    }
    // On top of what is protected around them.
    let own = ground.own.iter();
    steps.extend(own.map(|path| Step::Writable(path.as_path().into())));
    let hidden = ground.hidden.iter();
    steps.extend(hidden.map(|path| Step::Hidden(path.as_path().into())));
    Layout {
        steps,
        guard: guard(ground, found, profile, &writable, walls),
    }
}

fn guard(
    ground: &Ground,
    found: &Found,
    profile: Profile,
    writable: &[PathBuf],
    walls: Walls,
) -> Guard {
    let zone = |path: &Path, kind| Zone {
        path: path.into(),
        kind,
    };
    let mut zones: Vec<Zone> = writable
        .iter()
        .map(|path| zone(path, ZoneKind::Shared))
        .chain(ground.own.iter().map(|path| zone(path, ZoneKind::Private)))
        .collect();
    if walls != Walls::Kernel {
        let private = covered(ground);
        let private = private.iter().filter(|path| *path != Path::new(SERVICES));
        zones.extend(private.map(|path| zone(path, ZoneKind::Private)));
        zones.push(zone(Path::new(SHARED_MEMORY), ZoneKind::Private));
    }
    let mediation = if found.is_cut || walls == Walls::Kernel {
        Mediation::Everything
    } else if found.has_links {
        Mediation::Names
    } else {
        Mediation::Making
    };
    let paths = ground.protect.iter().chain(&ground.hidden);
    let paths = paths.chain(&found.targets);
    Guard {
        zones,
        names: PROTECTED.iter().map(|name| Text::from(*name)).collect(),
        paths: paths.map(|path| path.as_path().into()).collect(),
        pins: found
            .places
            .iter()
            .map(|path| path.as_path().into())
            .collect(),
        git: match profile {
            Profile::ReadOnly => GitAccess::ReadOnly,
            Profile::Workspace { git } => git,
        },
        mediation,
    }
}

/// What lies directly below a covered folder on the way to a root.
fn neighbourhood(root: &Path, covered: &[PathBuf]) -> Option<PathBuf> {
    let top = covered.iter().find(|top| root.starts_with(top))?;
    let below = root.strip_prefix(top).ok()?;
    Some(top.join(below.components().next()?))
}

/// The folders that the cage has of its own. One that is, or is in, a root stays the host's.
fn covered(ground: &Ground) -> Vec<PathBuf> {
    let is_root = |path: &Path| {
        let mut roots = ground.roots.iter().chain(&ground.write).chain(&ground.own);
        roots.any(|root| path.starts_with(root))
    };
    TEMPORARY
        .iter()
        .chain([&SERVICES])
        .map(PathBuf::from)
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()))
        .filter(|path| !is_root(path))
        .collect()
}

/// Where a command puts temporary files, or `None` where only its roots are left for it.
pub(crate) fn temporary(ground: &Ground) -> Option<PathBuf> {
    covered(ground)
        .into_iter()
        .find(|path| TEMPORARY.iter().any(|one| path == Path::new(one)))
}
