//! What a folder holds that is to get another name.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::helper::resolve::Spot;

/// More entries are not compared. A folder of packages holds tens of thousands; to look at this many
/// takes some tenths of a second, in which the doorman serves nobody else.
const MOST: usize = 200_000;

/// Calls `refuses` for each entry below a folder, by its path there, until one is refused. What cannot
/// be listed is refused as well. A name that is no folder holds nothing.
pub(super) fn each(
    folder: &Spot,
    refuses: &mut dyn FnMut(&Path) -> Option<String>,
) -> Result<(), String> {
    let name = std::ffi::OsStr::from_bytes(folder.name.as_bytes());
    let top = PathBuf::from(format!("/proc/self/fd/{}", folder.folder.as_raw_fd())).join(name);
    let mut count = 0;
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        let shown = || folder.path.join(&inside).display().to_string();
        let path = top.join(&inside);
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => continue,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{} cannot be looked at: {error}", shown())),
        }
        let entries = path
            .read_dir()
            .map_err(|error| format!("{} cannot be listed: {error}", shown()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{} cannot be listed: {error}", shown()))?;
            count += 1;
            if count > MOST {
                return Err(format!(
                    "{} holds more than {MOST} files, which are not compared with the deny rules",
                    folder.path.display()
                ));
            }
            let inside = inside.join(entry.file_name());
            if let Some(reason) = refuses(&inside) {
                return Err(reason);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(inside);
            }
        }
    }
    Ok(())
}
