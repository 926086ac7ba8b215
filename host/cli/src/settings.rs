//! Settings files: what was written, and what the program sees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toolbay_dispatch::hooks::Hooks;
use toolbay_policy::{Anchors, Closed, Rule, Rules};
use toolbay_runtime::Limits;

use crate::places::Places;

/// What a settings file says.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    permissions: RawPermissions,
    /// Limits by tool name; `*` is for all.
    #[serde(default)]
    limits: BTreeMap<String, Limits>,
    /// Component files or folders of them.
    #[serde(default)]
    plugins: Vec<PathBuf>,
    /// Commands that run before and after calls.
    #[serde(default)]
    hooks: Option<serde_json::Value>,
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawPermissions {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    additional_directories: Vec<PathBuf>,
}

/// What the program sees.
#[derive(Debug, Default)]
pub struct Settings {
    pub rules: Rules,
    pub additional_directories: Vec<PathBuf>,
    pub limits: BTreeMap<String, Limits>,
    pub plugins: Vec<PathBuf>,
    pub hooks: Hooks,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// The files that were read.
    pub sources: Vec<PathBuf>,
}

/// Whose word a settings file is, as far as commands go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Trusted,
    Project,
}

/// What was given on the command line.
#[derive(Debug, Default, Clone)]
pub struct CommandLine {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
    /// The person has looked at the project's hooks.
    pub project_hooks: bool,
}

impl Settings {
    /// Reads the user's and the project's files, then the command line.
    pub fn load(cwd: &Path, places: &Places, given: &CommandLine) -> anyhow::Result<Self> {
        let mut settings = Self::default();
        let user = places
            .home
            .as_ref()
            .map(|home| home.join(".toolbay/settings.json"));
        if let Some(file) = user {
            settings.read(&file, Origin::Trusted, cwd, places)?;
        }
        let origin = if given.project_hooks {
            Origin::Trusted
        } else {
            Origin::Project
        };
        for name in [".toolbay/settings.json", ".toolbay/settings.local.json"] {
            settings.read(&cwd.join(name), origin, cwd, places)?;
        }
        let anchors = anchors(cwd, cwd, places);
        let parse = |texts: &[String]| -> anyhow::Result<Vec<Rule>> {
            texts
                .iter()
                .map(|text| Rule::parse(text, &anchors).context("a rule on the command line"))
                .collect()
        };
        settings.rules.allow.extend(parse(&given.allow)?);
        settings.rules.ask.extend(parse(&given.ask)?);
        settings.rules.deny.extend(parse(&given.deny)?);
        Ok(settings)
    }

    fn read(
        &mut self,
        file: &Path,
        origin: Origin,
        cwd: &Path,
        places: &Places,
    ) -> anyhow::Result<()> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        };
        let raw: Raw = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let folder = file.parent().and_then(Path::parent).unwrap_or(cwd);
        let anchors = anchors(folder, cwd, places);
        let parse = |texts: &[String]| -> anyhow::Result<Vec<Rule>> {
            texts
                .iter()
                .map(|text| Rule::parse(text, &anchors).with_context(|| file.display().to_string()))
                .collect()
        };
        self.rules.allow.extend(parse(&raw.permissions.allow)?);
        self.rules.ask.extend(parse(&raw.permissions.ask)?);
        self.rules.deny.extend(parse(&raw.permissions.deny)?);
        let absolute = |path: PathBuf| folder.join(path);
        self.additional_directories.extend(
            raw.permissions
                .additional_directories
                .into_iter()
                .map(absolute),
        );
        self.plugins.extend(raw.plugins.into_iter().map(absolute));
        self.limits.extend(raw.limits);
        if let Some(hooks) = &raw.hooks {
            let name = file.display().to_string();
            let hooks = Hooks::parse(hooks, &name)?;
            match (origin, hooks.is_empty()) {
                (_, true) => {}
                (Origin::Trusted, false) => {
                    self.hooks = std::mem::take(&mut self.hooks).and(hooks);
                }
                // Commands that run without a question must not come with a download.
                (Origin::Project, false) => self.problems.push(format!(
                    "the hooks in {name} are not run: a project's settings are written by whoever \
                     made the project; look at them, then pass --project-hooks, or put them into \
                     your own settings"
                )),
            }
        }
        self.sources.push(file.to_path_buf());
        Ok(())
    }

    /// The limits of one tool.
    pub fn limits_of(&self, tool: &str) -> Limits {
        self.limits
            .get(tool)
            .or_else(|| self.limits.get("*"))
            .copied()
            .unwrap_or_default()
    }
}

/// What no tool may touch, whatever anybody allows: settings decide what tools may
/// do, the key vouches for native code, and the cache is native code.
pub fn own_files(places: &Places) -> Closed {
    Closed {
        unreadable: vec![places.state.clone()],
        unwritable: vec![places.cache.clone()],
        unwritable_names: vec![".toolbay".into()],
        readable: Vec::new(),
    }
}

fn anchors(settings: &Path, cwd: &Path, places: &Places) -> Anchors {
    Anchors {
        home: places.home.clone(),
        cwd: cwd.to_path_buf(),
        settings: settings.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_settings_file_is_named_with_its_line() {
        let root = std::env::temp_dir().join(format!("toolbay-settings-{}", std::process::id()));
        std::fs::create_dir_all(root.join(".toolbay")).unwrap();
        let places = Places {
            home: None,
            cache: root.clone(),
            state: root.clone(),
        };
        let file = root.join(".toolbay/settings.json");
        for (text, part) in [
            ("{\n\"permissons\": {}}", "permissons"),
            ("{\"permissions\": {\"deny\": [\"A(\"]}}", "no `)`"),
            ("{", "line 1"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = Settings::load(&root, &places, &CommandLine::default()).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(part), "{error}");
            assert!(error.contains("settings.json"), "{error}");
        }
        std::fs::write(
            &file,
            r#"{"permissions": {"deny": ["T(/x)"]}, "limits": {"T": {"call-ms": 5}}}"#,
        )
        .unwrap();
        let settings = Settings::load(&root, &places, &CommandLine::default()).unwrap();
        assert_eq!(settings.rules.deny.len(), 1);
        assert_eq!(settings.limits_of("T").call_ms, 5);
        assert_eq!(settings.limits_of("U"), Limits::default());

        // A project's commands run only for somebody who says so.
        std::fs::write(
            &file,
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
        )
        .unwrap();
        for project_hooks in [false, true] {
            let given = CommandLine {
                project_hooks,
                ..CommandLine::default()
            };
            let settings = Settings::load(&root, &places, &given).unwrap();
            assert_eq!(settings.hooks.is_empty(), !project_hooks);
            assert_eq!(settings.problems.is_empty(), project_hooks);
        }
        // The person's own run without a word.
        std::fs::rename(root.join(".toolbay"), root.join("own")).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        std::fs::rename(root.join("own"), root.join("home/.toolbay")).unwrap();
        let places = Places {
            home: Some(root.join("home")),
            ..places
        };
        let settings = Settings::load(&root, &places, &CommandLine::default()).unwrap();
        assert!(!settings.hooks.is_empty() && settings.problems.is_empty());
        std::fs::remove_dir_all(root).unwrap();
    }
}
