//! A project and its surroundings on disk, for one test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Holds `project`, which is the root of a session, and `outside` beside it. Goes away with
/// this value.
pub(super) struct TestFolder {
    pub(super) base: PathBuf,
}

impl TestFolder {
    /// An empty project.
    pub(super) fn new() -> Self {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolbay-filesystem-{}-{number}", std::process::id());
        let base = std::env::temp_dir().canonicalize().unwrap().join(name);
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("project")).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        Self { base }
    }

    /// A project with a file, a folder that sessions may write, and a secret.
    pub(super) fn with_files() -> Self {
        let folder = Self::new();
        for (name, content) in [
            ("project/a.txt", "alpha"),
            ("project/docs/b.txt", "beta"),
            ("project/docs/sub/c.txt", "gamma"),
            ("project/docs/.git/config", "[core]"),
            ("project/docs/secret/key", "hidden"),
            ("outside/o.txt", "outer"),
            ("outside/p.txt", "other"),
        ] {
            folder.write(name, content);
        }
        folder
    }

    /// A path below the base, which may be written `project/..` or `outside/..`.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.at("project")
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// A link at `name`. `{}` in the target stands for the base.
    pub(super) fn link(&self, target: &str, name: &str) {
        let target = target.replace("{}", &self.base.display().to_string());
        std::os::unix::fs::symlink(target, self.at(name)).unwrap();
    }

    #[cfg(target_os = "linux")]
    pub(super) fn fifo(&self, name: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, self.at(name), mode).unwrap();
    }

    /// All that lies on the disk: kind and content by path below the base.
    pub(super) fn snapshot(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        let mut open = vec![self.base.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap().file_type();
                let shown = if kind.is_dir() {
                    open.push(path.clone());
                    "folder".to_owned()
                } else if kind.is_symlink() {
                    format!("link to {}", fs::read_link(&path).unwrap().display())
                } else if kind.is_file() {
                    format!("file {}", fs::read_to_string(&path).unwrap())
                } else {
                    "special".to_owned()
                };
                all.insert(self.name(&path), shown);
            }
        }
        all
    }

    /// A path as it is written in the tables of cases.
    pub(super) fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        below.display().to_string()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}
