//! All tables. A file is only skimmed for its headers; a command is read when it is
//! first asked for, because most never are.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::files::FILES;
use super::format::{self, Table};

/// A command with its sub-commands, or a set of flags.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The parts of the files that are about it.
    sources: Vec<&'static str>,
    written: OnceLock<Result<toml::Table, String>>,
    table: OnceLock<Result<Table, String>>,
}

static ENTRIES: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut entries = HashMap::new();
    for (_, text) in FILES {
        skim(text, &mut entries);
    }
    entries
});

/// The table of a command. One that cannot be read is none: a test keeps it from
/// being shipped.
pub(super) fn command(name: &str) -> Option<&'static Table> {
    if is_set(name) {
        return None;
    }
    ENTRIES.get(name)?.table(name).as_ref().ok()
}

/// Whether a name is that of a set of flags. The colon alone is a command of bash.
pub(super) fn is_set(name: &str) -> bool {
    name.starts_with(':') && name.len() > 1
}

impl Entry {
    pub(super) fn table(&self, name: &str) -> &Result<Table, String> {
        self.table.get_or_init(|| {
            let written = self.written(name).as_ref().map_err(String::clone)?;
            format::read(written, is_set(name), &find)
        })
    }

    fn written(&self, name: &str) -> &Result<toml::Table, String> {
        self.written.get_or_init(|| {
            let mut text: toml::Table = toml::from_str(&self.sources.concat())
                .map_err(|error| format!("{name}: {error}"))?;
            match text.remove(name) {
                Some(toml::Value::Table(table)) => Ok(table),
                _ => Err(format!("`{name}` is no table")),
            }
        })
    }
}

/// What `include` names: `git.log`, `:diff-options`.
fn find(path: &str) -> Option<toml::Table> {
    let mut names = path.split('.');
    let first = names.next()?;
    let mut table = ENTRIES.get(first)?.written(first).as_ref().ok()?;
    for name in names {
        table = table.get(name)?.as_table()?;
    }
    Some(table.clone())
}

/// Cuts a file before each header and files the pieces under the first name in it.
fn skim(text: &'static str, entries: &mut HashMap<&'static str, Entry>) {
    let mut headers = text
        .match_indices('[')
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
        .peekable();
    while let Some(begin) = headers.next() {
        let end = headers.peek().copied().unwrap_or(text.len());
        let part = &text[begin..end];
        if let Some(name) = first_name(part) {
            entries.entry(name).or_default().sources.push(part);
        }
    }
}

/// `git` of `[git.log]`, `:set` of `[":set"]`.
fn first_name(header: &'static str) -> Option<&'static str> {
    let header = header.strip_prefix('[')?;
    match header.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => header.split(['.', ']']).next().map(str::trim),
    }
}

#[cfg(test)]
pub(super) fn entries() -> impl Iterator<Item = (&'static str, &'static Entry)> {
    ENTRIES.iter().map(|(name, entry)| (*name, entry))
}
