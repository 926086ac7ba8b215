//! What Landlock keeps processes from, as a second wall behind the mounts.
//!
//! One fence stands around the whole cage, the doorman included; a second one stands around
//! the command alone and refuses it what the doorman does on its behalf.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::While;
use super::doors::Door;
use crate::cage::guard::{Zone, ZoneKind};
use crate::cage::plan::{Plan, Walls};
use crate::kernel::landlock::{self, Beyond, Ruleset};
use crate::kernel::{c_text, open};

/// Devices that may be written to where `/dev` is the host's.
const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];
/// Where the terminals are, the user's among them. The doorman opens those that the command made.
const TERMINALS: &str = "/dev/pts";
const DEVICE_FOLDER: &str = "/dev";
/// Files there that are no devices.
const SHARED_MEMORY: &str = "/dev/shm";
const TO_DEVICES: u64 = landlock::WRITE_FILE | landlock::TRUNCATE | landlock::IOCTL_DEV;

/// Nothing may be changed but in the zones. Where there are no mounts, reading is fenced too.
pub(crate) fn around_the_cage(plan: &Plan, doors: &[Door]) -> Result<(), String> {
    let (handled, beyond) = match plan.walls {
        Walls::Namespaces | Walls::Bubblewrap => (landlock::WRITING, Beyond::Scoped),
        Walls::Kernel => (
            landlock::WRITING | landlock::READING,
            Beyond::ScopedWithoutTcp,
        ),
    };
    let fence = Ruleset::new(plan.landlock_abi, handled, beyond).during("making a fence")?;
    for zone in &plan.guard.zones {
        allow_zone(&fence, zone)?;
    }
    for door in doors {
        let what = || format!("fencing {}", door.path.display());
        let rights = landlock::MAKE_REG | landlock::WRITE_FILE | landlock::TRUNCATE;
        let folder = door.folder.as_fd();
        fence.allow_folder(folder, rights).during(what())?;
    }
    allow_devices(&fence, plan.walls)?;
    if plan.walls == Walls::Kernel {
        allow_if_there(&fence, Path::new(TERMINALS), TO_DEVICES)?;
        for (path, rights) in readable(plan) {
            allow_if_there(&fence, &path, rights)?;
        }
    }
    fence.enforce().during("closing the fence")
}

/// Refuses the command what the doorman does for it.
pub(crate) fn around_the_command(plan: &Plan) -> Result<(), String> {
    let handled = landlock::WRITING & !landlock::IOCTL_DEV;
    let fence =
        Ruleset::new(plan.landlock_abi, handled, Beyond::Scoped).during("making a fence")?;
    allow_devices(&fence, plan.walls)?;
    fence.enforce().during("closing the fence")
}

fn allow_zone(fence: &Ruleset, zone: &Zone) -> Result<(), String> {
    let path = zone.path.path();
    let what = || format!("fencing {}", path.display());
    let rights = landlock::WRITING & !(landlock::MAKE_CHAR | landlock::MAKE_BLOCK);
    match zone.kind {
        ZoneKind::Shared | ZoneKind::Private => allow(fence, path, rights),
        ZoneKind::Named => {
            let place = zone.hold().during(what())?;
            fence.allow_folder(place.as_fd(), rights).during(what())
        }
        ZoneKind::File => {
            let place = zone.hold().during(what())?;
            fence.allow_file(place.as_fd(), rights).during(what())
        }
        // The doorman has a door to it.
        ZoneKind::NewFile => Ok(()),
    }
}

fn allow_devices(fence: &Ruleset, walls: Walls) -> Result<(), String> {
    match walls {
        // Only harmless ones are there.
        Walls::Namespaces | Walls::Bubblewrap => allow(fence, Path::new("/dev"), TO_DEVICES),
        Walls::Kernel => {
            let mut devices = DEVICES.iter();
            devices.try_for_each(|device| allow_if_there(fence, Path::new(device), TO_DEVICES))
        }
    }
}

fn allow(fence: &Ruleset, path: &Path, rights: u64) -> Result<(), String> {
    let what = || format!("fencing {}", path.display());
    let place = handle(path).during(what())?;
    if path.is_dir() {
        fence.allow_folder(place.as_fd(), rights).during(what())
    } else {
        fence.allow_file(place.as_fd(), rights).during(what())
    }
}

/// What cannot be opened cannot be used from inside either.
fn allow_if_there(fence: &Ruleset, path: &Path, rights: u64) -> Result<(), String> {
    match handle(path) {
        Ok(_) => allow(fence, path, rights),
        Err(_) => Ok(()),
    }
}

fn handle(path: &Path) -> std::io::Result<OwnedFd> {
    open::plain(&c_text(path)?, libc::O_PATH)
}

/// Everything but what must not be read, devices of the host among it. A folder on the way to such a
/// path cannot be granted as a whole: only its other entries are, as they are now.
fn readable(plan: &Plan) -> Vec<(PathBuf, u64)> {
    let closed: Vec<&Path> = plan.unreadable.iter().map(|text| text.path()).collect();
    // Listing passes on to everything below: the names of what is closed can be seen.
    let mut granted = vec![(PathBuf::from("/"), landlock::READ_DIR)];
    let mut open = vec![PathBuf::from("/")];
    while let Some(path) = open.pop() {
        if closed.iter().any(|one| path.starts_with(one)) {
            continue;
        }
        if path == Path::new(DEVICE_FOLDER) {
            let further = [TERMINALS, SHARED_MEMORY];
            open.extend(DEVICES.into_iter().chain(further).map(PathBuf::from));
            continue;
        }
        // It always holds the devices.
        let is_top = path == Path::new("/");
        if !is_top && !closed.iter().any(|one| one.starts_with(&path)) {
            granted.push((path, landlock::READING));
            continue;
        }
        let entries = std::fs::read_dir(&path).into_iter().flatten();
        let entries = entries.filter_map(Result::ok).map(|entry| entry.path());
        // What a link leads to is granted, or not, where it lies.
        open.extend(entries.filter(|entry| !entry.is_symlink()));
    }
    granted
}
