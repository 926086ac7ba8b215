//! Puts a session together. The only place where the crates meet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use toolbay_contract::{
    AskUser, CallEnvironment, KillSwitch, Origin, Powers, ProgressSink, Session, Tool,
};
use toolbay_dispatch::{
    Approver, Dispatch, HookSetting, Nobody, Pool, PoolSetting, Results, Rulebook, Setting,
    real_path,
};
use toolbay_policy::{Policy, Trust};
use toolbay_runtime::{Limits, OnCompile, Plugin, Runtime, RuntimeOptions, Source};

use crate::args::Common;
use crate::audit::Events;
use crate::builtin::{Builtin, DEMOS, PLUGINS};
use crate::places::{Places, hook_environment};
use crate::settings::{CommandLine, Settings, own_files};

/// A tool that says so of itself is offered in simple mode.
const SIMPLE: &str = "simple";
/// Where results go that are too large for a model.
const RESULTS: &str = "tool-results";

/// A session, ready to run calls.
pub struct Bay {
    pub runtime: Runtime,
    pub dispatch: Arc<Dispatch>,
    pub session: Arc<Session>,
    pub events: Arc<Events>,
    pub settings: Settings,
    pub roots: Vec<PathBuf>,
    /// What could not be used or done, and why.
    pub problems: Vec<String>,
}

/// What a session is made from.
pub struct Ingredients {
    pub common: Common,
    pub places: Places,
    pub session: Session,
    pub on_compile: Option<OnCompile>,
    pub kill: KillSwitch,
    pub wishes: Wishes,
}

/// What a command wants of its session.
pub struct Wishes {
    pub approver: Arc<dyn Approver>,
    pub ask_user: Option<Arc<dyn AskUser>>,
    pub progress: ProgressSink,
    pub session_id: String,
    /// Where the session keeps what must outlive the program.
    pub session_folder: Option<PathBuf>,
    /// Ask third-party tools whether they make sense here, which compiles them.
    pub ask_who_is_enabled: bool,
    /// The components that only the tour shows.
    pub demos: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            approver: Arc::new(Nobody),
            ask_user: None,
            progress: Arc::new(|_, _| {}),
            session_id: String::new(),
            session_folder: None,
            ask_who_is_enabled: false,
            demos: false,
        }
    }
}

impl Bay {
    /// Puts a session together. A plugin that cannot be used is a problem to tell,
    /// not a reason to stop.
    pub async fn open(ingredients: Ingredients) -> anyhow::Result<Self> {
        let Ingredients {
            common,
            places,
            session,
            on_compile,
            kill,
            wishes,
        } = ingredients;
        let cwd = working_directory(&common)?;
        let given = CommandLine {
            allow: common.allow.clone(),
            ask: common.ask.clone(),
            deny: common.deny.clone(),
            project_hooks: common.project_hooks,
        };
        let settings = Settings::load(&cwd, &places, &given)?;
        let roots = roots(&cwd, &common, &settings)?;
        let runtime = Runtime::new(RuntimeOptions {
            cache: Some((places.cache.join("compiled"), places.state.clone())),
            cache_max_bytes: 0,
            on_compile,
        })?;
        let mut problems = settings.problems.clone();
        let tools = open_tools(&runtime, &common, &settings, wishes.demos, &mut problems).await?;

        let mut closed = own_files(&places);
        let results = match &wishes.session_folder {
            Some(folder) => {
                closed.readable.push(real_path(&folder.join(RESULTS)));
                let (results, told) = Results::open(folder);
                problems.extend(told);
                results
            }
            None => Results::in_memory(),
        };
        let policy = Policy::new(settings.rules.clone(), roots.clone(), &closed);
        let (pool, told) = assemble(tools, &common, &policy, wishes.ask_who_is_enabled).await;
        problems.extend(told);
        let pool = Arc::new(pool);

        let events = Arc::new(Events::default());
        let session = Arc::new(session);
        let environment = CallEnvironment {
            roots: roots.clone().into(),
            working_directory: cwd,
            path_rules: policy.path_rules().clone(),
            session: session.clone(),
            powers: Powers {
                ask_user: wishes.ask_user,
                tools: Some(pool.clone()),
                ..Powers::default()
            },
            audit: events.clone(),
            progress: wishes.progress,
            kill,
        };
        let dispatch = Dispatch::new(Setting {
            pool,
            rulebook: Rulebook::unchanging(policy),
            classifier: None,
            environment,
            approver: wishes.approver,
            hooks: settings.hooks.clone(),
            hook_setting: HookSetting {
                session_id: wishes.session_id,
                environment: hook_environment(),
            },
            results,
        });
        Ok(Self {
            runtime,
            dispatch: Arc::new(dispatch),
            session,
            events,
            settings,
            roots,
            problems,
        })
    }
}

/// Every tool that there is, in no order.
async fn open_tools(
    runtime: &Runtime,
    common: &Common,
    settings: &Settings,
    demos: bool,
    problems: &mut Vec<String>,
) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for builtin in PLUGINS {
        let plugin = open_builtin(runtime, builtin, Trust::BuiltIn, settings).await?;
        tools.push(Arc::new(plugin));
    }
    if demos {
        for demo in DEMOS {
            let plugin = open_builtin(runtime, demo, Trust::ThirdParty, settings).await?;
            tools.push(Arc::new(plugin));
        }
    }
    let files = plugin_files(common.plugins.iter().chain(&settings.plugins), problems);
    for file in files {
        match open_file(runtime, &file, settings).await {
            Ok(plugin) => tools.push(Arc::new(plugin)),
            Err(error) => problems.push(error.to_string()),
        }
    }
    Ok(tools)
}

/// The tools that this session offers.
async fn assemble(
    tools: Vec<Arc<dyn Tool>>,
    common: &Common,
    policy: &Policy,
    ask_who_is_enabled: bool,
) -> (Pool, Vec<String>) {
    let simple: Option<Vec<String>> = common.simple.then(|| {
        let is_simple = |tool: &&Arc<dyn Tool>| {
            let annotations = &tool.info().annotations;
            tool.trust() == Trust::BuiltIn && annotations.iter().any(|(key, _)| key == SIMPLE)
        };
        let simple = tools.iter().filter(is_simple);
        simple.map(|tool| tool.info().name.clone()).collect()
    });
    let mut disabled = Vec::new();
    if ask_who_is_enabled {
        for tool in &tools {
            // Ours always are, and asking would compile them all.
            let ours = tool.trust() == Trust::BuiltIn;
            // One that cannot be asked says why when it is called.
            if !ours && matches!(tool.is_enabled().await, Ok(false)) {
                disabled.push(tool.info().name.clone());
            }
        }
    }
    Pool::assemble(
        tools,
        &PoolSetting {
            only: simple.as_deref(),
            denied: &|name| policy.removes(name),
            enabled: &|name| !disabled.iter().any(|disabled| disabled == name),
        },
    )
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
