//! One pattern with wildcards, kept as text and compiled when it is first needed.
//!
//! A policy may hold thousands of them, most of which never meet a path, and projects write some: so
//! little is kept of each, and a compiled one has an end to its memory.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

use super::bounds::check_glob;

/// Bytes of a compiled pattern. What `check_glob` lets through needs less.
const MOST_COMPILED: usize = 10 << 20;
/// Bytes that matching may fill while it goes over paths, for each pattern and each way of
/// matching. With less than it would like, matching takes a slower way that needs no memory.
const MOST_STATES: usize = 64 << 10;

/// A pattern, ready to be compiled.
#[derive(Debug, Clone)]
pub(super) struct LazyGlob {
    glob: String,
    /// None if it cannot be compiled, which the check before it rules out.
    compiled: OnceLock<Option<Regex>>,
}

/// Whether a path matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matched {
    Yes,
    No,
    /// It could not be found out.
    Unknown,
}

impl LazyGlob {
    /// The error says what is wrong with the pattern.
    pub(super) fn new(glob: String) -> Result<Self, String> {
        check_glob(&glob).map_err(|error| error.to_string())?;
        expression(&glob)?;
        Ok(Self {
            glob,
            compiled: OnceLock::new(),
        })
    }

    pub(super) fn glob(&self) -> &str {
        &self.glob
    }

    /// Whether a path, or a folder that it lies in, matches.
    pub(super) fn covers(&self, path: &Path) -> Matched {
        let compiled = self.compiled.get_or_init(|| compiled(&self.glob).ok());
        let Some(regex) = compiled else {
            return Matched::Unknown;
        };
        let mut parts = path.ancestors().filter(|part| part.as_os_str() != "/");
        match parts.any(|part| regex.is_match(part.as_os_str().as_bytes())) {
            true => Matched::Yes,
            false => Matched::No,
        }
    }
}

/// The pattern as a regular expression.
fn expression(glob: &str) -> Result<String, String> {
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| error.kind().to_string())?;
    Ok(glob.regex().to_owned())
}

fn compiled(glob: &str) -> Result<Regex, String> {
    RegexBuilder::new(&expression(glob)?)
        .dot_matches_new_line(true)
        .size_limit(MOST_COMPILED)
        .dfa_size_limit(MOST_STATES)
        .build()
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_matches_what_the_library_of_globs_matches() {
        let globs = [
            "/**/*.{rs,toml}",
            "/p/[!a]?*",
            "/p/é*",
            "/p/[é-ü]",
            "/**/a/**/b",
            "/p/**",
            "/p/\\*",
            "/p/{a,b/c}/*",
            "/p/*a*a*a*a*a*a*a*a*a*a*b",
        ];
        let paths = [
            "/p/x.rs",
            "/p/q/x.toml",
            "/p/b1",
            "/p/a1",
            "/p/é1",
            "/p/ö",
            "/p/a\nb",
            "/a/x/b",
            "/p",
            "/p/*",
            "/p/b/c/d",
            "/p/aaaaaaaaaaaaaaaaaaab",
        ];
        for glob in globs {
            let ours = LazyGlob::new(glob.to_owned()).unwrap();
            let theirs = GlobBuilder::new(glob)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .unwrap()
                .compile_matcher();
            for path in paths.map(Path::new) {
                let wanted = path
                    .ancestors()
                    .filter(|part| part.as_os_str() != "/")
                    .any(|part| theirs.is_match(part));
                let wanted = if wanted { Matched::Yes } else { Matched::No };
                assert_eq!(ours.covers(path), wanted, "{glob} on {}", path.display());
            }
        }
    }

    /// Compiling must not fail where the check lets a pattern pass: nobody would know whether it
    /// covers a path.
    #[test]
    fn what_passes_the_check_is_compiled() {
        for glob in [
            "/**/a".repeat(500),
            "?".repeat(1_000),
            format!("/{}", "[!a]*".repeat(500)),
            format!("/{{{}}}", "é*,".repeat(500)),
        ] {
            let lazy = LazyGlob::new(glob.clone()).unwrap();
            assert_ne!(lazy.covers(Path::new("/a/b")), Matched::Unknown, "{glob}");
        }
    }
}
