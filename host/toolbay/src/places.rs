//! Where things are kept: the XDG folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Folders of this user.
#[derive(Debug, Clone)]
pub struct Places {
    pub home: Option<PathBuf>,
    pub cache: PathBuf,
    pub state: PathBuf,
    /// What MCP servers have fetched and keep.
    pub data: PathBuf,
    /// The settings of the machine's owner.
    pub managed: PathBuf,
}

/// No folder can be found for what has to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("set HOME or {variable} to an absolute path: toolbay needs a folder of its own")]
pub struct NoPlace {
    pub variable: &'static str,
}

/// Where the owner of the machine puts settings that nobody else can take back.
const MANAGED: &str = "/etc/toolbay/managed-settings.json";

impl Places {
    /// The places that these variables name: `HOME`, `XDG_CACHE_HOME`, `XDG_STATE_HOME`,
    /// `XDG_DATA_HOME`.
    pub fn by_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, NoPlace> {
        let folder = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let own = |variable: &'static str, below_home: &str| {
            let usual = || home.as_ref().map(|home| home.join(below_home));
            let found = folder(variable).or_else(usual);
            Ok(found.ok_or(NoPlace { variable })?.join("toolbay"))
        };
        let cache = own("XDG_CACHE_HOME", ".cache")?;
        let state = own("XDG_STATE_HOME", ".local/state")?;
        let data = own("XDG_DATA_HOME", ".local/share")?;
        // Another file can only stand in for one that is not there: whoever sets variables must
        // not get around the owner.
        let system = PathBuf::from(MANAGED);
        let managed = match std::fs::symlink_metadata(&system) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                folder("TOOLBAY_MANAGED_SETTINGS").unwrap_or(system)
            }
            Ok(_) | Err(_) => system,
        };
        Ok(Self {
            home,
            cache,
            state,
            data,
            managed,
        })
    }

    /// Everything below one folder, for a program that keeps its state apart from the user's. There are no
    /// user's settings then; those of the machine's owner count.
    pub fn in_folder(folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref();
        Self {
            home: None,
            cache: folder.join("cache"),
            state: folder.join("state"),
            data: folder.join("data"),
            managed: MANAGED.into(),
        }
    }

    /// The folder of the managed settings.
    pub fn managed_folder(&self) -> PathBuf {
        let folder = self.managed.parent();
        folder.map_or_else(|| self.managed.clone(), Path::to_path_buf)
    }

    /// The folder of the audit log. It is in the state folder, which no tool may even read.
    pub fn audit_log(&self) -> PathBuf {
        self.state.join("audit")
    }

    /// Where package runners put the servers that they fetch.
    pub fn packages(&self) -> PathBuf {
        self.data.join("servers")
    }

    /// Where the end of the audit log is noted once more: not in its folder, so that whoever puts
    /// that back or removes it is found out.
    pub fn audit_anchor(&self) -> PathBuf {
        self.state.join("anchor").join("audit.head")
    }

    /// The key of the audit log. Beside its folder, so that a copy of the log has no key.
    pub fn audit_key(&self) -> PathBuf {
        self.state.join("audit.key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_variables_and_say_which_one_is_missing() {
        let with = |given: &[(&str, &str)]| {
            Places::by_variables(|name| {
                let found = given.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let places = with(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]).unwrap();
        assert_eq!(places.cache, Path::new("/h/.cache/toolbay"));
        assert_eq!(places.state, Path::new("/s/toolbay"));
        let missing = |given: &[(&str, &str)]| with(given).unwrap_err().variable;
        assert_eq!(missing(&[]), "XDG_CACHE_HOME");
        // A relative one would be another folder for each working folder.
        assert_eq!(missing(&[("HOME", "h")]), "XDG_CACHE_HOME");
        let some = [("XDG_CACHE_HOME", "/c"), ("XDG_STATE_HOME", "/s")];
        assert_eq!(missing(&some), "XDG_DATA_HOME");
    }
}
