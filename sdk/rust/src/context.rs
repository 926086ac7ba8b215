//! The call in hand: its id, folders, progress, log and cancellation.

use std::path::{Component, Path, PathBuf};

use crate::ToolError;
pub use crate::bindings::imports::toolbay::host::context::{
    Level, Update, call_id, is_cancelled, log, now_ms, random_bytes, report, roots,
    working_directory,
};

/// Shows a line of progress.
pub fn progress(text: impl Into<String>) {
    report(&Update::Text(text.into()));
}

/// Ends a long loop in time: `context::check()?` in each round.
pub fn check() -> Result<(), ToolError> {
    if is_cancelled() {
        Err(ToolError::Cancelled)
    } else {
        Ok(())
    }
}

/// The absolute path that an input means: relative ones count from the working
/// directory, `.` and `..` are resolved by name.
pub fn resolve(path: &str) -> PathBuf {
    let path = Path::new(path);
    if path.is_absolute() {
        normalise(path)
    } else {
        normalise(&Path::new(&working_directory()).join(path))
    }
}

fn normalise(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_by_name() {
        for (given, wanted) in [
            ("/a/./b/../c", "/a/c"),
            ("/../../a", "/a"),
            ("/a/b/", "/a/b"),
            ("/", "/"),
        ] {
            assert_eq!(normalise(Path::new(given)), Path::new(wanted), "{given}");
        }
    }
}
