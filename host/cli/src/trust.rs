//! Which settings files inside projects a person has looked at.
//!
//! A project can bring such files along, so what they allow counts only for somebody who has
//! seen it: the digest of the text is kept, and a file that changes has to be looked at again.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// What was looked at, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    #[serde(default)]
    files: BTreeMap<PathBuf, String>,
}

impl Trust {
    /// As it was kept. A file that cannot be understood is nobody's word.
    pub fn load(state: &Path) -> anyhow::Result<Self> {
        let file = file(state);
        match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| {
                let file = file.display();
                format!("{file} is damaged; remove it, and say again which projects you trust")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| file.display().to_string()),
        }
    }

    /// Whether this is the text that the person has seen.
    pub fn covers(&self, file: &Path, text: &str) -> bool {
        self.files
            .get(file)
            .is_some_and(|seen| *seen == digest(text))
    }

    /// Notes that the person has seen this text.
    pub fn add(&mut self, file: &Path, text: &str) {
        self.files.insert(file.to_path_buf(), digest(text));
    }

    /// Forgets a file; says whether it was known.
    pub fn remove(&mut self, file: &Path) -> bool {
        self.files.remove(file).is_some()
    }

    /// Keeps it, in one step.
    pub fn save(&self, state: &Path) -> anyhow::Result<()> {
        let file = file(state);
        let about = || file.display().to_string();
        let mut folder = std::fs::DirBuilder::new();
        folder.recursive(true).mode(0o700);
        folder.create(state).with_context(about)?;
        let temporary = state.join(format!("trust.{}.new", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut options = std::fs::OpenOptions::new();
            let mut out = options
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&temporary)?;
            out.write_all(&serde_json::to_vec_pretty(self)?)?;
            out.sync_all()?;
            std::fs::rename(&temporary, &file)
        };
        write().with_context(about)
    }
}

pub(crate) fn file(state: &Path) -> PathBuf {
    state.join("trust.json")
}

fn digest(text: &str) -> String {
    toolbay_runtime::digest(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_in_a_text_not_in_a_name() {
        let state = tempfile::tempdir().unwrap();
        let file = Path::new("/p/.toolbay/settings.json");
        let mut trust = Trust::load(state.path()).unwrap();
        assert!(!trust.covers(file, "{}"));
        trust.add(file, "{}");
        trust.save(state.path()).unwrap();
        let mut trust = Trust::load(state.path()).unwrap();
        assert!(trust.covers(file, "{}"));
        assert!(!trust.covers(file, "{} "));
        assert!(!trust.covers(Path::new("/q/.toolbay/settings.json"), "{}"));
        assert!(trust.remove(file) && !trust.remove(file));
        std::fs::write(state.path().join("trust.json"), "{").unwrap();
        let error = format!("{:#}", Trust::load(state.path()).unwrap_err());
        assert!(error.contains("damaged"), "{error}");
    }
}
