//! One settings file, read: whose word it is, and its rules with the lines that they stand in.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolbay_dispatch::hooks::Hooks;
use toolbay_policy::{Anchors, Provenance, Rule, Rules, Source, lines_of};

use super::project_bounds::{self, ProjectRules};
use super::raw::{Foreign, Raw};
use crate::settings_file::read_jsonc;

/// Larger files are no settings.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Which file, and what it counts as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) source: Source,
    /// Settings of another agent: only its rules and hooks are taken.
    pub(super) is_foreign: bool,
}

impl Place {
    /// Whether whoever made the project wrote it.
    pub(super) fn is_in_project(&self) -> bool {
        matches!(self.source, Source::Local | Source::Project)
    }
}

/// A file's content.
pub(super) struct Layer {
    pub(super) place: Place,
    pub(super) raw: Raw,
    pub(super) rules: Rules,
    pub(super) hooks: Hooks,
    /// What relative paths in it start from.
    pub(super) folder: PathBuf,
    /// The whole of it, as far as this program reads it.
    pub(super) value: serde_json::Value,
}

/// Reads the text of a settings file; none if there is no such file.
pub fn read_text(file: &Path) -> anyhow::Result<Option<String>> {
    match toolbay_contract::regular_file::read_text(file, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}

/// The parser takes a list for an object whose keys are left out: `[]` would be settings
/// without any.
fn check_shape(text: &str) -> anyhow::Result<serde_json::Value> {
    const OBJECTS: [&str; 8] = [
        "",
        "/permissions",
        "/permissions/classifier",
        "/limits",
        "/grants",
        "/audit",
        "/managed",
        "/mcpServe",
    ];
    let value: serde_json::Value = serde_json::from_str(text)?;
    for pointer in OBJECTS {
        if value
            .pointer(pointer)
            .is_some_and(serde_json::Value::is_array)
        {
            let place = if pointer.is_empty() {
                "the whole"
            } else {
                pointer
            };
            bail!("line 1: {place} must be an object, not a list");
        }
    }
    Ok(value)
}

impl Layer {
    /// Understands the text of a file. What it has of rules is counted together with the other files
    /// of the project.
    pub(super) fn parse(
        place: Place,
        text: &str,
        home: Option<&Path>,
        cwd: &Path,
        project: &mut ProjectRules,
    ) -> anyhow::Result<Self> {
        let name = || place.file.display().to_string();
        // Comments become blanks, so that lines stay where they are.
        let text = &read_jsonc(text).with_context(name)?;
        let raw: Raw = if place.is_foreign {
            let foreign: Foreign = serde_json::from_str(text).with_context(name)?;
            foreign.into()
        } else {
            serde_json::from_str(text).with_context(name)?
        };
        let mut value = check_shape(text).with_context(name)?;
        if place.is_foreign {
            // Its other keys are another agent's.
            value = serde_json::Value::Null;
        }
        if raw.managed.is_some() && place.source != Source::Managed {
            bail!(
                "{}: `managed` stands in the managed settings alone: everybody else has rules",
                place.file.display()
            );
        }
        let folder = match place.source {
            Source::Managed | Source::Flags => place.file.parent(),
            _ => place.file.parent().and_then(Path::parent),
        };
        let folder = folder.unwrap_or(cwd).to_path_buf();
        let anchors = Anchors {
            home: home.map(Path::to_path_buf),
            cwd: cwd.to_path_buf(),
            settings: folder.clone(),
        };
        let from = Provenance::of(place.source).in_file(&place.file);
        let parse = |list: &str, texts: &[String]| -> anyhow::Result<Vec<Rule>> {
            let lines = lines_of(text, &["permissions", list]);
            let parse = |(at, rule): (usize, &String)| {
                let provenance = match lines.get(at) {
                    Some(line) => from.clone().at_line(*line),
                    None => from.clone(),
                };
                let parsed = Rule::parse(rule, &anchors);
                let parsed = parsed.with_context(|| provenance.to_string())?;
                Ok(parsed.from(provenance))
            };
            texts.iter().enumerate().map(parse).collect()
        };
        let permissions = &raw.permissions;
        if place.is_in_project() {
            let lists = [&permissions.allow, &permissions.ask, &permissions.deny];
            project.add(&place.file, lists.into_iter().flatten())?;
        }
        let rules = Rules {
            allow: parse("allow", &permissions.allow)?,
            ask: parse("ask", &permissions.ask)?,
            deny: parse("deny", &permissions.deny)?,
        };
        let hooks = match &raw.hooks {
            Some(hooks) => Hooks::parse(hooks, &name())?,
            None => Hooks::default(),
        };
        let layer = Self {
            place,
            raw,
            rules,
            hooks,
            folder,
            value,
        };
        if layer.place.is_in_project() {
            project_bounds::check(&layer)?;
        }
        Ok(layer)
    }
}
