//! Which settings files inside projects a person has looked at.
//!
//! A project can bring such files along, so what they allow counts only for somebody who has
//! seen it: the digest of the text is kept, and a file that changes has to be looked at again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::own_file;

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
        match toolbay_contract::regular_file::read(&file, own_file::MOST_BYTES) {
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

    /// Changes what is kept now, alone among all programs.
    pub fn change<T>(state: &Path, change: impl FnOnce(&mut Self) -> T) -> anyhow::Result<T> {
        let file = file(state);
        let _alone = own_file::lock(&file)?;
        let before = Self::load(state)?;
        let mut after = before.clone();
        let answer = change(&mut after);
        if after != before {
            own_file::replace(&file, &serde_json::to_vec_pretty(&after)?)?;
        }
        Ok(answer)
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
        let trust = Trust::load(state.path()).unwrap();
        assert!(!trust.covers(file, "{}"));
        Trust::change(state.path(), |trust| trust.add(file, "{}")).unwrap();
        let mut trust = Trust::load(state.path()).unwrap();
        assert!(trust.covers(file, "{}"));
        assert!(!trust.covers(file, "{} "));
        assert!(!trust.covers(Path::new("/q/.toolbay/settings.json"), "{}"));
        assert!(trust.remove(file) && !trust.remove(file));
        std::fs::write(state.path().join("trust.json"), "{").unwrap();
        let error = format!("{:#}", Trust::load(state.path()).unwrap_err());
        assert!(error.contains("damaged"), "{error}");
    }
    #[test]
    fn nobodys_word_is_lost_when_many_speak_at_once() {
        let state = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let state = state.path();
                scope.spawn(move || {
                    let file = PathBuf::from(format!("/p/{number}"));
                    Trust::change(state, |trust| trust.add(&file, "{}")).unwrap();
                });
            }
        });
        let trust = Trust::load(state.path()).unwrap();
        assert_eq!(trust.files.len(), 16);
    }
}
