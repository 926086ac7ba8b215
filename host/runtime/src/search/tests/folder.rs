//! A folder of files for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::{Page, Request};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// A folder that goes away with this value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolbay-search-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().canonicalize().unwrap().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        for (name, bytes) in files {
            folder.write(name, bytes);
        }
        folder
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn request(&self) -> Request {
        Request {
            root: self.0.clone(),
            base: self.0.clone(),
            ..Request::default()
        }
    }

    pub fn below(&self, name: &str) -> Request {
        Request {
            root: self.0.join(name),
            ..self.request()
        }
    }

    pub fn names(&self, page: &Page) -> Vec<String> {
        page.hits.iter().map(|hit| self.name(&hit.path)).collect()
    }

    pub fn name(&self, path: &str) -> String {
        let below = Path::new(path).strip_prefix(&self.0).unwrap();
        below.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
