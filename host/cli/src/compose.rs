//! Puts a session together. The only place where the crates meet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use toolbay_contract::{CallEnvironment, KillSwitch, Origin, Powers, ProgressSink, Session, Tool};
use toolbay_dispatch::{Approver, Dispatch, Registry, Setting, real_path};
use toolbay_policy::{Policy, Trust};
use toolbay_runtime::{Limits, OnCompile, Plugin, Runtime, RuntimeOptions, Source};

use crate::args::Common;
use crate::audit::Events;
use crate::builtin::{Builtin, PLUGINS};
use crate::places::Places;
use crate::settings::{CommandLineRules, Settings, own_files};

/// A session, ready to run calls.
pub struct Bay {
    pub runtime: Runtime,
    pub dispatch: Dispatch,
    pub session: Arc<Session>,
    pub events: Arc<Events>,
    pub settings: Settings,
    pub roots: Vec<PathBuf>,
    /// Plugins that could not be used, and why.
    pub problems: Vec<String>,
}

/// What a session is made from.
pub struct Ingredients {
    pub common: Common,
    pub places: Places,
    pub session: Session,
    pub approver: Arc<dyn Approver>,
    pub progress: ProgressSink,
    pub on_compile: Option<OnCompile>,
    pub kill: KillSwitch,
}

impl Bay {
    /// Puts a session together. A plugin that cannot be used is a problem to tell,
    /// not a reason to stop.
    pub async fn open(ingredients: Ingredients) -> anyhow::Result<Self> {
        let Ingredients {
            common,
            places,
            session,
            approver,
            progress,
            on_compile,
            kill,
        } = ingredients;
        let cwd = working_directory(&common)?;
        let given = CommandLineRules {
            allow: common.allow.clone(),
            ask: common.ask.clone(),
            deny: common.deny.clone(),
        };
        let settings = Settings::load(&cwd, &places, &given)?;
        let roots = roots(&cwd, &common, &settings)?;
        let runtime = Runtime::new(RuntimeOptions {
            cache: Some((places.cache.join("compiled"), places.state.clone())),
            cache_max_bytes: 0,
            on_compile,
        })?;

        let mut problems = Vec::new();
        let mut registry = Registry::default();
        for builtin in PLUGINS {
            let plugin = open_builtin(&runtime, builtin, Trust::BuiltIn, &settings).await?;
            if let Err(error) = registry.add(Arc::new(plugin)) {
                problems.push(error.to_string());
            }
        }
        let files = plugin_files(
            common.plugins.iter().chain(&settings.plugins),
            &mut problems,
        );
        for file in files {
            let opened = open_file(&runtime, &file, &settings).await;
            let added = match opened {
                Ok(plugin) => registry
                    .add(Arc::new(plugin))
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(problem) = added {
                problems.push(problem);
            }
        }

        let policy = Policy::new(settings.rules.clone(), roots.clone(), &own_files(&places));
        let events = Arc::new(Events::default());
        let session = Arc::new(session);
        let environment = CallEnvironment {
            roots: roots.clone().into(),
            working_directory: cwd,
            path_rules: policy.path_rules().clone(),
            session: session.clone(),
            powers: Powers::default(),
            audit: events.clone(),
            progress,
            kill,
        };
        let dispatch = Dispatch::new(Setting {
            registry,
            policy,
            environment,
            approver,
        });
        Ok(Self {
            runtime,
            dispatch,
            session,
            events,
            settings,
            roots,
            problems,
        })
    }
}

/// Takes an embedded component as a tool.
pub async fn open_builtin(
    runtime: &Runtime,
    builtin: &Builtin,
    trust: Trust,
    settings: &Settings,
) -> anyhow::Result<Plugin> {
    let source = Source::Embedded {
        bytes: builtin.bytes,
        digest: builtin.digest,
    };
    let opened = Plugin::open(runtime, source, Origin::BuiltIn, trust, Limits::default()).await;
    opened
        .map(|plugin| limited(plugin, settings))
        .with_context(|| format!("the built-in plugin {}", builtin.folder))
}

async fn open_file(
    runtime: &Runtime,
    file: &Path,
    settings: &Settings,
) -> Result<Plugin, toolbay_contract::Failure> {
    let opened = Plugin::open(
        runtime,
        Source::File(file.to_path_buf()),
        Origin::File(file.to_path_buf()),
        Trust::ThirdParty,
        settings.limits_of("*"),
    )
    .await;
    opened.map(|plugin| limited(plugin, settings))
}

/// Settings name limits by the tool's name, which only the opened plugin knows.
fn limited(plugin: Plugin, settings: &Settings) -> Plugin {
    let limits = settings.limits_of(&plugin.info().name);
    plugin.with_limits(limits)
}

/// The folder to work in, real.
pub fn working_directory(common: &Common) -> anyhow::Result<PathBuf> {
    let given = match &common.cwd {
        Some(path) => path.clone(),
        None => std::env::current_dir().context("the current folder is gone")?,
    };
    let real = given
        .canonicalize()
        .with_context(|| format!("--cwd {}", given.display()))?;
    if !real.is_dir() {
        bail!("{} is not a folder", given.display());
    }
    Ok(real)
}

fn roots(cwd: &Path, common: &Common, settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let mut roots = vec![cwd.to_path_buf()];
    let more = common
        .add_dirs
        .iter()
        .chain(&settings.additional_directories);
    for folder in more {
        let real = real_path(&cwd.join(folder));
        if !real.is_dir() {
            bail!(
                "{} is not a folder; it was given as one that tools may see",
                folder.display()
            );
        }
        if !roots.iter().any(|root| real.starts_with(root)) {
            roots.push(real);
        }
    }
    Ok(roots)
}

/// Files as they are, folders as the `.wasm` files in them, in order of name.
fn plugin_files<'a>(
    given: impl Iterator<Item = &'a PathBuf>,
    problems: &mut Vec<String>,
) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in given {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        match std::fs::read_dir(path) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> = entries
                    .flatten()
                    .map(|entry| entry.path())
                    .filter(|file| {
                        file.extension()
                            .is_some_and(|extension| extension == "wasm")
                    })
                    .collect();
                files.sort();
                all.extend(files);
            }
            Err(error) => problems.push(format!("{}: {error}", path.display())),
        }
    }
    all
}
