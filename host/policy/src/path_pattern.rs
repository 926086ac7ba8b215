//! Path patterns as in gitignore, without negation.
//!
//! `//x` counts from the root, `~/x` from the home, `/x` from the folder of the settings,
//! `./x` and `x/y` from the working folder; `x` and `**/x` mean any folder. A pattern covers
//! what it matches and all below.

mod bounds;
mod followed;
mod matcher;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use matcher::{LazyGlob, Matched};

use bounds::check_length;
pub use bounds::{GlobTooComplex, check_glob};

/// Where the anchors of path patterns point.
#[derive(Debug, Clone)]
pub struct Anchors {
    pub home: Option<PathBuf>,
    pub cwd: PathBuf,
    /// The folder that holds the settings file; `/x` counts from there.
    pub settings: PathBuf,
}

/// One pattern.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    shape: Shape,
    allows: Allows,
}

#[derive(Debug, Clone)]
enum Shape {
    /// No wildcard: compared by its parts.
    Literal(PathBuf),
    Glob(LazyGlob),
}

/// How far a pattern reaches in a rule that allows.
#[derive(Debug, Clone)]
enum Allows {
    All,
    /// A pattern without an anchor forbids everywhere, but nobody who allows `*.md` means the
    /// files of other projects.
    Below(PathBuf),
    /// It stands for a folder that nobody knows.
    Nothing,
}

/// What a path must have for a pattern to match it; see `path_index`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// It lies in this folder, or is it.
    Base(PathBuf),
    /// One of its parts has this name.
    Name(String),
    /// One of its parts ends in a dot and this.
    Ending(String),
}

impl PathPattern {
    pub(crate) fn parse(text: &str, anchors: &Anchors) -> Result<Self, String> {
        check_length(text).map_err(|error| error.to_string())?;
        let anywhere = |rest| (None, rest, Allows::Below(anchors.cwd.clone()));
        let from = |base: &Path, rest| (Some(base.to_path_buf()), rest, Allows::All);
        let (base, rest, allows) = if let Some(rest) = text.strip_prefix("//") {
            from(Path::new("/"), rest)
        } else if text == "~" || text.starts_with("~/") {
            match &anchors.home {
                Some(home) => from(home, &text[1..]),
                // A rule that forbids must not turn into one that forbids less.
                None => (None, &text[1..], Allows::Nothing),
            }
        } else if let Some(rest) = text.strip_prefix('/') {
            from(&anchors.settings, rest)
        } else if let Some(rest) = text.strip_prefix("**/") {
            anywhere(rest)
        } else if text == "." || text.trim_end_matches('/').contains('/') {
            from(&anchors.cwd, text)
        } else {
            anywhere(text)
        };
        let mut parts: Vec<&str> = Vec::new();
        let mut base = base;
        for part in rest.split('/') {
            match (part, parts.last()) {
                ("" | ".", _) => {}
                ("..", Some(before)) if has_wildcard(before) => {
                    return Err("`..` cannot follow a wildcard".into());
                }
                ("..", Some(_)) => drop(parts.pop()),
                ("..", None) => match &mut base {
                    Some(base) => drop(base.pop()),
                    None => return Err("`..` needs a folder to count from".into()),
                },
                (part, _) => parts.push(part),
            }
        }
        let shape = shape(base, &parts)?;
        Ok(Self { shape, allows })
    }

    /// Whether a rule that forbids covers the path. What closes all that a folder holds closes the
    /// folder too, or its names could still be listed.
    pub(crate) fn forbids(&self, path: &Path) -> bool {
        let holds_all = match &self.shape {
            Shape::Literal(_) => false,
            Shape::Glob(glob) => glob.glob().ends_with("/**"),
        };
        let may_cover = |path: &Path| self.matched(path) != Matched::No;
        may_cover(path) || holds_all && may_cover(&path.join("any"))
    }

