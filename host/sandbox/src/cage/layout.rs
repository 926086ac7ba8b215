//! From a session's paths and a command's profile to what the command will see.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Profile;
use super::found::Found;
use super::ground::Ground;
use super::guard::{GitAccess, Guard, Zone, ZoneKind};
use super::limits::Limits;
use super::plan::{Step, Text, Walls};
use super::programs::ProgramGuard;

/// Folders for temporary files: each command has its own.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Where services keep their sockets: nothing for a command.
const SERVICES: &str = "/run";
/// Parts of that folder that hold programs on some systems.
const PROGRAMS_AMONG_SERVICES: [&str; 2] = ["/run/current-system", "/run/wrappers"];
const SHARED_MEMORY: &str = "/dev/shm";
/// Where version managers keep what they installed, below a home folder, which may be a root.
const TOOLS: [&str; 11] = [
    ".rustup/toolchains",
    ".cargo/bin",
    ".nvm/versions",
    ".pyenv/versions",
    ".rbenv/versions",
    ".asdf/installs",
    ".volta/tools",
    ".sdkman/candidates",
    ".local/share/mise/installs",
    ".local/share/uv/python",
    ".local/bin",
];

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
    programs: Option<&ProgramGuard>,
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
    let services = PROGRAMS_AMONG_SERVICES.map(PathBuf::from).into_iter();
    let services = services.filter(|path| is_covered(path) && path.is_dir());
    // Only what a private folder covers has to be shown again to be read: what was asked
    // for, and what lies around a root, as everywhere else.
    let mut shown: Vec<PathBuf> = ground
        .writable()
        .iter()
        .chain(&ground.own)
        .filter_map(|root| neighbourhood(root, &covered))
        .chain(ground.read.iter().filter(|path| is_covered(path)).cloned())
        .chain(services)
        .collect();
    shown.sort();
    shown.dedup();
    let shown: Vec<Text> = shown.into_iter().map(Text::from).collect();
    steps.extend(shown.iter().cloned().map(Step::ReadOnly));
    let zones = zones(ground, profile);
    if profile == Profile::ReadOnly {
        let all = ground.writable();
        steps.extend(all.iter().filter_map(|path| {
            // A folder of programs in it stays one: the doorman alone holds the rest then.
            let holds_data = programs.is_some_and(|guard| !guard.has_programs_in(path));
            match (holds_data, is_covered(path)) {
                (true, _) => Some(Step::Data(path.as_path().into())),
                (false, true) => Some(Step::ReadOnly(path.as_path().into())),
                (false, false) => None,
            }
        }));
    }
    steps.extend(changeable(ground, found, &zones));
    // On top of what is protected around them.
    let own = ground.own.iter();
    steps.extend(own.map(|path| Step::Writable(path.as_path().into())));
    let hidden = ground.covered().into_iter();
    steps.extend(hidden.map(|path| Step::Hidden(path.into())));
    Layout {
        steps,
        guard: Guard {
            shown,
            ..guard(ground, found, profile, zones, walls)
        },
    }
}

/// What the doorman goes by where a script was judged by its words.
pub(crate) fn program_guard(ground: &Ground, environment: &[(OsString, OsString)]) -> ProgramGuard {
    let variable = |wanted: &str| {
        let mut all = environment.iter();
        all.rfind(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_os_str())
    };
    let real = |path: PathBuf| path.canonicalize().ok().map(Text::from);
    let path = variable("PATH").map(std::env::split_paths);
    let path = path.into_iter().flatten().filter(|path| path.is_absolute());
    let home = variable("HOME").map(Path::new);
    let tools = home
        .into_iter()
        .flat_map(|home| TOOLS.map(|part| home.join(part)));
    let data = ground.roots.iter().chain(&ground.write).chain(&ground.own);
    let temporary = TEMPORARY.iter().chain([&SHARED_MEMORY]);
    ProgramGuard {
        data: data
            .map(|path| path.as_path().into())
            .chain(temporary.map(|path| Text::from(*path)))
            .collect(),
        path: path.filter_map(real).collect(),
        tools: tools.filter_map(real).collect(),
    }
}

