//! Which settings files inside projects the user has looked at, and what they led to then.
//!
//! A project can bring such files along, so what they allow counts only for a user who has seen it:
//! the digest of the text is kept, with those of the scripts, components and servers that it names. A
//! file that changes, or leads to something else, has to be looked at again.

mod leads;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use toolbay_dispatch::fingerprint::{FileChange, Fingerprint, listed};

use crate::own_file;

pub use leads::{LeadGround, Leads, ServerPin};

/// What was looked at, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    #[serde(default)]
    files: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    Whole(Seen),
    /// Of a version that looked at the text alone; it vouches for nothing.
    TextAlone(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Seen {
    text: String,
    leads_to: Fingerprint,
}

/// Whether a file is what the user has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustVerdict {
    Trusted,
    /// Nobody has looked at it, or the text is another one.
    Unknown,
    /// It was looked at without what it leads to.
    TextAlone,
    /// The text is the same, and what it leads to is not.
    Changed(Vec<FileChange>),
}

impl TrustVerdict {
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }

    /// Why a file that was trusted is not any more, as a sentence without its end.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Trusted | Self::Unknown => None,
            Self::TextAlone => Some(
                "it was trusted by a version that did not look at the files that it names".into(),
            ),
            Self::Changed(changes) => Some(format!(
                "what it leads to is not what you trusted: {}",
                listed(changes)
            )),
        }
    }
}

impl Trust {
    /// As it was kept. A file that cannot be understood vouches for nothing.
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

    /// Whether the user has seen this text, wherever it led then. Of one that is new nothing has to be
    /// looked up.
    pub fn has_seen(&self, file: &Path, text: &str) -> bool {
        let seen = self.files.get(file);
        matches!(seen, Some(Entry::Whole(seen)) if seen.text == digest(text))
    }

    /// Whether the user has seen this text, leading to this.
    pub fn judge(&self, file: &Path, text: &str, leads: &Fingerprint) -> TrustVerdict {
        match self.files.get(file) {
            Some(Entry::Whole(seen)) if seen.text == digest(text) => {
                let changes = seen.leads_to.changes_to(leads);
                match changes.is_empty() {
                    true => TrustVerdict::Trusted,
                    false => TrustVerdict::Changed(changes),
                }
            }
            Some(Entry::TextAlone(seen)) if *seen == digest(text) => TrustVerdict::TextAlone,
            Some(_) | None => TrustVerdict::Unknown,
        }
    }

    pub fn covers(&self, file: &Path, text: &str, leads: &Fingerprint) -> bool {
        self.judge(file, text, leads).is_trusted()
    }

    /// Notes that the user has seen this text, leading to this.
    pub fn add(&mut self, file: &Path, text: &str, leads: Fingerprint) {
        let seen = Seen {
            text: digest(text),
            leads_to: leads,
        };
        self.files.insert(file.to_path_buf(), Entry::Whole(seen));
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
        let none = Fingerprint::default;
        let trust = Trust::load(state.path()).unwrap();
        assert!(!trust.covers(file, "{}", &none()));
        Trust::change(state.path(), |trust| trust.add(file, "{}", none())).unwrap();
        let mut trust = Trust::load(state.path()).unwrap();
        assert!(trust.covers(file, "{}", &none()));
        assert!(!trust.covers(file, "{} ", &none()));
        assert!(!trust.covers(Path::new("/q/.toolbay/settings.json"), "{}", &none()));
        assert!(trust.remove(file) && !trust.remove(file));
        std::fs::write(state.path().join("trust.json"), "{").unwrap();
        let error = format!("{:#}", Trust::load(state.path()).unwrap_err());
        assert!(error.contains("damaged"), "{error}");
    }

    #[test]
    fn trust_ends_where_a_text_leads_elsewhere() {
        let state = tempfile::tempdir().unwrap();
        let script = state.path().join("script");
        let text = Path::new("/p/.toolbay/settings.json");
        let leads = || Fingerprint::of([script.clone()]).unwrap();
        std::fs::write(&script, "1").unwrap();
        Trust::change(state.path(), |trust| trust.add(text, "{}", leads())).unwrap();
        let verdict = || {
            Trust::load(state.path())
                .unwrap()
                .judge(text, "{}", &leads())
        };
        assert_eq!(verdict(), TrustVerdict::Trusted);
        std::fs::write(&script, "2").unwrap();
        let why = verdict().why().unwrap();
        assert!(why.ends_with("script changed"), "{why}");
        std::fs::remove_file(&script).unwrap();
        let why = verdict().why().unwrap();
        assert!(why.ends_with("script disappeared"), "{why}");
        // What an earlier version has kept.
        let old = serde_json::json!({"files": {text.to_str().unwrap(): digest("{}")}});
        std::fs::write(state.path().join("trust.json"), old.to_string()).unwrap();
        assert_eq!(verdict(), TrustVerdict::TextAlone);
    }

    #[test]
    fn nobodys_word_is_lost_when_many_speak_at_once() {
        let state = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let state = state.path();
                scope.spawn(move || {
                    let file = PathBuf::from(format!("/p/{number}"));
                    let add = |trust: &mut Trust| trust.add(&file, "{}", Fingerprint::default());
                    Trust::change(state, add).unwrap();
                });
            }
        });
        let trust = Trust::load(state.path()).unwrap();
        assert_eq!(trust.files.len(), 16);
    }
}