    /// Whether the path is what it matches, or lies below.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        self.matched(path) == Matched::Yes
    }

    fn matched(&self, path: &Path) -> Matched {
        match &self.shape {
            Shape::Literal(literal) if path.starts_with(literal) => Matched::Yes,
            Shape::Literal(_) => Matched::No,
            Shape::Glob(glob) => glob.covers(path),
        }
    }

    /// Whether a rule that allows covers the path.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        let reaches = match &self.allows {
            Allows::All => true,
            Allows::Below(folder) => path.starts_with(folder),
            Allows::Nothing => false,
        };
        reaches && self.covers(path)
    }

    /// Whether no path at all can be allowed by it.
    pub(crate) fn allows_nothing(&self) -> bool {
        matches!(self.allows, Allows::Nothing)
    }

    /// The path, if it names one.
    pub(crate) fn literal(&self) -> Option<&Path> {
        match &self.shape {
            Shape::Literal(path) => Some(path),
            Shape::Glob(..) => None,
        }
    }

    /// Whether one of its parts below `base` is this name, letter by letter but for case, rather
    /// than a wildcard that happens to match it.
    pub(crate) fn names(&self, name: &OsStr, base: &Path) -> bool {
        let is_it = |part: &str| part.eq_ignore_ascii_case(&name.to_string_lossy());
        match &self.shape {
            Shape::Literal(path) => {
                let mut parts = path.strip_prefix(base).unwrap_or(path).components();
                parts.any(|part| is_it(&part.as_os_str().to_string_lossy()))
            }
            Shape::Glob(glob) => {
                let base = literal(base);
                let below = glob.glob().strip_prefix(base.trim_end_matches('/'));
                below.unwrap_or(glob.glob()).split('/').any(is_it)
            }
        }
    }

    /// The folder of which it covers all, if it is one: `x/**`.
    pub(crate) fn whole_folder(&self) -> Option<PathBuf> {
        match &self.shape {
            Shape::Literal(path) => Some(path.clone()),
            Shape::Glob(glob) => {
                let folder = glob.glob().strip_suffix("/**")?;
                (!has_wildcard(folder)).then(|| Path::new("/").join(folder))
            }
        }
    }

    /// The folder that it counts from, and the pattern below, unless it names one path or all in it.
    pub(crate) fn below(&self) -> Option<(PathBuf, String)> {
        let glob = match &self.shape {
            Shape::Literal(_) => return None,
            Shape::Glob(glob) => glob.glob(),
        };
        if self.whole_folder().is_some() {
            return None;
        }
        let (base, parts) = apart(glob);
        Some((base, parts.join("/")))
    }

    /// What must hold of each path that it covers; at least one.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let glob = match &self.shape {
            Shape::Literal(path) => return vec![Key::Base(path.clone())],
            Shape::Glob(glob) => glob.glob(),
        };
        let (base, parts) = apart(glob);
        let mut keys = vec![Key::Base(base)];
        // Alternatives and sets may hold a `/` or stand for several names.
        if glob.contains(['{', '[', '\\']) {
            return keys;
        }
        keys.extend(
            parts
                .iter()
                .filter(|part| !has_wildcard(part))
                .map(|part| Key::Name((*part).to_owned())),
        );
        if let Some((before, ending)) = parts.last().and_then(|part| part.rsplit_once('.'))
            && has_wildcard(before)
            && !has_wildcard(ending)
        {
            keys.push(Key::Ending(ending.to_owned()));
        }
        keys
    }
}

/// The folder that a glob counts from, and its parts from the first wildcard on.
fn apart(glob: &str) -> (PathBuf, Vec<&str>) {
    let parts: Vec<&str> = glob.split('/').skip(1).collect();
    let plain = parts.iter().take_while(|part| !has_wildcard(part)).count();
    let mut base = PathBuf::from("/");
    base.extend(&parts[..plain]);
    (base, parts[plain..].to_vec())
}

fn shape(base: Option<PathBuf>, parts: &[&str]) -> Result<Shape, String> {
    let prefix = match &base {
        Some(base) if !parts.iter().any(|part| has_wildcard(part)) => {
            let mut path = base.clone();
            path.extend(parts);
            if path.parent().is_some() {
                return Ok(Shape::Literal(path));
            }
            literal(base)
        }
        Some(base) => literal(base),
        None => "/**".to_owned(),
    };
    let mut glob = prefix.trim_end_matches('/').to_owned();
    for part in parts {
        glob.push('/');
        glob.push_str(part);
    }
    // The root itself has no name; all that is below it has.
    if glob.is_empty() {
        glob.push_str("/**");
    }
    LazyGlob::new(glob).map(Shape::Glob)
}

/// A path as a pattern that matches it alone.
pub(crate) fn literal(path: &Path) -> String {
    // `escape` leaves the backslash, which escapes in our patterns.
    globset::escape(&path.to_string_lossy()).replace('\\', "\\\\")
}

fn has_wildcard(part: &str) -> bool {
    part.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

#[cfg(test)]
mod tests;
