//! Patterns of paths that are closed to a command, whether something matches them yet or not.
//!
//! `**` stands for any folders, `*` for any part of a name, `?` for one letter. That is all that the
//! doorman understands; whoever has richer patterns names what they match.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::Text;

/// What is closed below a folder: all that matches, with all that lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPattern {
    pub below: PathBuf,
    /// Counted from the folder, such as `**/*.pem`.
    pub glob: String,
    pub closes: ClosedTo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedTo {
    /// What cannot be read cannot be changed either.
    Reading,
    Writing,
}

impl ClosedPattern {
    /// `None` for a pattern with more than wildcards.
    pub fn new(below: &Path, glob: &str, closes: ClosedTo) -> Option<Self> {
        let is_plain = !glob.contains(['{', '[', '\\', '!']) && !glob.is_empty();
        is_plain.then(|| Self {
            below: below.to_owned(),
            glob: glob.to_owned(),
            closes,
        })
    }
}

/// The same as the doorman gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathGlob {
    below: Text,
    parts: Vec<String>,
    closes: ClosedTo,
}

impl From<&ClosedPattern> for PathGlob {
    fn from(pattern: &ClosedPattern) -> Self {
        Self {
            below: pattern.below.as_path().into(),
            parts: pattern.glob.split('/').map(str::to_owned).collect(),
            closes: pattern.closes,
        }
    }
}

impl PathGlob {
    pub(crate) fn closes_reading(&self) -> bool {
        self.closes == ClosedTo::Reading
    }

    /// Whether the path matches or lies in what does.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        match self.follow(path) {
            Followed::Matched => true,
            // What closes all in a folder closes the folder, or its names could be listed.
            Followed::Open(next) => {
                let last = self.parts.len() - 1;
                last > 0 && self.parts[last].as_bytes() == ANY_FOLDERS && next[last]
            }
            Followed::Elsewhere => false,
        }
    }

    /// Whether it depends on the name of a folder what below it matches: what is put there under this
    /// name may match although it did not elsewhere. Folders that only `**` at the beginning stands for
    /// change nothing.
    pub(crate) fn depends_on(&self, folder: &Path) -> bool {
        match self.follow(folder) {
            Followed::Matched => true,
            Followed::Open(next) => {
                // The part behind `**` at the beginning may come next below every folder.
                let is_leading = self.parts[0].as_bytes() == ANY_FOLDERS;
                let beyond = if is_leading { 2 } else { 0 };
                let rest = next.get(beyond..self.parts.len());
                rest.is_some_and(|rest| rest.contains(&true))
            }
            Followed::Elsewhere => self.below.path().starts_with(folder),
        }
    }

    /// Goes down a path. All parts that may come next are followed at once, so that no path takes long.
    fn follow(&self, path: &Path) -> Followed {
        let Ok(inside) = path.strip_prefix(self.below.path()) else {
            return Followed::Elsewhere;
        };
        let parts: Vec<&[u8]> = self.parts.iter().map(|part| part.as_bytes()).collect();
        let mut next = vec![false; parts.len() + 1];
        next[0] = true;
        skip(&parts, &mut next);
        for name in inside.iter().map(|name| name.as_bytes()) {
            let mut after = vec![false; parts.len() + 1];
            for (at, part) in parts.iter().enumerate().filter(|(at, _)| next[*at]) {
                if *part == ANY_FOLDERS {
                    after[at] = true;
                    // At the end it stands for at least one name.
                    after[at + 1] |= at + 1 == parts.len();
                } else if matches(part, name) {
                    after[at + 1] = true;
                }
            }
            skip(&parts, &mut after);
            if after[parts.len()] {
                return Followed::Matched;
            }
            next = after;
        }
        Followed::Open(next)
    }
}

/// How far a path leads into a pattern.
enum Followed {
    /// It is not below the pattern's folder.
    Elsewhere,
    /// A part of it matches the whole pattern.
    Matched,
    /// Which parts of the pattern may come next.
    Open(Vec<bool>),
}

