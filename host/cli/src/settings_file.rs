//! Settings files as people write them: with comments, in their own order. A rule that is kept
//! is added to such a file, and nothing else in it changes.

mod edit;
mod jsonc;
mod replace;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolbay_dispatch::RuleScope;

pub use self::jsonc::read_jsonc;
use self::replace::{Folder, Missing, Place};
use crate::places::Places;

/// A settings file is written by hand; what is larger is none.
const MOST_BYTES: u64 = 4 << 20;

/// The file that holds the rules of a scope; a session's are in none.
pub fn settings_file_of(scope: RuleScope, project: &Path, places: &Places) -> Option<PathBuf> {
    match scope {
        RuleScope::Session => None,
        RuleScope::Local => Some(project.join(".toolbay/settings.local.json")),
        RuleScope::Project => Some(project.join(".toolbay/settings.json")),
        RuleScope::User => Some(places.home.as_ref()?.join(".toolbay/settings.json")),
    }
}

/// A file before and after, for whoever trusts a text and not a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Nothing if there was no file.
    pub before: Option<String>,
    pub after: String,
}

/// Adds rules to `permissions.allow` of a settings file; makes the file if there is none. Rules
/// that are there already are not added again; nothing is answered if all of them are. Several writers at once lose nothing, and a reader
/// sees the file before or after, never in between.
pub fn add_allow_rules(
    scope: RuleScope,
    file: &Path,
    rules: &[String],
) -> anyhow::Result<Option<Change>> {
    let missing = match scope {
        RuleScope::Session => bail!("the rules of a session are kept in no file"),
        RuleScope::Local | RuleScope::User => Missing { mode: 0o600 },
        RuleScope::Project => Missing { mode: 0o644 },
    };
    let place = match scope {
        // A project comes from somebody else: its links lead nowhere outside of it.
        RuleScope::Local | RuleScope::Project => Place::InProject,
        RuleScope::User | RuleScope::Session => Place::Anywhere,
    };
    let whole = || file.display().to_string();
    let folder = Folder::of(file, place).with_context(whole)?;
    let lock = folder.lock().with_context(whole)?;
    let before = folder.read(MOST_BYTES).with_context(whole)?;
    let text = match &before {
        Some(before) => edit::with_rules(&before.text, rules).with_context(whole)?,
        None => Some(edit::new_file(rules)?),
    };
    let Some(after) = text else {
        return Ok(None);
    };
    if after.len() as u64 > MOST_BYTES {
        bail!("{}: it would be larger than {MOST_BYTES} bytes", whole());
    }
    let written = folder.replace(before.as_ref(), missing, &after);
    written.with_context(whole)?;
    drop(lock);
    Ok(Some(Change {
        before: before.map(|before| before.text),
        after,
    }))
}

#[cfg(test)]
mod tests;
