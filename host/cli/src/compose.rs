//! Puts a session together. The only place where the crates meet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use toolbay_audit::{Actor, Key, Log, Options};
use toolbay_contract::{
    AskUser, CallEnvironment, KillSwitch, Origin, Powers, ProgressSink, Session, Tool,
};
use toolbay_dispatch::{
    Approver, Classifier, Dispatch, HookSetting, Nobody, Pool, PoolSetting, Results, Rulebook,
    Setting, real_path,
};
use toolbay_policy::{Managed, Policy, Trust, Why};
use toolbay_runtime::{Limits, OnCompile, Plugin, Runtime, RuntimeOptions, Source, digest};
use toolbay_sandbox::cage::Helper;

use crate::args::Common;
use crate::audit::Events;
use crate::builtin::{Builtin, DEMOS, PLUGINS};
use crate::caged::{CageSetting, Caged, TaskTable};
use crate::classifier::Described;
use crate::places::{Places, hook_environment, user_name, variables};
use crate::settings::{CommandLine, FileKeeper, Origins, Say, Settings, Stamps, own_files};

/// A tool that says so of itself is offered in simple mode.
const SIMPLE: &str = "simple";
/// Where results go that are too large for a model.
const RESULTS: &str = "tool-results";
/// Where the output of tasks in the background goes.
const TASKS: &str = "task-output";

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
    /// Whether decisions and calls go into the audit log.
    pub is_logged: bool,
    /// Told when something is wrong with settings while the session runs.
    pub say: Say,
    /// Where the session keeps what must outlive the program.
    pub session_folder: Option<PathBuf>,
    /// Ask third-party tools whether they make sense here, which compiles them.
    pub ask_who_is_enabled: bool,
    /// The components that only the tour shows.
    pub demos: bool,
    /// The session goes on after a call, so that a command may go on without it.
    pub goes_on: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            approver: Arc::new(Nobody),
            ask_user: None,
            progress: Arc::new(|_, _| {}),
            session_id: String::new(),
            is_logged: false,
            say: Arc::new(|text| {
                let style = crate::style::Style::for_errors();
                eprintln!("{} {text}", style.warn("warning:"));
            }),
            session_folder: None,
            ask_who_is_enabled: false,
            demos: false,
            goes_on: false,
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
        let origins = origins(&common, &cwd, &places);
        let stamps = Stamps::before(&origins);
        let settings = origins.load()?;
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
        let tasks = match tasks_folder(&wishes, &places) {
            Some(folder) => {
                closed.readable.push(real_path(&folder));
                TaskTable::in_folder(folder)
            }
            None => TaskTable::default(),
        };
        let keeper = FileKeeper::new(
            origins,
            (stamps, settings.clone()),
            roots.clone(),
            closed,
            wishes.say.clone(),
        );
        let policy = keeper.policy();
        problems.extend(not_the_owners(&policy));
        let (pool, told) = assemble(tools, &common, &policy, wishes.ask_who_is_enabled).await;
        problems.extend(told);
        let pool = Arc::new(pool);

        let events = Arc::new(match wishes.is_logged {
            true => Events::and_log(open_log(&places, &wishes.session_id, &settings)?),
            false => Events::default(),
        });
        let session = Arc::new(session);
        let tasks = Arc::new(tasks);
        let caged = Caged::new(
            CageSetting {
                roots: roots.clone(),
                home: places.home.clone(),
                own: vec![places.state.clone(), places.cache.clone()],
                helper: Helper::ThisProgram,
                sandbox: settings.sandbox.clone(),
                move_after: settings.sandbox.patience().filter(|_| wishes.goes_on),
                environment: variables(),
            },
            tasks.clone(),
        );
        let environment = CallEnvironment {
            roots: roots.clone().into(),
            working_directory: cwd,
            path_rules: policy.path_rules().clone(),
            session: session.clone(),
            powers: Powers {
                ask_user: wishes.ask_user,
                shell: Some(Arc::new(caged)),
                tasks: Some(tasks),
                tools: Some(pool.clone()),
                ..Powers::default()
            },
            audit: events.clone(),
            progress: wishes.progress,
            kill,
        };
        let dispatch = Dispatch::new(Setting {
            pool,
            rulebook: Rulebook::new(policy, Arc::new(keeper)),
            classifier: settings.classifier.clone().map(|settings| {
                Arc::new(Described::new(settings, hook_environment())) as Arc<dyn Classifier>
            }),
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

/// Where the session keeps the output of its tasks; none for one without a name, which runs none.
fn tasks_folder(wishes: &Wishes, places: &Places) -> Option<PathBuf> {
    let session = match &wishes.session_folder {
        Some(folder) => folder.clone(),
        None if wishes.session_id.is_empty() => return None,
        None => places.state.join("sessions").join(&wishes.session_id),
    };
    Some(session.join(TASKS))
}

/// What settings are made from.
pub fn origins(common: &Common, cwd: &Path, places: &Places) -> Origins {
    Origins {
        cwd: cwd.to_path_buf(),
        places: places.clone(),
        given: CommandLine {
            allow: common.allow.clone(),
            ask: common.ask.clone(),
            deny: common.deny.clone(),
            mode: common.permission_mode,
            settings: common.settings.clone(),
            project_hooks: common.project_hooks,
            trust_project: common.trust_project,
        },
    }
}

/// Allow rules that do not count because the owner of the machine keeps that for itself. Those
/// of a project that is not trusted are told by file.
fn not_the_owners(policy: &Policy) -> impl Iterator<Item = String> {
    let ignored = policy.ignored().iter();
    let owners = ignored.filter(|ignored| ignored.why == Why::OnlyManagedRules);
    owners
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .into_iter()
}

/// The audit log of this user.
fn open_log(places: &Places, session: &str, settings: &Settings) -> anyhow::Result<Log> {
    let actor = Actor {
        uid: rustix::process::getuid().as_raw(),
        user: user_name(),
    };
    let mut options = Options::new(places.audit_log(), session, actor);
    options.key = Some(Key::open(&places.audit_key())?);
    options.on_full = settings.on_full.unwrap_or_default();
    options.rotation = settings.rotation.unwrap_or_default();
    options.on_trouble = Arc::new(|trouble| {
        let style = crate::style::Style::for_errors();
        eprintln!("{} the audit log: {trouble}", style.warn("warning:"));
    });
    Log::open(options).context("the audit log")
}

/// Every tool that there is, in no order.
pub async fn open_tools(
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
    let source = permitted(file, &settings.managed)?;
    let opened = Plugin::open(
        runtime,
        source,
        Origin::File(file.to_path_buf()),
        Trust::ThirdParty,
        settings.limits_of("*"),
    )
    .await;
    opened.map(|plugin| limited(plugin, settings))
}

/// The component of a file, unless the owner of the machine has a list that it is not on. What
/// was checked is what is loaded, whatever becomes of the file.
fn permitted(file: &Path, managed: &Managed) -> Result<Source, toolbay_contract::Failure> {
    if managed.allowed_plugins.is_none() {
        return Ok(Source::File(file.to_path_buf()));
    }
    let bad = |reason: String| toolbay_contract::Failure::BadComponent {
        plugin: file.display().to_string(),
        reason,
    };
    let bytes = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
    let permitted = managed.permits_plugin(&digest(&bytes), None);
    permitted.map_err(|refusal| bad(refusal.to_string()))?;
    Ok(Source::Bytes(bytes.into()))
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
