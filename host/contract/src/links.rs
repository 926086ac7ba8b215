//! The names by which a file is reached over links.
//!
//! Files are told apart by where they really lie. A rule may be about a name that is a link, and closes what
//! is reached by it.

use std::path::{Component, Path, PathBuf};

/// The names by which a path is reached over links: as it was written, and once more for each link that is
/// followed but the last.
pub fn names_over_links(path: &Path) -> Vec<PathBuf> {
    // As many as the kernel follows.
    const MOST_LINKS: usize = 40;
    let mut names = Vec::new();
    let mut open = path.to_owned();
    while names.len() < MOST_LINKS {
        let Some((link, behind)) = first_link(&open) else {
            break;
        };
        let Ok(target) = link.read_link() else {
            break;
        };
        let folder = link.parent().unwrap_or(&link);
        let next = folder.join(target).join(&behind);
        // `link/../x` does not lie below the link.
        names.extend(folded_below(&link, &behind));
        open = next;
    }
    names
}

/// A name below a folder without `.` and `..`, unless it leads out of it.
fn folded_below(folder: &Path, name: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in name.components() {
        match part {
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    let mut path = folder.to_owned();
    // An empty name would leave a `/` at the end.
    path.extend(parts);
    Some(path)
}

/// The first part of a path that is a link, without `.` and `..` in front of it, and what is behind.
fn first_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut known = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        match part {
            Component::CurDir => {}
            // What stands in front is no link.
            Component::ParentDir => {
                known.pop();
            }
            part => {
                known.push(part);
                if known.is_symlink() {
                    return Some((known, parts.as_path().to_owned()));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_link_on_the_way_gives_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        for (target, link) in [
            ("real", "link"),
            ("link/new.txt", "first"),
            ("first", "zero"),
            ("../link/deep", "real/back"),
            ("round", "round"),
        ] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("real"), root.join("absolute")).unwrap();
        for (path, wanted) in [
            ("real/deep/a", &[][..]),
            ("nothing/here", &[]),
            ("link", &["link"]),
            ("./link/./a", &["link/a"]),
            ("link/../x", &[]),
            ("real/../link/deep/../a", &["link/a"]),
            ("zero", &["zero", "first", "link/new.txt"]),
            ("real/back/f", &["real/back/f", "link/deep/f"]),
            ("absolute/deep/f", &["absolute/deep/f"]),
        ] {
            let names = names_over_links(&root.join(path));
            let wanted: Vec<PathBuf> = wanted.iter().map(|name| root.join(name)).collect();
            assert_eq!(names, wanted, "{path}");
            let ends_plainly = |name: &PathBuf| !name.to_string_lossy().ends_with('/');
            assert!(names.iter().all(ends_plainly), "{names:?}");
        }
        assert_eq!(names_over_links(&root.join("round")).len(), 40);
    }
}
