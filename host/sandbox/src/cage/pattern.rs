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
        let Ok(inside) = path.strip_prefix(self.below.path()) else {
            return false;
        };
        let names: Vec<&[u8]> = inside.iter().map(|name| name.as_bytes()).collect();
        let parts: Vec<&[u8]> = self.parts.iter().map(|part| part.as_bytes()).collect();
        // Which parts may come next: all of them are followed at once, so that no path takes long.
        let mut next = vec![false; parts.len() + 1];
        next[0] = true;
        skip(&parts, &mut next);
        for name in names {
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
                return true;
            }
            next = after;
        }
        // What closes all in a folder closes the folder, or its names could be listed.
        parts.last() == Some(&ANY_FOLDERS) && next[parts.len() - 1] && parts.len() > 1
    }
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
    fn what_is_more_than_a_wildcard_is_no_pattern_here() {
        for glob in ["{a,b}", "[ab]", "a\\*", "[!a]", ""] {
            let pattern = ClosedPattern::new(Path::new("/p"), glob, ClosedTo::Writing);
            assert_eq!(pattern, None, "{glob}");
        }
    }
}
