//! Where things are kept: the XDG folders, read once.
#![allow(clippy::disallowed_methods)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use toolbay_policy::Standing;

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

/// Where the owner of the machine puts settings that nobody else can take back.
const MANAGED: &str = "/etc/toolbay/managed-settings.json";

impl Places {
    /// Reads `HOME`, `XDG_CACHE_HOME`, `XDG_STATE_HOME`, `XDG_DATA_HOME`.
    pub fn from_environment() -> anyhow::Result<Self> {
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let below_home = |part: &str| home.as_ref().map(|home| home.join(part));
        let missing = |name: &str| {
            anyhow::anyhow!(
                "set HOME or {name} to an absolute path: toolbay needs a folder of its own"
            )
        };
        let cache = folder("XDG_CACHE_HOME")
            .or_else(|| below_home(".cache"))
            .ok_or_else(|| missing("XDG_CACHE_HOME"))?
            .join("toolbay");
        let state = folder("XDG_STATE_HOME")
            .or_else(|| below_home(".local/state"))
            .ok_or_else(|| missing("XDG_STATE_HOME"))?
            .join("toolbay");
        let data = folder("XDG_DATA_HOME")
            .or_else(|| below_home(".local/share"))
            .ok_or_else(|| missing("XDG_DATA_HOME"))?
            .join("toolbay");
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

/// Who runs the program, and where.
pub fn standing() -> Standing {
    Standing {
        is_root: rustix::process::geteuid().is_root(),
        in_sandbox: is_container(),
    }
}

/// Marks that container engines leave, or a root that is another user outside.
fn is_container() -> bool {
    let marks = ["/.dockerenv", "/run/.containerenv"];
    let is_mapped = || {
        let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let mut words = map.split_whitespace();
        // Outside any user namespace all users are themselves.
        words.next() == Some("0") && words.next().is_some_and(|outside| outside != "0")
    };
    marks.iter().any(|mark| Path::new(mark).exists()) || is_mapped()
}

/// Whether the environment asks for no colour.
pub fn wants_no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// How many calls may run at once: `TOOLBAY_MAX_TOOL_CONCURRENCY`, if it is a number.
pub fn cap() -> usize {
    std::env::var("TOOLBAY_MAX_TOOL_CONCURRENCY")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|cap| *cap > 0)
        .unwrap_or(toolbay_dispatch::DEFAULT_CAP)
}

/// What the person is called, for the audit log. Nothing depends on it.
pub fn user_name() -> Option<String> {
    let name = ["USER", "LOGNAME"].into_iter().find_map(std::env::var_os)?;
    name.into_string().ok().filter(|name| !name.is_empty())
}

/// The variables that hooks see: where programs and people are, and no secret.
///
/// Programs are not looked for inside the roots: a hook runs outside of every cage, and a tool may put a
/// `jq` into a folder of the project that stands on the `PATH`.
pub fn hook_environment(roots: &[PathBuf]) -> Vec<(OsString, OsString)> {
    const SEEN: [&str; 9] = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TERM",
    ];
    let value = |name: &str| {
        let value = std::env::var_os(name)?;
        Some(match name {
            "PATH" => path_outside(&value, roots),
            _ => value,
        })
    };
    SEEN.iter()
        .filter_map(|name| Some((OsString::from(name), value(name)?)))
        .collect()
}

/// A `PATH` without what is relative or lies inside these folders, by its name or by where links lead.
fn path_outside(path: &OsStr, roots: &[PathBuf]) -> OsString {
    // Where shells look without one. An empty one would be the current folder.
    const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";
    let is_outside = |folder: &PathBuf| {
        let real = folder.canonicalize();
        let mut names = std::iter::once(folder).chain(real.iter());
        folder.is_absolute() && names.all(|name| !roots.iter().any(|root| name.starts_with(root)))
    };
    let kept: Vec<PathBuf> = std::env::split_paths(path).filter(is_outside).collect();
    match std::env::join_paths(&kept) {
        Ok(path) if !kept.is_empty() => path,
        Ok(_) | Err(_) => USUAL.into(),
    }
}

/// The collector that spans go to: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` as it is, or
/// `OTEL_EXPORTER_OTLP_ENDPOINT` with the path that the protocol wants.
#[cfg(feature = "otlp")]
pub fn otlp_endpoint() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| {
        let base = set("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/traces", base.trim_end_matches('/')))
    })
}

/// Where programs are looked for.
pub fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// All variables of this process, for whoever picks from them by a list.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// A variable that somebody asked for by its name.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What `TOOLBAY_LOG` asks to be logged.
pub fn log_filter() -> Option<String> {
    std::env::var("TOOLBAY_LOG").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_look_for_no_program_in_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("p/bin")).unwrap();
        std::os::unix::fs::symlink(base.join("p/bin"), base.join("link")).unwrap();
        let roots = [base.join("p")];
        let here = base.display();
        for (path, wanted) in [
            (format!("{here}/p/bin:/usr/bin"), "/usr/bin"),
            (format!("{here}/link:/usr/bin"), "/usr/bin"),
            (format!("/usr/bin:{here}/p/later"), "/usr/bin"),
            ("bin:.::/usr/bin".into(), "/usr/bin"),
            (format!("{here}/p"), "/usr/local/bin:/usr/bin:/bin"),
            (String::new(), "/usr/local/bin:/usr/bin:/bin"),
            ("/opt/x:/usr/bin".into(), "/opt/x:/usr/bin"),
        ] {
            assert_eq!(path_outside(path.as_ref(), &roots), wanted, "{path}");
        }
    }
}
