//! Why a search did not happen, in words that a model can act on.

use std::io;
use std::path::Path;

/// Why a search did not happen. Files that cannot be read do not end a search;
/// they are left out.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The pattern is no regular expression, or not one for this search.
    #[error("invalid pattern: {0}")]
    BadPattern(String),
    /// One of the globs does not parse.
    #[error("invalid glob `{glob}`: {reason}")]
    BadGlob { glob: String, reason: String },
    /// There is no such file type.
    #[error("unknown file type `{name}`{hint}")]
    UnknownType { name: String, hint: String },
    /// There is nothing at the root.
    #[error("`{0}` does not exist")]
    NotFound(String),
    /// The root does not lie in the granted folder.
    #[error("`{0}` lies outside the folders that this call may see")]
    Outside(String),
    /// More lies below the root than may be held.
    #[error("there are too many files below `{0}` for one search; name a folder further down")]
    TooManyFiles(String),
    /// The search was cancelled.
    #[error("the search was cancelled")]
    Stopped,
    /// The root could not be opened.
    #[error("cannot open `{path}`: {source}")]
    Io { path: String, source: io::Error },
}

/// A path in a sentence, on its line.
pub(super) fn shown(path: &Path) -> String {
    toolbay_contract::visible_line(&path.to_string_lossy())
}
