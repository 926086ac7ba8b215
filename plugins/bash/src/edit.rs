//! `sed -i` on one file as an edit: what becomes of the file is shown before anybody is asked, and
//! exactly that is written, by the host and not by `sed`.
//!
//! The preview travels in the input, so that whoever is asked sees it, and so that the call knows
//! what was seen. It is made here alone: what else stands there is checked against the file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolbay_sdk::files::{self, Expectation};
use toolbay_sdk::patch::{Patch, unified};
use toolbay_sdk::{FileSeen, Outcome, ToolError, seen, session, shell};

use crate::Input;

/// Larger files are left to `sed`: nobody would look through the preview.
const MOST_BYTES: u64 = 1 << 20;

/// What the command would do to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub file_path: String,
    /// The state of the file from which it was made.
    pub before: String,
    pub diff: String,
}

/// An edit with what is to be written.
struct Ready {
    edit: Edit,
    new: String,
    lines: usize,
}

/// The edit that a command is; none if it is none, or changes nothing.
pub fn of(input: &Input) -> Option<Edit> {
    Some(ready(input)?.edit)
}

fn ready(input: &Input) -> Option<Ready> {
    if input.run_in_background || input.dangerously_disable_sandbox {
        return None;
    }
    let file_path = shell::edits(&input.command)?;
    // Before it is read, so that a change in between is noticed.
    let before = files::digest(&file_path).ok()?;
    if std::fs::metadata(&file_path).ok()?.len() > MOST_BYTES {
        return None;
    }
    let old = std::fs::read_to_string(&file_path).ok()?;
    let new = shell::edited(&input.command, &old)?;
    let patch = Patch::between(&old, &new);
    if patch.truncated {
        return None;
    }
    let added = |line: &&String| line.starts_with('+');
    let lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
    Some(Ready {
        lines: lines.filter(added).count(),
        edit: Edit {
            diff: unified(&file_path, &patch.hunks),
            file_path,
            before,
        },
        new,
    })
}

/// Writes what was shown, if the file is still as it was then.
pub fn write(input: &Input, shown: &Edit) -> toolbay_sdk::Result {
    let ready = ready(input).filter(|ready| ready.edit == *shown);
    let Some(ready) = ready else {
        return Err(ToolError::coded(
            "changed",
            format!(
                "{} changed since the edit was shown; nothing was written.",
                shown.file_path
            ),
        ));
    };
    let known = session::seen(&shown.file_path);
    let expect = Expectation::Digest(shown.before.clone());
    let digest = seen::replace(Path::new(&shown.file_path), ready.new.as_bytes(), &expect)?;
    let said = format!(
        "Changed {} lines of {} as the command says.",
        ready.lines, shown.file_path
    );
    let structured = json!({
        "exit_code": 0,
        "output": "",
        "edited_file": shown.file_path,
        "diff": shown.diff,
    });
    let outcome = Outcome::text(said).with_structured(&structured);
    Ok(match known {
        // Who knew the file as it was knows it as it is.
        Some(known) if known.digest == shown.before => outcome.with_file_seen(FileSeen {
            path: shown.file_path.clone(),
            digest,
            whole: known.whole,
            shown: None,
        }),
        Some(_) | None => outcome,
    })
}
