//! What settings are made from: files, places and the command line.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolbay_dispatch::fingerprint::Fingerprint;
use toolbay_dispatch::hooks::{Hooks, NameGround};
use toolbay_policy::{Anchors, Mode, Source};

use super::layer::{Layer, Place};
use super::project_bounds::ProjectRules;
use super::{Settings, managed_file, read_text};
use crate::places::Places;
use crate::process::ProcessContext;
use crate::servers::inventory;
use crate::settings_file::read_jsonc;
use crate::trust::{LeadGround, Leads, Trust};

/// Whether what a file says may loosen anything.
#[derive(Debug)]
pub(super) enum FileStanding {
    /// It is not the project's.
    Own,
    /// The user has looked at it, and at what it leads to.
    Seen(Box<Leads>),
    /// Nobody has; why not any more, if it was looked at once.
    Unseen(Option<String>),
}

/// A file of the project, read.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    pub file: PathBuf,
    pub text: String,
    pub leads: Leads,
}

/// What was given on the command line.
#[derive(Debug, Default, Clone)]
pub struct CommandLine {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
    /// `Tool` or `Tool=files,shell`.
    pub grant: Vec<String>,
    pub mode: Option<Mode>,
    /// One more settings file.
    pub settings: Option<PathBuf>,
    /// The person has looked at the project's hooks.
    pub project_hooks: bool,
    /// The person has looked at all of the project's settings.
    pub trust_project: bool,
}

/// All that settings are made from; the same again gives them as they are then.
#[derive(Debug, Clone)]
pub struct Origins {
    pub cwd: PathBuf,
    pub places: Places,
    pub process: ProcessContext,
    pub given: CommandLine,
}

impl Origins {
    /// The files that count, the strongest first. Whether they exist is another question.
    pub(super) fn files(&self) -> Vec<Place> {
        let place = |file: PathBuf, source| Place {
            file,
            source,
            is_foreign: false,
        };
        let mut files = vec![place(self.places.managed.clone(), Source::Managed)];
        if let Some(file) = &self.given.settings {
            files.push(place(self.cwd.join(file), Source::Flags));
        }
        let project = |name: &str| self.cwd.join(".toolbay").join(name);
        files.push(place(project("settings.local.json"), Source::Local));
        files.push(place(project("settings.json"), Source::Project));
        if let Some(home) = &self.places.home {
            files.push(place(home.join(".toolbay/settings.json"), Source::User));
        }
        files
    }

    /// The files of another agent's folder, such as `.claude`.
    fn foreign_files(&self, folder: &Path) -> Vec<Place> {
        let place = |file: PathBuf, source| Place {
            file,
            source,
            is_foreign: true,
        };
        let here = self.cwd.join(folder);
        let mut files = vec![
            place(here.join("settings.local.json"), Source::Local),
            place(here.join("settings.json"), Source::Project),
        ];
        if let Some(home) = &self.places.home
            && folder.is_relative()
        {
            let file = home.join(folder).join("settings.json");
            files.push(place(file, Source::User));
        }
        files
    }

    /// Reads everything. One file that cannot be used makes all of them unusable: a rule that is
    /// not seen is a rule that does not hold.
    pub fn load(&self) -> anyhow::Result<Settings> {
        let trust = Trust::load(&self.places.state)?;
        let mut settings = Settings {
            home: self.places.home.clone(),
            ..Settings::default()
        };
        settings.take_command_line(self)?;
        let mut files = self.files();
        let mut project = ProjectRules::default();
        let mut at = 0;
        while let Some(place) = files.get(at).cloned() {
            at += 1;
            if place.source == Source::Managed {
                managed_file::check(&place.file)?;
            }
            settings.looked_for.push(place.file.clone());
            let Some(text) = read_text(&place.file)? else {
                // The rules that the user relies on would not be there.
                if place.source == Source::Flags {
                    bail!("--settings {}: there is no such file", place.file.display());
                }
                continue;
            };
            let home = self.places.home.as_deref();
            let mut layer = Layer::parse(place, &text, home, &self.cwd, &mut project)?;
            for folder in &layer.raw.import {
                let more = self.foreign_files(folder).into_iter();
                files.extend(
                    more.filter(|place| !files.contains(place))
                        .collect::<Vec<_>>(),
                );
            }
            let standing = self.look_at(&mut layer, &text, &trust)?;
            settings.take(layer, standing, self.given.project_hooks)?;
        }
        if let Some((Mode::Bypass, whose)) = &settings.mode {
            Mode::bypass_is_possible(self.process.standing(), &settings.managed)
                .with_context(|| format!("{whose} wants the mode {}", Mode::Bypass))?;
        }
        Ok(settings)
    }

