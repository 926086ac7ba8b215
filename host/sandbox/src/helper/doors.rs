//! Folders in which the doorman may make one file each, and nothing else may be made.
//!
//! A file that was named for a command and does not exist cannot be shown to it, and its folder
//! is not to be changed. So the doorman holds the folder by a handle that no path leads to.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use super::While;
use crate::cage::guard::{Guard, Zone, ZoneKind};
use crate::cage::plan::{Plan, Walls};
use crate::kernel::mount::{self, Use};
use crate::kernel::{c_text, open, process};

/// Handles on their way through bubblewrap have numbers from here on: nothing else does.
const FIRST: i32 = 200;

/// A file that may be made, and a handle of its folder.
pub(crate) struct Door {
    pub(crate) path: PathBuf,
    pub(crate) folder: OwnedFd,
    identity: (u64, u64),
}

impl Door {
    /// The handle, if this is the same folder.
    pub(crate) fn folder_for(&self, folder: BorrowedFd<'_>) -> Option<BorrowedFd<'_>> {
        let is_same = open::identity(folder).is_ok_and(|found| found == self.identity);
        is_same.then(|| self.folder.as_fd())
    }
}

impl Door {
    /// The file, if it is the one that is held: wherever that was opened, this is a way to it
    /// that no mount closes.
    pub(crate) fn file_like(&self, held: BorrowedFd<'_>) -> Option<OwnedFd> {
        let name = c_text(self.path.file_name()?).ok()?;
        let file = open::place(Some(self.folder.as_fd()), &name, libc::O_NOFOLLOW).ok()?;
        let identity = |file| open::identity(file).ok();
        (identity(file.as_fd()) == identity(held)).then_some(file)
    }
}

/// Takes hold of all such folders while the host's paths still mean what the host meant.
pub(crate) fn open_all(plan: &Plan) -> Result<Vec<Door>, String> {
    let zones = files_to_make(&plan.guard).enumerate();
    let doors = zones.map(|(index, zone)| {
        let what = || format!("holding the folder of {}", zone.path.path().display());
        let folder = match plan.walls {
            Walls::Kernel => zone.hold(),
            Walls::Namespaces => zone.hold().and_then(|folder| {
                let copy = mount::copy_held(folder.as_fd())?;
                mount::restrict(copy.as_fd(), Use::Write)?;
                Ok(copy)
            }),
            Walls::Bubblewrap => process::take(FIRST + index as i32),
        };
        let folder = folder.during(what())?;
        let identity = open::identity(folder.as_fd()).during(what())?;
        if zone.identity.is_some_and(|known| known != identity) {
            return Err(format!("{}: it was replaced meanwhile", what()));
        }
        Ok(Door {
            path: zone.path.path().to_owned(),
            folder,
            identity,
        })
    });
    doors.collect()
}

/// Hands them through bubblewrap, which the next program of this process is.
pub(crate) fn hand_on(guard: &Guard) -> Result<(), String> {
    for (index, zone) in files_to_make(guard).enumerate() {
        let what = || format!("handing on the folder of {}", zone.path.path().display());
        let folder = zone.hold().during(what())?;
        let number = FIRST + index as i32;
        if folder.as_raw_fd() >= FIRST {
            return Err(format!("{}: too many files are open", what()));
        }
        process::put_at(folder.as_fd(), number).during(what())?;
    }
    Ok(())
}

fn files_to_make(guard: &Guard) -> impl Iterator<Item = &Zone> {
    let zones = guard.zones.iter();
    zones.filter(|zone| zone.kind == ZoneKind::NewFile)
}
