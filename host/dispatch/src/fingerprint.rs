//! What files held when somebody vouched for them, so that a later change is noticed.
//!
//! A settings text names scripts and components. Whoever trusts the text trusts these as they are:
//! by the digest of what they hold and by where links lead. A path that is not there is simply not
//! part of a fingerprint, so that its appearance is a change like any other.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// More files than any settings name; beyond that the reading itself is the attack.
const MOST_FILES: usize = 4096;
/// Components are megabytes and scripts kilobytes. All of a fingerprint together.
const MOST_BYTES: u64 = 512 << 20;
const CHUNK: usize = 64 << 10;

/// One path. `digest` is that of the content, also behind a link; none behind one to a folder or to
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(default)]
    pub bytes: u64,
}

/// The state of several paths at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint {
    files: BTreeMap<PathBuf, FileState>,
}

/// What became of one path between two fingerprints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Changed,
    Appeared,
    Disappeared,
}

impl ChangeKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Appeared => "appeared",
            Self::Disappeared => "disappeared",
        }
    }
}

impl fmt::Display for FileChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.path.display(), self.kind.word())
    }
}

impl Fingerprint {
    /// Reads the paths as they are now. The error names the one that cannot be vouched for.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        let mut left = MOST_BYTES;
        for path in paths {
            if files.contains_key(&path) {
                continue;
            }
            if files.len() == MOST_FILES {
                return Err(format!(
                    "more than {MOST_FILES} files would have to be looked at (now {}); name fewer",
                    path.display()
                ));
            }
            let state = state(&path, &mut left);
            let state = state.map_err(|why| format!("{}: {why}", path.display()))?;
            if let Some(state) = state {
                files.insert(path, state);
            }
        }
        Ok(Self { files })
    }

    /// Both together; of a path in both, this one's state.
    pub fn and(mut self, other: Self) -> Self {
        for (path, state) in other.files {
            self.files.entry(path).or_insert(state);
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn files(&self) -> impl Iterator<Item = (&Path, &FileState)> {
        self.files.iter().map(|(path, state)| (&**path, state))
    }

    /// The digest of what a path held.
    pub fn digest(&self, path: &Path) -> Option<&str> {
        self.files.get(path)?.digest.as_deref()
    }

    /// What is different in a later one, in the order of the paths.
    pub fn changes_to(&self, now: &Self) -> Vec<FileChange> {
        let mut all: Vec<&PathBuf> = self.files.keys().chain(now.files.keys()).collect();
        all.sort();
        all.dedup();
        let change = |path: &PathBuf| {
            let kind = match (self.files.get(path), now.files.get(path)) {
                (Some(before), Some(after)) if before == after => return None,
                (Some(_), Some(_)) => ChangeKind::Changed,
                (None, Some(_)) => ChangeKind::Appeared,
                (Some(_), None) => ChangeKind::Disappeared,
                (None, None) => return None,
            };
            let path = path.clone();
            Some(FileChange { path, kind })
        };
        all.into_iter().filter_map(change).collect()
    }
}

/// The changes as the end of a sentence; the first few say enough.
pub fn listed(changes: &[FileChange]) -> String {
    const MOST: usize = 5;
    let mut text: Vec<String> = changes.iter().take(MOST).map(ToString::to_string).collect();
    if changes.len() > MOST {
        text.push(format!("and {} more", changes.len() - MOST));
    }
    text.join(", ")
}

/// None if there is nothing at the path, or a folder: what is run from it is named for itself.
fn state(path: &Path, left: &mut u64) -> Result<Option<FileState>, String> {
    if path.to_str().is_none() {
        return Err("its name is not UTF-8, so it cannot be shown and kept; rename it".into());
    }
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if found.is_dir() {
        return Ok(None);
    }
    if !found.is_symlink() {
        let (digest, bytes) = content(path, left)?;
        return Ok(Some(FileState {
            link: None,
            digest: Some(digest),
            bytes,
        }));
    }
    let link = path.read_link().map_err(|error| error.to_string())?;
    if link.to_str().is_none() {
        return Err("it leads to a name that is not UTF-8".into());
    }
    let (digest, bytes) = match path.metadata() {
        Ok(found) if found.is_dir() => (None, 0),
        Ok(_) => {
            let (digest, bytes) = content(path, left)?;
            (Some(digest), bytes)
        }
        Err(error) if is_missing(&error) => (None, 0),
        Err(error) => return Err(error.to_string()),
    };
    Ok(Some(FileState {
        link: Some(link),
        digest,
        bytes,
    }))
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};

    matches!(error.kind(), NotFound | NotADirectory)
}