const ANY_FOLDERS: &[u8] = b"**";

/// Any folders may be none, but for those at the end.
fn skip(parts: &[&[u8]], next: &mut [bool]) {
    for at in 0..parts.len().saturating_sub(1) {
        if next[at] && parts[at] == ANY_FOLDERS {
            next[at + 1] = true;
        }
    }
}

/// Whether a name matches one part of a pattern.
fn matches(part: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where to go on if what follows the last star does not fit.
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match part.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                seen += letter(&name[seen..]);
            }
            Some(byte) if *byte == name[seen] => {
                at += 1;
                seen += 1;
            }
            Some(_) | None => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    (at, seen) = (from + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    part[at..].iter().all(|byte| *byte == b'*')
}

/// How many bytes the first letter takes.
fn letter(text: &[u8]) -> usize {
    let rest = text.iter().skip(1);
    1 + rest.take_while(|byte| **byte & 0xc0 == 0x80).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_matches_and_all_below() {
        for (glob, path, is_covered) in [
            ("**/.env*", "/p/.env", true),
            ("**/.env*", "/p/a/b/.env.local", true),
            ("**/.env*", "/p/.env/x", true),
            ("**/.env*", "/p/env", false),
            ("**/.env*", "/q/.env", false),
            ("**/.env*", "/p", false),
            ("*.pem", "/p/k.pem", true),
            ("*.pem", "/p/a/k.pem", false),
            ("*.pem", "/p/k.pem~", false),
            ("a/*/c", "/p/a/b/c", true),
            ("a/*/c", "/p/a/c", false),
            ("a/**/c", "/p/a/c", true),
            ("a/**/c", "/p/a/x/y/c/d", true),
            ("a/**/c", "/p/a/x/y", false),
            ("**/secret/**", "/p/x/secret/y", true),
            ("**/secret/**", "/p/x/secret", true),
            ("**/secret/**", "/p/x/secrets", false),
            ("**", "/p/x", true),
            ("k?y", "/p/k\u{e9}y", true),
            ("k?y", "/p/ky", false),
            ("*a*b*", "/p/xxaxxbab", true),
            ("*a*b", "/p/xxaxxbc", false),
            ("**/x**y", "/p/xzy", true),
        ] {
            let pattern = ClosedPattern::new(Path::new("/p"), glob, ClosedTo::Reading);
            let pattern = PathGlob::from(&pattern.unwrap());
            assert_eq!(pattern.covers(Path::new(path)), is_covered, "{glob} {path}");
        }
    }

    #[test]
    fn names_of_folders_count_for_what_is_below_them() {
        for (glob, folder, counts) in [
            ("conf/*.json", "/p/conf", true),
            ("conf/*.json", "/p/x", false),
            ("conf/*.json", "/p", true),
            ("conf/*.json", "/", true),
            ("conf/*.json", "/q", false),
            ("conf/**/*.json", "/p/conf/b", true),
            ("*/a/x", "/p/any", true),
            ("**/conf/*.json", "/p/x/conf", true),
            ("**/conf/*.json", "/p/x", false),
            ("**/a/b/c", "/p/x/a/b", true),
            ("**/.env", "/p/x", false),
            ("**/*.pem", "/p/x/y", false),
            ("**", "/p/x", true),
            (".env", "/p/x", false),
        ] {
            let pattern = ClosedPattern::new(Path::new("/p"), glob, ClosedTo::Writing);
            let pattern = PathGlob::from(&pattern.unwrap());
            assert_eq!(
                pattern.depends_on(Path::new(folder)),
                counts,
                "{glob} {folder}"
            );
        }
    }

    #[test]
    fn what_is_more_than_a_wildcard_is_no_pattern_here() {
        for glob in ["{a,b}", "[ab]", "a\\*", "[!a]", ""] {
            let pattern = ClosedPattern::new(Path::new("/p"), glob, ClosedTo::Writing);
            assert_eq!(pattern, None, "{glob}");
        }
    }
}
