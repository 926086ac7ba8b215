//! Where the secrets of the users lie whose files a command could read.
//!
//! `HOME` says what it was set to: under `sudo`, in a service or for one call it is another folder than the
//! one that the user's keys are in, and commands run with that user's rights all the same.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of the password database are some hundred bytes.
const MOST_BYTES: usize = 1 << 20;

/// The home that was named, that of this process's user, and those of the owners of folders: commands run
/// as the owner of a root where this is user 0. Each once.
pub fn user_homes(named: Option<&Path>, roots: &[PathBuf]) -> Vec<PathBuf> {
    // SAFETY: takes nothing and cannot fail.
    let own = unsafe { libc::getuid() };
    let owners = roots.iter().filter_map(|root| root.metadata().ok());
    let mut users: Vec<u32> = owners.map(|found| found.uid()).chain([own]).collect();
    users.sort();
    users.dedup();
    let mut homes: Vec<PathBuf> = named.map(Path::to_owned).into_iter().collect();
    homes.extend(users.into_iter().filter_map(home_of));
    // Users without a home have `/`.
    homes.retain(|home| home.is_absolute() && home.parent().is_some());
    homes.sort();
    homes.dedup();
    homes
}

/// The home of a user by the password database.
fn home_of(user: u32) -> Option<PathBuf> {
    let mut buffer = vec![0_u8; 4096];
    loop {
        // SAFETY: all zeroes is a valid value of this plain structure.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: entry, buffer and result live through the call; the buffer has the length that is told.
        let answer = unsafe {
            libc::getpwuid_r(
                user,
                &raw mut entry,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                &raw mut found,
            )
        };
        if answer == libc::ERANGE && buffer.len() < MOST_BYTES {
            buffer.resize(buffer.len() * 4, 0);
            continue;
        }
        if answer != 0 || found.is_null() || entry.pw_dir.is_null() {
            return None;
        }
        // SAFETY: the call made it a text with an end, in the buffer that still lives.
        let home = unsafe { CStr::from_ptr(entry.pw_dir) };
        return Some(PathBuf::from(OsStr::from_bytes(home.to_bytes())));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The home of a user by the file that is the database on most machines.
    fn listed(user: u32) -> Option<PathBuf> {
        let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let mut users = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let user = user.to_string();
        let entry = users.find(|entry| entry.get(2) == Some(&user.as_str()))?;
        entry.get(5).map(PathBuf::from)
    }

    #[test]
    fn the_home_of_this_user_counts_whatever_home_is_named() {
        let own = std::fs::metadata("/proc/self").map(|found| found.uid());
        let own = own.ok().and_then(listed);
        let named = Path::new("/somewhere/else");
        let homes = user_homes(Some(named), &[]);
        assert!(homes.contains(&named.to_owned()), "{homes:?}");
        if let Some(own) = own {
            assert!(homes.contains(&own), "{homes:?}");
            assert!(user_homes(None, &[]).contains(&own));
            assert_eq!(user_homes(Some(&own), &[]), [own]);
        }
    }

    #[test]
    fn the_home_of_the_owner_of_a_folder_counts() {
        let Some(folder) = listed(1).filter(|home| home.is_absolute()) else {
            return;
        };
        let root = tempfile::tempdir().unwrap();
        // Only user 0 can give a folder away.
        if std::os::unix::fs::chown(root.path(), Some(1), None).is_err() {
            return;
        }
        let homes = user_homes(None, &[root.path().to_owned()]);
        assert!(homes.contains(&folder), "{homes:?}");
    }

    #[test]
    fn nobody_lives_at_the_top() {
        assert!(!user_homes(Some(Path::new("/")), &[]).contains(&PathBuf::from("/")));
        assert!(!user_homes(Some(Path::new("x")), &[]).contains(&PathBuf::from("x")));
        assert_eq!(home_of(3_999_999_999), None);
    }
}
