//! Settings files as people write them: with comments, in their own order. A rule that is kept
//! is added to such a file, and nothing else in it changes.

mod edit;
mod jsonc;
mod replace;
mod servers;

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
    if scope == RuleScope::Session {
        bail!("the rules of a session are kept in no file");
    }
    change(scope, file, |before| match before {
        Some(text) => edit::with_rules(text, rules),
        None => edit::new_file(rules).map(Some),
    })
}

/// Adds an MCP server to a file, under the same care.
pub fn add_server(
    scope: RuleScope,
    file: &Path,
    name: &str,
    server: &serde_json::Value,
) -> anyhow::Result<Option<Change>> {
    change(scope, file, |before| match before {
        Some(text) => servers::with_server(text, name, server).map(Some),
        None => servers::new_file(name, server).map(Some),
    })
}

/// Takes an MCP server out of a file; nothing is answered if it is not there.
pub fn remove_server(scope: RuleScope, file: &Path, name: &str) -> anyhow::Result<Option<Change>> {
    change(scope, file, |before| match before {
        Some(text) => servers::without_server(text, name),
        None => Ok(None),
    })
}

/// Edits a file in one step.
fn change(
    scope: RuleScope,
    file: &Path,
    edit: impl FnOnce(Option<&str>) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<Option<Change>> {
    let missing = match scope {
        RuleScope::Session | RuleScope::Local | RuleScope::User => Missing { mode: 0o600 },
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
    let text = edit(before.as_ref().map(|before| before.text.as_str()));
    let Some(after) = text.with_context(whole)? else {
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
