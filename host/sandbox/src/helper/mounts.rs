//! Looks whether bubblewrap mounted what it was told to.
//!
//! It goes by paths. Where another process puts a link in the place of a zone at the right
//! moment, what the link leads to becomes writable, and nothing else would tell.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::While;
use crate::cage::plan::{Plan, Step};

const MOUNTS: &str = "/proc/self/mountinfo";

/// Whether all that is writable was to be, for a command that has zones of its own.
pub(crate) fn check(plan: &Plan) -> Result<(), String> {
    if plan.guard.zones.iter().all(|zone| zone.identity.is_none()) {
        return Ok(());
    }
    let mounts = fs::read(MOUNTS).during("reading the mounts")?;
    match stray(&mounts, &plan.steps) {
        None => Ok(()),
        Some(path) => Err(format!("{} was mounted by mistake", path.display())),
    }
}

/// The first writable mount that no step asked for.
fn stray(mounts: &[u8], steps: &[Step]) -> Option<PathBuf> {
    let is_meant = |path: &Path| {
        path.starts_with("/dev")
            || steps.iter().any(|step| match step {
                Step::Writable(place) | Step::Private { at: place, .. } => {
                    path.starts_with(place.path())
                }
                Step::ReadOnly(_) | Step::Data(_) | Step::Hidden(_) => false,
            })
    };
    let lines = mounts.split(|byte| *byte == b'\n');
    let writable = lines.filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let (path, options) = (fields.next()?, fields.next()?);
        let mut options = options.split(|byte| *byte == b',');
        options.any(|one| one == b"rw").then(|| plain(path))
    });
    writable.into_iter().find(|path| !is_meant(path))
}

/// A path without the kernel's escapes: a backslash and three octal digits.
fn plain(escaped: &[u8]) -> PathBuf {
    let mut all = Vec::new();
    let mut rest = escaped;
    while let Some((first, others)) = rest.split_first() {
        let number = others.get(..3).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        (rest, _) = match number {
            Some(byte) if *first == b'\\' => (&others[3..], all.push(byte)),
            Some(_) | None => (others, all.push(*first)),
        };
    }
    OsString::from_vec(all).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writable_mount_that_was_not_meant_is_found() {
        let steps = [
            Step::Private {
                at: "/tmp".into(),
                bytes: 1,
            },
            Step::ReadOnly("/p".into()),
            Step::Writable("/p/a b".into()),
        ];
        let line = |path: &str, options: &str| {
            format!("36 35 98:0 /x {path} {options} master:1 - ext4 /dev/root rw\n")
        };
        for (path, options, is_stray) in [
            ("/", "ro,relatime", false),
            ("/dev/shm", "rw,nosuid", false),
            ("/p/a\\040b", "rw", false),
            ("/p/a\\040b/c", "nosuid,rw", false),
            ("/p", "rw", true),
            ("/p/a\\040bc", "rw", true),
            ("/home", "rw,noatime", true),
            ("/home", "ro", false),
        ] {
            let found = stray(line(path, options).as_bytes(), &steps);
            assert_eq!(found.is_some(), is_stray, "{path} {options}");
        }
    }
}
