//! What kind of command it is, for a view that folds away what is of no interest.

use serde::Deserialize;

/// How a view may show a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Looks for something: `grep`.
    Search,
    /// Shows the contents of something: `cat`.
    Read,
    /// Shows what there is: `ls`.
    List,
    /// Says nothing about the kind of the whole: `echo`.
    Neutral,
}
