//! Where a path leads, with the links on the way: each must stay as it is, or the path leads
//! elsewhere later.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// As the kernel counts when it follows links.
const MOST_LINKS: usize = 40;

/// The links on the way to an absolute path, and its end. What does not exist is taken as written,
/// since it may be made.
pub(super) fn ways(path: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut open: Vec<OsString> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = open.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match next.read_link() {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    real = "/".into();
                }
                open.extend(parts(&target));
                all.push(next);
            }
            Ok(_) | Err(_) => real = next,
        }
    }
    all.push(real);
    all
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
            assert_eq!(ways(&top.join(path)), wanted, "{path}");
        }
        assert!(ways(&top.join("round")).contains(&top.join("round")));
    }
}