    /// Whether a file may loosen anything. What its hooks run is remembered here, and what is loaded
    /// later of what it leads to is what is judged here.
    fn look_at(
        &self,
        layer: &mut Layer,
        text: &str,
        trust: &Trust,
    ) -> anyhow::Result<FileStanding> {
        let file = layer.place.file.clone();
        if !layer.place.is_in_project() {
            let hooks = std::mem::take(&mut layer.hooks);
            layer.hooks = hooks
                .pinned(&NameGround::of_project(
                    &self.cwd,
                    self.places.home.as_deref(),
                ))
                .map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
            return Ok(FileStanding::Own);
        }
        // Nothing that strangers have written makes this program look for files before the user has
        // seen it.
        let is_asked_for = self.given.trust_project || self.given.project_hooks;
        if !is_asked_for && !trust.has_seen(&file, text) {
            let verdict = trust.judge(&file, text, &Fingerprint::default());
            return Ok(FileStanding::Unseen(verdict.why()));
        }
        let leads = match self.leads(layer) {
            Ok(leads) => leads,
            // Whoever cannot look cannot vouch.
            Err(why) => {
                layer.hooks = Hooks::default();
                return Ok(FileStanding::Unseen(Some(format!(
                    "what it leads to cannot be looked at: {why}"
                ))));
            }
        };
        let verdict = trust.judge(&file, text, &leads.files);
        Ok(match self.given.trust_project || verdict.is_trusted() {
            true => FileStanding::Seen(Box::new(leads)),
            false => FileStanding::Unseen(verdict.why()),
        })
    }

    /// What a file of the project leads to. Its hooks are pinned to it.
    fn leads(&self, layer: &mut Layer) -> Result<Leads, String> {
        let ground = self.ground();
        let hooks = std::mem::take(&mut layer.hooks);
        layer.hooks = hooks.pinned(&ground.names)?;
        let hooks = layer.hooks.fingerprint();
        Leads::of_settings(&layer.value, &layer.folder, hooks, &ground)
    }

    /// Where what the files of the project name is looked for.
    pub fn ground(&self) -> LeadGround {
        LeadGround {
            names: NameGround::of_clone(&self.cwd, self.places.home.as_deref()),
            process: self.process.clone(),
        }
    }

    /// What a text would lead to as the content of a file of the project.
    pub fn leads_of(&self, file: &Path, text: &str) -> anyhow::Result<Leads> {
        let about = |why: String| anyhow::anyhow!("{}: {why}", file.display());
        let Some(place) = self.files().into_iter().find(|place| place.file == file) else {
            let value: serde_json::Value = serde_json::from_str(&read_jsonc(text)?)
                .with_context(|| file.display().to_string())?;
            return Leads::of_servers(&value, &self.ground()).map_err(about);
        };
        let home = self.places.home.as_deref();
        let mut alone = ProjectRules::default();
        let mut layer = Layer::parse(place, text, home, &self.cwd, &mut alone)?;
        self.leads(&mut layer).map_err(about)
    }

    /// The files in the project that loosen once they are trusted, for a user who looks at them.
    pub fn project_files(&self) -> anyhow::Result<Vec<ProjectFile>> {
        let places = self.files().into_iter();
        let mut files: Vec<PathBuf> = places
            .filter(Place::is_in_project)
            .map(|place| place.file)
            .collect();
        files.push(self.cwd.join(inventory::PROJECT_FILE));
        let mut found = Vec::new();
        for file in files {
            if let Some(text) = read_text(&file)? {
                let leads = self.leads_of(&file, &text)?;
                found.push(ProjectFile { file, text, leads });
            }
        }
        Ok(found)
    }
}

impl Origins {
    pub fn anchors(&self) -> Anchors {
        Anchors {
            home: self.places.home.clone(),
            cwd: self.cwd.clone(),
            settings: self.cwd.clone(),
        }
    }
}
