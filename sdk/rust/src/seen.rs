//! The rule that a file is read before it is changed.
//!
//! Every tool that changes files holds to it, so the rule and its sentences live
//! here once. It exists because a change made from memory, or from a state that
//! somebody else has since replaced, destroys work without anybody noticing.
//!
//! A check alone would leave a gap until the write; [`replace`] closes it by
//! handing the digest that was checked to the host, which compares once more.

use std::io::ErrorKind;
use std::path::Path;

use crate::files::{self, Expectation, ReplaceError};
use crate::names::shown;
use crate::session::{self, SeenFile};
use crate::{HostError, Rejection, ToolError};

/// How much of a file the session must have seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it: the change throws the old content away.
    Whole,
    /// Any part: the change itself proves that it knows what it touches.
    Part,
}

/// Why a file is not changed, for [`Guard::validate_input`](crate::Guard) and
/// for [`Tool::call`](crate::Tool) alike.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// Stable for programs; 1 to 9 belong to this module.
    pub code: u32,
    /// The same refusal as the error of a call.
    pub error: ToolError,
}

impl Refusal {
    /// A refusal known to programs by a number and a word.
    pub fn new(code: u32, word: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            error: ToolError::coded(word, message),
        }
    }

    /// A file that the system does not hand over.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("{} cannot be reached: {error}", shown(path));
        Self {
            code: 4,
            error: match error.kind() {
                ErrorKind::PermissionDenied => ToolError::Denied(message),
                _ => ToolError::coded("unreadable", message),
            },
        }
    }
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.error.sentence())
    }
}

/// Whether there is a file to change. A folder, or a path that cannot be reached,
/// is refused here, before anything else is said about it.
pub fn exists(path: &Path) -> Result<bool, Refusal> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(Refusal::new(
            5,
            "is-folder",
            format!("{} is a folder, not a file.", shown(path)),
        )),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Refusal::unreadable(path, &error)),
    }
}

/// How the session knows an existing file, provided that it has seen enough of it
/// and that the file has not changed since. The digest in the answer is what
/// [`replace`] should expect.
pub fn current(path: &Path, needed: Extent) -> Result<SeenFile, Refusal> {
    let name = path.to_string_lossy();
    judge(path, needed, session::seen(&name), || files::digest(&name))
}

/// Writes a file as one step, or says in a sentence why its state forbids it.
/// Answers with the digest of the new content.
pub fn replace(path: &Path, content: &[u8], expect: &Expectation) -> Result<String, ToolError> {
    if content.len() > files::MOST_BYTES {
        return Err(too_large(path, content.len() as u64).error);
    }
    files::replace(&path.to_string_lossy(), content, expect).map_err(|error| match error {
        ReplaceError::Unexpected(how) => ToolError::coded(
            "changed",
            format!(
                "{} changed in the meantime ({how}); nothing was written. Read it again and \
                 redo the change on what it says now.",
                shown(path)
            ),
        ),
        ReplaceError::Host(error) => error.into(),
    })
}

/// A content that is too much for one step.
pub fn too_large(path: &Path, bytes: u64) -> Refusal {
    Refusal::new(
        6,
        "too-large",
        format!(
            "{} would have to be written as {bytes} bytes in one step; at most {} are possible. \
             Change it with a program instead.",
            shown(path),
            files::MOST_BYTES
        ),
    )
}

fn judge(
    path: &Path,
    needed: Extent,
    seen: Option<SeenFile>,
    digest: impl FnOnce() -> Result<String, HostError>,
) -> Result<SeenFile, Refusal> {
    let path = shown(path);
    let Some(seen) = seen else {
        return Err(Refusal::new(
            1,
            "not-read",
            format!("{path} has not been read in this session. Read it first, then change it."),
        ));
    };
    // A change is reported before a partial read: reading the rest of a state
    // that is gone would not help.
    let now = digest().map_err(|error| Refusal {
        code: 4,
        error: error.into(),
    })?;
    if now != seen.digest {
        return Err(Refusal::new(
            3,
            "changed",
            format!(
                "{path} has changed since it was last read, so the change could destroy \
                 somebody's work. Read it again first."
            ),
        ));
    }
    if needed == Extent::Whole && !seen.whole {
        return Err(Refusal::new(
            2,
            "partly-read",
            format!(
                "Only a part of {path} has been read, and this would replace all of it. Read \
                 the whole file first, or change just the part you know."
            ),
        ));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(digest: &str, whole: bool) -> Option<SeenFile> {
        Some(SeenFile {
            digest: digest.into(),
            whole,
            shown: None,
        })
    }

    #[test]
    fn only_a_file_seen_far_enough_and_unchanged_may_be_changed() {
        for (case, known, needed, wanted) in [
            ("never seen", None, Extent::Part, Err(1)),
            (
                "part seen, part needed",
                seen("now", false),
                Extent::Part,
                Ok(()),
            ),
            (
                "part seen, whole needed",
                seen("now", false),
                Extent::Whole,
                Err(2),
            ),
            ("whole seen", seen("now", true), Extent::Whole, Ok(())),
            ("changed since", seen("then", true), Extent::Part, Err(3)),
            (
                "changed and partial",
                seen("then", false),
                Extent::Whole,
                Err(3),
            ),
        ] {
            let answer = judge(Path::new("/a"), needed, known, || Ok("now".into()));
            assert_eq!(
                answer.map(|_| ()).map_err(|refusal| refusal.code),
                wanted,
                "{case}"
            );
        }
    }

    #[test]
    fn a_digest_that_the_host_denies_stays_a_denial() {
        let answer = judge(Path::new("/a"), Extent::Part, seen("now", true), || {
            Err(HostError::Denied("by a rule".into()))
        });
        let error = answer.unwrap_err().error;
        assert!(matches!(error, ToolError::Denied(reason) if reason == "by a rule"));
    }

    #[test]
    fn a_folder_is_no_file_and_a_missing_path_is_absent() {
        let folder = std::env::temp_dir();
        assert_eq!(exists(&folder).unwrap_err().code, 5);
        assert!(!exists(&folder.join("there-is-no-such-file-here")).unwrap());
    }
}
