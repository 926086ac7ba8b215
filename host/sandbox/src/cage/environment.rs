//! The variables that a command sees: none of the host's but those on a list.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::ground::Ground;
use super::guard::Zone;
use super::layout;
use super::plan::Walls;

type Pairs = Vec<(OsString, OsString)>;

/// What a command may know of its host: where programs and people are, which language they
/// speak. No variable here has ever held a key.
const ALLOWED: [&str; 11] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "NO_COLOR",
];

/// Picks from the host's variables those that a command may see.
pub fn allowed(host: impl IntoIterator<Item = (OsString, OsString)>) -> Pairs {
    let may_be_seen = |name: &OsStr| {
        ALLOWED.iter().any(|one| name == *one)
            || name.to_str().is_some_and(|name| name.starts_with("LC_"))
    };
    host.into_iter()
        .filter(|(name, _)| may_be_seen(name))
        .collect()
}

/// The given variables, of which a later one beats an earlier one; and where to put temporary
/// files and caches, since the host's folders for them cannot be written to.
pub(super) fn inside(
    ground: &Ground,
    zones: &[Zone],
    walls: Walls,
    given: &[(OsString, OsString)],
) -> Pairs {
    let mut all: Pairs = Vec::new();
    for (name, value) in given {
        all.retain(|(old, _)| old != name);
        all.push((name.clone(), value.clone()));
    }
    let temporary = layout::temporary(ground);
    let (Some(temporary), Walls::Namespaces | Walls::Bubblewrap) = (temporary, walls) else {
        return all;
    };
    let can_be_written = |value: &OsStr| {
        let value = Path::new(value);
        zones.iter().any(|zone| value.starts_with(zone.path.path()))
    };
    let value = |name: &str| {
        let found = all.iter().find(|(old, _)| old == name);
        found.map(|(_, value)| value.clone())
    };
    let mut better: Vec<(&str, OsString)> = Vec::new();
    if !value("TMPDIR").is_some_and(|value| can_be_written(&value)) {
        better.push(("TMPDIR", temporary.clone().into()));
    }
    if !value("HOME").is_some_and(|value| can_be_written(&value)) {
        for (name, folder) in [("XDG_CACHE_HOME", ".cache"), ("npm_config_cache", ".npm")] {
            if value(name).is_none() {
                better.push((name, temporary.join(folder).into()));
            }
        }
    }
    for (name, value) in better {
        all.retain(|(old, _)| old != name);
        all.push((name.into(), value));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_pass() {
        let host = [
            "PATH",
            "LC_ALL",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "path",
        ];
        let host = host.map(|name| (name.into(), "x".into()));
        let names: Vec<OsString> = allowed(host).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "LC_ALL"]);
    }
}
