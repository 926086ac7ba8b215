//! Where a path leads, with the links on the way: each must stay as it is, or the path leads
//! elsewhere later.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// As the kernel counts when it follows links.
const MOST_LINKS: usize = 40;

/// How a path leads to its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The links on it, first to last.
    pub(super) links: Vec<PathBuf>,
    /// Folders that it enters and leaves by `..`: with a link in the place of one it leads elsewhere.
    pub(super) turns: Vec<PathBuf>,
    /// What does not exist is taken as written, since it may be made.
    pub(super) end: PathBuf,
}

/// Where an absolute path leads. A loop ends at one of its links.
pub(super) fn way(path: &Path) -> Way {
    let mut way = Way {
        end: "/".into(),
        ..Way::default()
    };
    let mut open: Vec<OsString> = parts(path);
    while let Some(part) = open.pop() {
        if part == ".." {
            way.turns.push(way.end.clone());
            way.end.pop();
            continue;
        }
        let next = way.end.join(&part);
        match next.read_link() {
            Ok(target) if way.links.len() < MOST_LINKS => {
                if target.is_absolute() {
                    way.end = "/".into();
                }
                open.extend(parts(&target));
                way.links.push(next);
            }
            Ok(_) | Err(_) => way.end = next,
        }
    }
    way
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::ParentDir => Some(OsStr::new("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    parts.map(OsStr::to_owned).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn each_link_on_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("real/deep")).unwrap();
        symlink("real", top.join("one")).unwrap();
        symlink("one/deep", top.join("two")).unwrap();
        symlink("round", top.join("round")).unwrap();
        for (path, wanted) in [
            ("real/x", &["real/x"][..]),
            ("one/x", &["one", "real/x"]),
            ("two/../x", &["two", "one", "real/x"]),
            ("missing/../x/y", &["x/y"]),
            ("two", &["two", "one", "real/deep"]),
        ] {
            let wanted: Vec<PathBuf> = wanted.iter().map(|part| top.join(part)).collect();
            let found = way(&top.join(path));
            assert_eq!([found.links, vec![found.end]].concat(), wanted, "{path}");
        }
        assert!(way(&top.join("round")).links.contains(&top.join("round")));
        let turned = way(&top.join("two/../missing/../x")).turns;
        assert_eq!(turned, [top.join("real/deep"), top.join("real/missing")]);
    }
}
