//! Puts a file in its place whose content git would read back without a look.
//!
//! What is put there is a copy that nobody in the cage has open, so that it stays what it was when it was
//! looked at.

use std::ffi::CString;
use std::fs::{File, FileTimes, Permissions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use super::{Doorman, Step, done, failed, is, pair};
use crate::cage::checked::{Checked, MOST_BYTES, ObjectNames};
use crate::helper::resolve::Spot;
use crate::kernel::open;
use crate::kernel::seccomp::Answer;

/// Behind the name of the place. Nothing in the cage makes names while this does.
const COPY: &[u8] = b".checked";

impl Doorman<'_> {
    pub(super) fn put_checked(&mut self, kind: Checked, from: &Spot, to: &Spot) -> Step<Answer> {
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let fails = |error: std::io::Error| failed(&error);
        let file = open::at(Some(from.folder.as_fd()), &from.name, flags, 0).map_err(fails)?;
        let file = File::from(file);
        let found = file.metadata().map_err(fails)?;
        if !found.is_file() || found.len() > MOST_BYTES {
            return Err(self.not_by_git(to));
        }
        let mut content = Vec::new();
        let read = file.take(MOST_BYTES + 1).read_to_end(&mut content);
        if read.map_err(fails)? as u64 > MOST_BYTES {
            return Err(self.not_by_git(to));
        }
        if let Some(problem) = kind.problem(&content, self.object_names(to)) {
            let path = to.path.display();
            return Err(self.refuse(format!(
                "{path} must not become what git would obey: {problem}"
            )));
        }
        let copied = [to.name.as_bytes(), COPY].concat();
        let copied = CString::new(copied).map_err(|_| Answer::Fail(libc::EINVAL))?;
        let copy = Spot {
            folder: to.folder.try_clone().map_err(fails)?,
            name: copied,
            path: to.path.clone(),
            wants_folder: false,
        };
        let written =
            write_copy(&copy, &content, &found).and_then(|()| open::rename(&pair(&copy, to), 0));
        if let Err(error) = written {
            let _ = open::remove(copy.folder.as_fd(), &copy.name, 0);
            return Err(fails(error));
        }
        done(open::remove(from.folder.as_fd(), &from.name, 0))
    }

    pub(super) fn not_by_git(&mut self, to: &Spot) -> Answer {
        let path = to.path.display();
        self.refuse(format!(
            "{path} is only changed by way of a lock file, as git does"
        ))
    }

    fn object_names(&self, to: &Spot) -> ObjectNames {
        let settings = self.guard.settings_of(&to.path);
        let text = settings.and_then(|settings| std::fs::read_to_string(settings).ok());
        ObjectNames::of_settings(&text.unwrap_or_default())
    }
}

/// With the times of what is copied: git compares them with those of the files.
fn write_copy(copy: &Spot, content: &[u8], like: &std::fs::Metadata) -> std::io::Result<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
    let make = || open::at(Some(copy.folder.as_fd()), &copy.name, flags, 0o600);
    let file = match make() {
        // Left by another command that was ended here.
        Err(error) if is(&error, libc::EEXIST) => {
            open::remove(copy.folder.as_fd(), &copy.name, 0)?;
            make()?
        }
        made => made?,
    };
    let mut file = File::from(file);
    file.write_all(content)?;
    // What git cannot read back is as good as removed.
    let mode = like.permissions().mode() & 0o777 | 0o600;
    file.set_permissions(Permissions::from_mode(mode))?;
    let times = FileTimes::new().set_accessed(like.accessed()?);
    file.set_times(times.set_modified(like.modified()?))
}
