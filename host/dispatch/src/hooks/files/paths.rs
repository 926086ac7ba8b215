//! The two ways to read a path with `..` in it: by its text, as `cd` does, and through the links on the
//! way, as the system does.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links that lead to links are followed so often.
const MOST_LINKS: usize = 40;

/// A word as a path below a folder.
pub(super) fn relative(word: &str) -> &str {
    word.trim_start_matches('/')
}

/// Without `.` and `..`, as far as no link is on the way.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The links on the way to a path, and where it leads.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) links: Vec<PathBuf>,
    /// None if the links never end.
    pub(super) end: Option<PathBuf>,
}

/// Follows links, each of which is read once.
#[derive(Debug)]
pub(super) struct Links {
    known: HashMap<PathBuf, Option<PathBuf>>,
    within: PathBuf,
    real_within: Option<PathBuf>,
}

impl Links {
    /// `within` is the folder that counts; its own name may hold links.
    pub(super) fn new(within: &Path) -> Self {
        let real = within.canonicalize().ok();
        Self {
            known: HashMap::new(),
            within: within.to_owned(),
            real_within: real.filter(|real| real != within),
        }
    }

    /// Every reading of a path, without `.` and `..`.
    pub(super) fn readings(&mut self, path: &Path) -> Vec<PathBuf> {
        let mut all = vec![plain(path)];
        if path.components().any(|part| part == Component::ParentDir) {
            all.extend(self.way(path).end.filter(|end| *end != all[0]));
        }
        all
    }

    /// The way of the system to an absolute path; what is not there is taken for a name.
    pub(super) fn way(&mut self, path: &Path) -> Way {
        let mut way = Way::default();
        // Nothing above the folder that counts has to be looked at.
        let (mut at, mut rest) = match path.strip_prefix(&self.within) {
            Ok(rest) => (self.within.clone(), parts(rest)),
            Err(_) => (PathBuf::from("/"), parts(path)),
        };
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            at.push(part);
            let Some(target) = self.target(&at) else {
                continue;
            };
            way.links.push(at.clone());
            if way.links.len() > MOST_LINKS {
                return way;
            }
            match target.is_absolute() {
                true => at = PathBuf::from("/"),
                false => {
                    at.pop();
                }
            }
            let mut next = parts(&target);
            next.append(&mut rest);
            rest = next;
        }
        way.end = Some(self.named(at));
        for link in &mut way.links {
            *link = self.named(std::mem::take(link));
        }
        way
    }

    fn target(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let target = path.read_link().ok();
        self.known.insert(path.to_owned(), target.clone());
        target
    }

    /// By the name of the folder that counts.
    fn named(&self, path: PathBuf) -> PathBuf {
        let real = self.real_within.as_ref();
        match real.and_then(|real| path.strip_prefix(real).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => self.within.clone(),
            Some(rest) => self.within.join(rest),
            None => path,
        }
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_readings_of_a_path_and_its_links_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("real/sub/deep")).unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, top.join(name)).unwrap();
        link("real", "top");
        link("sub/deep", "real/ln");
        link("../top/ln/..", "real/up");
        link("loop", "real/loop");
        let within = top.join("top");
        for (path, readings, links) in [
            ("a/./b", &["a/b"][..], &[][..]),
            ("sub/../b", &["b"], &[]),
            ("ln/../b", &["b", "sub/b"], &["ln"]),
            ("ln/b", &["ln/b"], &["ln"]),
            ("up/b", &["up/b"], &["up", "ln"]),
            ("up/../b", &["b"], &["up", "ln"]),
            ("loop/../b", &["b"], &["loop"]),
        ] {
            let path = within.join(path);
            let mut known = Links::new(&within);
            let name = |path: &PathBuf| path.strip_prefix(&within).unwrap().display().to_string();
            let found = known.readings(&path);
            assert_eq!(found.iter().map(name).collect::<Vec<_>>(), readings);
            let mut way = known.way(&path).links;
            way.retain(|link| link.starts_with(&within) && *link != within);
            way.dedup();
            assert_eq!(way.iter().map(name).collect::<Vec<_>>(), links, "{path:?}");
        }
    }
}
