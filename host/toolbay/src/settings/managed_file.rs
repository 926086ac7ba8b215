//! Whether the managed settings are the word of the machine's owner.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, bail};

/// Others could write it.
const BY_OTHERS: u32 = 0o022;

/// Refuses a file that somebody else than its owner can change: a lock with the key in it is
/// worse than none, because it is believed.
pub(crate) fn check(file: &Path) -> anyhow::Result<()> {
    let found = match std::fs::metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let me = rustix::process::geteuid().as_raw();
    for (path, found) in std::iter::once((file, Ok(found))).chain(
        file.parent()
            .map(|folder| (folder, std::fs::metadata(folder))),
    ) {
        let found = found.with_context(|| path.display().to_string())?;
        if found.uid() != 0 && found.uid() != me {
            bail!(
                "{} belongs to the user {}; managed settings belong to root",
                path.display(),
                found.uid()
            );
        }
        let is_sticky_folder = found.is_dir() && found.mode() & 0o1000 != 0;
        if found.mode() & BY_OTHERS != 0 && !is_sticky_folder {
            bail!(
                "{} can be written by others; managed settings must not be: chmod go-w {}",
                path.display(),
                path.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_others_can_write_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("managed.json");
        assert!(check(&file).is_ok(), "no file is no policy");
        std::fs::write(&file, "{}").unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (file_mode, folder_mode, good) in [
            (0o644, 0o755, true),
            (0o600, 0o700, true),
            (0o664, 0o755, false),
            (0o646, 0o755, false),
            (0o644, 0o777, false),
        ] {
            set(&file, file_mode);
            set(folder.path(), folder_mode);
            assert_eq!(
                check(&file).is_ok(),
                good,
                "{file_mode:o} in {folder_mode:o}"
            );
        }
    }
}
