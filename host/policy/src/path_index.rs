//! Many path patterns at once.
//!
//! Each pattern waits under one thing that a path must have for it: a folder above, a name
//! among its parts, or an ending. Of several it takes the one that the fewest others share.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::path_pattern::{Key, PathPattern};

/// Where the patterns of a list may match, by their places in the list.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathIndex {
    bases: HashMap<PathBuf, Vec<usize>>,
    /// Bytes of the longest of them: of a deep path, only few parts are worth a look, and each
    /// look costs as much as the part is long.
    longest_base: usize,
    names: HashMap<OsString, Vec<usize>>,
    endings: HashMap<OsString, Vec<usize>>,
}

impl PathIndex {
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = (usize, &'a PathPattern)>) -> Self {
        let all: Vec<(usize, Vec<Key>)> = patterns
            .into_iter()
            .map(|(at, pattern)| (at, pattern.keys()))
            .collect();
        let mut shared: HashMap<&Key, usize> = HashMap::new();
        for key in all.iter().flat_map(|(_, keys)| keys) {
            *shared.entry(key).or_default() += 1;
        }
        let mut index = Self::default();
        for (at, keys) in &all {
            let Some(rarest) = keys.iter().min_by_key(|key| shared[key]) else {
                continue;
            };
            match rarest {
                Key::Base(base) => {
                    index.longest_base = index.longest_base.max(base.as_os_str().len());
                    index.bases.entry(base.clone()).or_default().push(*at);
                }
                Key::Name(name) => index.names.entry(name.into()).or_default().push(*at),
                Key::Ending(end) => index.endings.entry(end.into()).or_default().push(*at),
            }
        }
        index
    }

    /// The first of the list that matches, asking only those that may.
    pub(crate) fn first(&self, path: &Path, matches: impl Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut ask = |places: Option<&Vec<usize>>| {
            // Places are in order, so that the first hit of each list is enough.
            let earlier = places
                .into_iter()
                .flatten()
                .take_while(|place| best.is_none_or(|best| **place < best));
            if let Some(hit) = earlier.copied().find(|place| matches(*place)) {
                best = Some(hit);
            }
        };
        for part in path.ancestors() {
            if part.as_os_str().len() <= self.longest_base {
                ask(self.bases.get(part));
            }
            let Some(name) = part.file_name() else {
                continue;
            };
            ask(self.names.get(name));
            if let Some(ending) = ending(name) {
                ask(self.endings.get(ending));
            }
        }
        best
    }
}

/// What follows the last dot, also in a name that begins with it.
fn ending(name: &OsStr) -> Option<&OsStr> {
    let bytes = name.as_bytes();
    let dot = bytes.iter().rposition(|byte| *byte == b'.')?;
    Some(OsStr::from_bytes(&bytes[dot + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_pattern::Anchors;

    #[test]
    fn the_index_finds_what_asking_each_pattern_finds() {
        let anchors = Anchors {
            home: Some("/home/me".into()),
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        let texts = [
            "./src/**",
            "*.pem",
            ".env",
            "**/secret/**",
            "./a/*.rs",
            "./b/*.rs",
            "~/.ssh",
            "//etc/*.conf",
            "a*",
            "*.tar.gz",
            "x[ab]",
            "{p,q}/z",
            "./src/main.rs",
            "//",
            "*.env",
            "d/**/e/*.txt",
            "sec?et",
            "./",
            "p\\*",
        ];
        let patterns: Vec<PathPattern> = texts
            .iter()
            .map(|text| PathPattern::parse(text, &anchors).unwrap())
            .collect();
        let paths = [
            "/p/src/main.rs",
            "/p/k.pem",
            "/q/.env",
            "/p/.env/x",
            "/x/secret/y",
            "/p/a/l.rs",
            "/p/b/l.rs",
            "/home/me/.ssh/id",
            "/etc/a.conf",
            "/etc/b/a.conf",
            "/p/abc",
            "/p/x.tar.gz",
            "/p/xa",
            "/p/q/z",
            "/",
            "/p",
            "/p/d/1/e/t.txt",
            "/q/d/e/t.txt",
            "/z/sec-et",
            "/p/p*",
            "/nothing/here",
        ];
        // Each pattern first once, so that none hides behind another.
        for start in 0..patterns.len() {
            let rotated: Vec<&PathPattern> =
                patterns[start..].iter().chain(&patterns[..start]).collect();
            let index = PathIndex::new(rotated.iter().copied().enumerate());
            for path in paths {
                let path = Path::new(path);
                let plain = rotated.iter().position(|pattern| pattern.covers(path));
                let found = index.first(path, |at| rotated[at].covers(path));
                assert_eq!(found, plain, "{} from {start}", path.display());
            }
        }
    }
}
