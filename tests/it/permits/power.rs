//! What a call may do, written down a second time and as plainly as possible, for the generated
//! tests; and what they are generated from.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use toolbay_contract::BoxFuture;
use toolbay_dispatch::{Answer, Approver, PermissionQuestion};
use toolbay_policy::{Zone, is_protected};
use toolbay_tests::bay::snapshot;

/// How many cases to run, if `TOOLBAY_PERMIT_CASES` does not say.
// Only the person who runs the tests sets it.
#[allow(clippy::disallowed_methods)]
pub fn cases(usual: u64) -> u64 {
    let cases = std::env::var("TOOLBAY_PERMIT_CASES");
    cases.map_or(usual, |cases| cases.parse().unwrap())
}

/// Numbers that look random and are the same for the same seed.
pub struct Numbers(u64);

impl Numbers {
    pub fn of(seed: u64) -> Self {
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            numbers.below(2);
        }
        numbers
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Says yes, and keeps what it was asked.
#[derive(Default)]
pub struct Agreeing(pub Mutex<Vec<PermissionQuestion>>);

impl Approver for Agreeing {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        self.0.lock().unwrap().push(question);
        Box::pin(async { Answer::Yes })
    }
}

/// The power of a call, by the specification.
pub struct Power {
    pub root: PathBuf,
    pub zones: Vec<Zone>,
    pub read_only: bool,
    pub deny: Vec<&'static str>,
}

impl Power {
    pub fn is_closed(&self, path: &Path, writing: bool) -> bool {
        let below = path.strip_prefix(&self.root).ok();
        let has_name = |name: &str| path.components().any(|part| part.as_os_str() == name);
        self.deny.iter().any(|rule| match *rule {
            "Read(.env)" => has_name(".env"),
            "Read(./secret/**)" => below.is_some_and(|below| below.starts_with("secret")),
            "Edit(*.rs)" => {
                let ends = |part: &std::ffi::OsStr| part.to_string_lossy().ends_with(".rs");
                writing && path.components().any(|part| ends(part.as_os_str()))
            }
            other => panic!("{other}"),
        })
    }

    pub fn reads(&self, path: &Path) -> bool {
        let is_named = self.zones.iter().any(|zone| match zone {
            Zone::File(file) => path == file,
            Zone::Folder(folder) => path.starts_with(folder),
        });
        (path.starts_with(&self.root) || is_named) && !self.is_closed(path, false)
    }

    pub fn writes(&self, path: &Path) -> bool {
        if self.read_only || self.is_closed(path, true) {
            return false;
        }
        self.zones.iter().any(|zone| match zone {
            Zone::File(file) => path == file,
            Zone::Folder(folder) => path.strip_prefix(folder).is_ok_and(|below| {
                let mut names = below.components();
                below != Path::new("") && !names.any(|name| is_protected(name.as_os_str()))
            }),
        })
    }

    pub fn makes(&self, folder: &Path) -> bool {
        let leads = |zone: &Zone| match zone {
            Zone::File(file) => file != folder && file.starts_with(folder),
            Zone::Folder(granted) => granted.starts_with(folder),
        };
        let on_the_way = !self.read_only && self.zones.iter().any(leads);
        self.writes(folder) || on_the_way && !self.is_closed(folder, true)
    }

    /// Whether it may move everything below a folder.
    pub fn moves(&self, old: &Path, new: &Path) -> bool {
        let all = snapshot(old);
        let mut below = all.iter().map(|(name, _)| name);
        self.writes(old)
            && self.writes(new)
            && below.all(|name| self.writes(&old.join(name)) && self.writes(&new.join(name)))
    }
}

/// Where a path leads, if its last name is not followed.
pub fn at(path: &Path) -> PathBuf {
    let parent = path.parent().unwrap();
    let real = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    real.join(path.file_name().unwrap())
}

pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| at(path))
}
