//! Variables before a command: which ones change nothing that matters.

use crate::check::{Check, Finding};
use crate::reading::Assignment;

/// Variables that choose a language, a format or a target, and never a program, a library, a
/// path or an option list. Their values are literal: the readings let nothing else through.
const SAFE: &[&str] = &[
    // Go
    "GOEXPERIMENT",
    "GOOS",
    "GOARCH",
    "CGO_ENABLED",
    "GO111MODULE",
    // Rust
    "RUST_BACKTRACE",
    "RUST_LOG",
    // Node
    "NODE_ENV",
    // Python
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    // Keys of a terminal and its colours
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "LS_COLORS",
    "CLICOLOR",
    // Language and time
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_TIME",
    "LC_COLLATE",
    "TZ",
    // Widths
    "COLUMNS",
    "LINES",
];

pub(crate) fn is_safe(name: &str) -> bool {
    SAFE.contains(&name)
}

/// The first variable that may change what a command does.
pub(crate) fn check(assignments: &[Assignment]) -> Option<Finding> {
    let bad = assignments
        .iter()
        .find(|assignment| !is_safe(&assignment.name) || is_path(&assignment.value))?;
    let check = match bad.name.as_str() {
        "IFS" => Check::IfsInjection,
        _ => Check::UnsafeAssignment,
    };
    Some(check.found(format!(
        "the variable `{}` may change what a command does",
        bad.name
    )))
}

/// A language, a time zone or a terminal given as a path is a file that is read and
/// interpreted.
fn is_path(value: &str) -> bool {
    value.contains('/') && (value.starts_with(['/', '.', ':', '~']) || value.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_26_and_only_with_plain_values() {
        assert_eq!(SAFE.len(), 26);
        for (name, value, safe) in [
            ("NODE_ENV", "prod", true),
            ("TZ", "Europe/Berlin", true),
            ("TZ", ":/etc/passwd", false),
            ("LANG", "../../x", false),
            ("LD_PRELOAD", "x", false),
            ("PATH", ".", false),
            ("IFS", ",", false),
            ("node_env", "prod", false),
            ("GIT_PAGER", "cat", false),
        ] {
            let assignment = Assignment {
                name: name.into(),
                value: value.into(),
            };
            assert_eq!(check(&[assignment]).is_none(), safe, "{name}={value}");
        }
    }
}
