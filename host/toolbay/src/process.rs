//! What the library is told of the process that it runs in.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolbay_policy::Standing;

/// The environment of a process and the user that it runs for. Nothing of it is read behind a caller's
/// back: `ProcessContext::new(std::env::vars_os())` passes on what a program was started with, and
/// another list gives hooks, commands and servers that one instead.
#[derive(Debug, Clone)]
pub struct ProcessContext {
    variables: Arc<[(OsString, OsString)]>,
    standing: Standing,
}

/// Without a variable.
impl Default for ProcessContext {
    fn default() -> Self {
        Self::new([])
    }
}

impl ProcessContext {
    /// Of these variables, and of the user of this process.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: variables.into_iter().collect(),
            standing: Standing {
                is_root: rustix::process::geteuid().is_root(),
                in_sandbox: is_container(),
            },
        }
    }

    /// Who runs the program, and where.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// All variables, for whoever picks from them by a list.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// A variable that somebody asked for by its name.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// The same, if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variable(name)?.to_str()
    }

    /// What the user is called, for the audit log. Nothing depends on it.
    pub fn user_name(&self) -> Option<String> {
        let names = ["USER", "LOGNAME"].into_iter();
        let set = names.filter_map(|name| self.variable(name)).next()?;
        set.to_str().filter(|name| !name.is_empty()).map(Into::into)
    }

    /// The variables that hooks see: where programs and people are, and no secret.
    ///
    /// Programs are not looked for inside the roots: a hook runs outside of every cage, and a tool may
    /// put a `jq` into a folder of the project that stands on the `PATH`.
    pub fn hook_environment(&self, roots: &[PathBuf]) -> Vec<(OsString, OsString)> {
        const SEEN: [&str; 9] = [
            "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TERM",
        ];
        let value = |name: &str| {
            let value = self.variable(name)?;
            Some(match name {
                "PATH" => path_outside(value, roots),
                _ => value.to_owned(),
            })
        };
        SEEN.iter()
            .filter_map(|name| Some((OsString::from(name), value(name)?)))
            .collect()
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

    #[test]
    fn hooks_see_what_was_passed_on_and_no_secret() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let given = [
            pair("HOME", "/h"),
            pair("TOKEN", "secret"),
            pair("LOGNAME", "me"),
        ];
        let process = ProcessContext::new(given);
        let seen = process.hook_environment(&[]);
        assert_eq!(seen, [pair("HOME", "/h"), pair("LOGNAME", "me")]);
        assert_eq!(process.user_name().as_deref(), Some("me"));
        assert_eq!(process.text("TOKEN"), Some("secret"));
        assert_eq!(process.text("PATH"), None);
    }
}