/// What of the host's a command may change, apart from folders of its own.
pub(crate) fn zones(ground: &Ground, profile: Profile) -> Vec<Zone> {
    match (profile, &ground.narrow) {
        (Profile::ReadOnly, _) => Vec::new(),
        (Profile::Workspace { .. }, Some(narrow)) => narrow.zones(ground),
        (Profile::Workspace { .. }, None) => {
            let all = ground.writable();
            all.iter()
                .map(|path| zone(path, ZoneKind::Shared))
                .collect()
        }
    }
}

fn zone(path: &Path, kind: ZoneKind) -> Zone {
    Zone {
        path: path.into(),
        kind,
        identity: None,
    }
}

/// What can be changed, and what in it cannot.
fn changeable(ground: &Ground, found: &Found, zones: &[Zone]) -> Vec<Step> {
    // The doorman makes files that do not exist: there is nothing to show yet.
    let open = zones.iter().filter(|zone| zone.kind != ZoneKind::NewFile);
    let open = open.map(|zone| zone.path.path());
    let is_inside = |place: &Path| {
        let mut open = open.clone();
        open.any(|top| place.starts_with(top) && place != top)
    };
    let writable = |path: &Path| Step::Writable(path.into());
    let closed = |path: &PathBuf| Step::ReadOnly(path.as_path().into());
    let unsearched = found.unsearched.iter().map(|one| one.path.path());
    let places: Vec<PathBuf> = found
        .places
        .iter()
        .cloned()
        .chain(unsearched.map(Path::to_owned))
        .collect();
    let places = places.iter();
    match &ground.narrow {
        None if zones.is_empty() => Vec::new(),
        // What is protected wins over what is writable, wherever both lie.
        None => open.map(writable).chain(places.map(closed)).collect(),
        // What was named wins over what is protected around it, and only over that.
        Some(_) => {
            let places = places.filter(|place| is_inside(place));
            let places = places.map(|place| (place.as_path(), closed(place)));
            let mut all: Vec<(&Path, Step)> = places.collect();
            all.extend(open.clone().map(|path| (path, writable(path))));
            // Stable: of both at one place, the writable one comes later.
            all.sort_by_key(|(path, _)| *path);
            all.into_iter().map(|(_, step)| step).collect()
        }
    }
}

fn guard(
    ground: &Ground,
    found: &Found,
    profile: Profile,
    mut zones: Vec<Zone>,
    walls: Walls,
) -> Guard {
    let texts = |list: &[PathBuf]| list.iter().map(|path| path.as_path().into()).collect();
    let mut pins: Vec<Text> = texts(&found.places);
    pins.extend(found.turns.iter().map(|path| path.as_path().into()));
    pins.extend(found.unsearched.iter().map(|one| one.path.clone()));
    if ground.narrow.is_some() {
        pins.extend(zones.iter().map(|zone| zone.path.clone()));
    }
    let own = ground.own.iter();
    zones.extend(own.map(|path| zone(path, ZoneKind::Private)));
    if walls != Walls::Kernel {
        let private = covered(ground);
        let private = private.iter().filter(|path| *path != Path::new(SERVICES));
        zones.extend(private.map(|path| zone(path, ZoneKind::Private)));
        zones.push(zone(Path::new(SHARED_MEMORY), ZoneKind::Private));
    }
    let git = match profile {
        Profile::ReadOnly => GitAccess::ReadOnly,
        Profile::Workspace { git } => git,
    };
    let mut names = ground.names.always.clone();
    match git {
        GitAccess::ReadOnly => names.extend(ground.names.but_for_git.iter().cloned()),
        GitAccess::Writes => {}
    }
    let paths = ground.protect.iter().chain(&ground.hidden);
    Guard {
        zones,
        shown: Vec::new(),
        names,
        paths: paths.map(|path| path.as_path().into()).collect(),
        targets: texts(&found.targets),
        pins,
        unsearched: found.unsearched.clone(),
        unreadable: texts(&ground.hidden),
        patterns: ground.patterns.iter().map(Into::into).collect(),
        git,
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