/// The digest of a regular file, in the form that components are known by, and its size.
fn content(path: &Path, left: &mut u64) -> Result<(String, u64), String> {
    let file = toolbay_contract::regular_file::open(path).map_err(|error| error.to_string())?;
    let too_much = || {
        let most = MOST_BYTES >> 20;
        format!("with it, more than {most} MiB would have to be looked at")
    };
    // A sparse file says its size for nothing, and would take seconds to read.
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    if size > *left {
        return Err(too_much());
    }
    // One byte more than there may be shows that there is more.
    let mut file = file.take(left.saturating_add(1));
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer).map_err(|error| error.to_string())?;
        if count == 0 {
            break;
        }
        bytes += count as u64;
        hash.update(&buffer[..count]);
    }
    *left = left.checked_sub(bytes).ok_or_else(too_much)?;
    let hex: Vec<String> = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Ok((format!("sha256:{}", hex.concat()), bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn every_change_of_a_path_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        let names = ["a", "b", "link", "none/at/all", "."];
        let take = || Fingerprint::of(names.map(path)).unwrap();
        write("a", "1");
        write("other", "1");
        symlink("a", path("link")).unwrap();
        let relink = |to: &str| {
            std::fs::remove_file(path("link")).unwrap();
            symlink(to, path("link")).unwrap();
        };
        type Step<'a> = (&'a str, &'a dyn Fn(), &'a [&'a str]);
        let steps: [Step<'_>; 6] = [
            ("nothing", &|| {}, &[]),
            ("text", &|| write("a", "2"), &["a changed", "link changed"]),
            ("new", &|| write("b", ""), &["b appeared"]),
            (
                "gone",
                &|| std::fs::remove_file(path("b")).unwrap(),
                &["b disappeared"],
            ),
            ("elsewhere", &|| relink("other"), &["link changed"]),
            ("nowhere", &|| relink("lost"), &["link changed"]),
        ];
        let mut before = take();
        for (name, step, wanted) in steps {
            step();
            let after = take();
            let wanted: Vec<String> = wanted
                .iter()
                .map(|text| format!("{}/{text}", folder.path().display()))
                .collect();
            let changes = before.changes_to(&after);
            let found: Vec<String> = changes.iter().map(ToString::to_string).collect();
            assert_eq!(found, wanted, "{name}");
            before = after;
        }
        let text = serde_json::to_string(&before).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&text).unwrap(), before);
    }

    #[test]
    fn what_cannot_be_vouched_for_is_refused_by_name() {
        use std::os::unix::ffi::OsStringExt;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        symlink("pipe", path("to-pipe")).unwrap();
        symlink("round", path("round")).unwrap();
        let sparse = std::fs::File::create(path("large")).unwrap();
        sparse.set_len(MOST_BYTES + 1).unwrap();
        let odd = std::ffi::OsString::from_vec(b"\xff.wasm".to_vec());
        for (path, part) in [
            (path("pipe"), "not a regular file"),
            (path("to-pipe"), "not a regular file"),
            (path("round"), "ymbolic link"),
            (path("large"), "MiB"),
            (folder.path().join(odd), "UTF-8"),
        ] {
            let error = Fingerprint::of([path.clone()]).unwrap_err();
            assert!(error.contains(part), "{}: {error}", path.display());
        }
        let many = (0..=MOST_FILES).map(|number| {
            let path = path(&format!("f{number}"));
            symlink("nowhere", &path).unwrap();
            path
        });
        assert!(Fingerprint::of(many).unwrap_err().contains("4096"));
    }
}
