//! Keeps folders of the user's from becoming what git takes for a repository.
//!
//! git needs no `.git`: a folder with the three names of a control folder is one, with settings that name
//! programs. Where the user's git starts in such a folder, or below it, and meets no other repository first,
//! it runs them. So the last of these names is not made, of whatever kind: git does not look closely.
//! Repositories that have all of them stay usable.

use std::ffi::CStr;
use std::fs::{File, TryLockError};
use std::os::fd::AsFd;

use super::{Doorman, Step, is};
use crate::cage::control::is_git;
use crate::cage::guard::ZoneKind;
use crate::helper::resolve::Spot;
use crate::kernel::open;
use crate::kernel::seccomp::Answer;
use crate::names::folded;

/// Names that make a repository together.
const SETS: [&[&CStr]; 2] = [&[c"HEAD", c"objects", c"refs"], &[c"HEAD", c"commondir"]];

/// While it lives no other cage makes one of these names in the folder.
pub(super) struct Turn {
    _locked: Option<File>,
}

impl Doorman<'_> {
    /// Whether a name may be made, which it is while the answer lives.
    pub(super) fn check_look(&mut self, spot: &Spot) -> Step<Turn> {
        let name = folded(spot.name.as_bytes());
        let is_same = |one: &&CStr| *folded(one.to_bytes()) == *name;
        if !SETS.iter().any(|set| set.iter().any(is_same)) || !self.is_users(spot) {
            return Ok(Turn { _locked: None });
        }
        let turn = turn(spot)?;
        let is_there = |name: &CStr| match open::kind(spot.folder.as_fd(), name) {
            Err(error) => !is(&error, libc::ENOENT),
            Ok(_) => true,
        };
        if is_there(&spot.name) {
            return Ok(turn);
        }
        let completes = SETS.iter().any(|set| {
            let mut others = set.iter().filter(|one| !is_same(one));
            set.iter().any(is_same) && others.all(|one| is_there(one))
        });
        if !completes {
            return Ok(turn);
        }
        let folder = spot.path.parent().unwrap_or(&spot.path).display();
        Err(self.refuse(format!(
            "{}: {folder} would become a repository whose settings git obeys; make one in a folder for temporary files",
            spot.path.display()
        )))
    }

    /// A control folder has all these names, and its settings are protected.
    fn is_users(&self, spot: &Spot) -> bool {
        let folder = spot.path.parent().and_then(|folder| folder.file_name());
        let is_private = match self.guard.zone(&spot.path).map(|zone| zone.kind) {
            Some(ZoneKind::Private) | None => true,
            Some(ZoneKind::Shared | ZoneKind::Named | ZoneKind::File | ZoneKind::NewFile) => false,
        };
        !is_private && !folder.is_some_and(is_git)
    }
}

/// Another cage could make the other names meanwhile.
fn turn(spot: &Spot) -> Step<Turn> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    let folder = open::at(Some(spot.folder.as_fd()), c".", flags, 0);
    // Whoever cannot list it can still make names in it, but no repository that git could read.
    let folder = File::from(folder.map_err(|_| Answer::Fail(libc::EACCES))?);
    match folder.try_lock() {
        Ok(()) => Ok(Turn {
            _locked: Some(folder),
        }),
        Err(TryLockError::WouldBlock) => Err(Answer::Later),
        // There are file systems without locks.
        Err(TryLockError::Error(_)) => Ok(Turn { _locked: None }),
    }
}
