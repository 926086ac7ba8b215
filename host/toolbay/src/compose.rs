//! Puts a session together. The only place where the crates meet.

mod late;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use toolbay_audit::{Actor, Key, Log, Options};
use toolbay_contract::{
    AskUser, CallEnvironment, KillSwitch, Powers, ProgressSink, Resources, RulesNow, Session,
    Skills, Tool,
};
use toolbay_dispatch::{
    Approver, Classifier, Dispatch, HookSetting, Nobody, Results, Rulebook, Setting, real_path,
};
use toolbay_mcp::client::{AskPerson, Asker, Departures, Sampler, Servers, Status, Surroundings};
use toolbay_policy::{Closed, Policy, Trust, Why};
use toolbay_runtime::{OnCompile, Runtime};
use toolbay_sandbox::cage::Helper;

use crate::caged::{CageSetting, Caged, CagedHooks, TaskTable};
use crate::classifier::Described;
use crate::compiler::runtime_options;
use crate::events::Events;
use crate::places::Places;
use crate::servers::inventory::Sources;
use crate::servers::{self, CagedServers, Connect, Inventory, Packages, ToolMemory, Working};
use crate::settings::{FileKeeper, Origins, Say, Settings, Stamps, own_files};

pub use late::LatePlugins;
pub use tools::{PluginStart, open_tools};

use tools::{assemble, open_late};

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
    /// Every tool, whether this session offers it or not.
    pub tools: Vec<Arc<dyn Tool>>,
    pub servers: Arc<Servers>,
    /// MCP servers that are known and cannot be used.
    pub other_servers: Vec<Status>,
    /// What could not be used or done, and why.
    pub problems: Vec<String>,
}

/// What is wanted of every session, beside what settings say.
#[derive(Debug, Clone)]
pub struct BayOptions {
    /// Where settings come from, and the folder to work in: a real path.
    pub origins: Origins,
    /// Further folders that tools may see.
    pub add_dirs: Vec<PathBuf>,
    /// Third-party tools: files, or folders of them.
    pub plugins: Vec<PathBuf>,
    /// Further MCP servers: files like `.mcp.json`, or their content.
    pub mcp_config: Vec<String>,
    /// Offer the few tools that every coding task needs, and no others.
    pub simple: bool,
    /// The program that builds cages and compiles components, each in a process of its own: one whose
    /// `main` begins with [`become_helper_if_asked`](crate::become_helper_if_asked).
    pub helper: Helper,
}

/// What a session is made from.
pub struct Ingredients {
    pub options: BayOptions,
    pub session: Session,
    pub on_compile: Option<OnCompile>,
    pub kill: KillSwitch,
    pub wishes: Wishes,
}

/// What a command wants of its session.
pub struct Wishes {
    pub approver: Arc<dyn Approver>,
    pub ask_user: Option<Arc<dyn AskUser>>,
    /// Who answers questions of MCP servers; without anybody, whoever is asked about permission.
    pub asker: Option<Arc<dyn Asker>>,
    /// Who has a model for MCP servers that may use it.
    pub sampler: Option<Arc<dyn Sampler>>,
    pub progress: ProgressSink,
    pub session_id: String,
    /// Whether decisions and calls go into the audit log.
    pub is_logged: bool,
    /// Told when something is wrong with settings or the audit log while the session runs.
    pub say: Say,
    /// Told of what takes a while.
    pub working: Option<Working>,
    /// Ends servers, of several sessions together.
    pub departures: Departures,
    /// Where the session keeps what must outlive the program.
    pub session_folder: Option<PathBuf>,
    /// For which third-party tools `is-enabled` is called at the start.
    pub enabled_check: EnabledCheck,
    /// The components that only the tour shows.
    pub demos: bool,
    /// Commands will run for sure, so that a cage is looked for at once.
    pub needs_cage: bool,
    /// The runtime and the tools of another session of this program.
    pub shared: Option<(Runtime, Vec<Arc<dyn Tool>>)>,
    /// These folders alone, each inside what would be seen otherwise.
    pub within: Option<Vec<PathBuf>>,
    pub connect: Connect,
    /// The session goes on after a call, so that a command may go on without it.
    pub goes_on: bool,
}

/// For which third-party tools `is-enabled` is called as a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnabledCheck {
    Skip,
    /// Those whose components are compiled already. The others compile while the session runs.
    IfCompiled,
    All,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            approver: Arc::new(Nobody),
            ask_user: None,
            asker: None,
            sampler: None,
            progress: Arc::new(|_, _| {}),
            session_id: String::new(),
            is_logged: false,
            say: Arc::new(|text| tracing::warn!("{text}")),
            working: None,
            departures: Departures::new(),
            session_folder: None,
            enabled_check: EnabledCheck::Skip,
            demos: false,
            needs_cage: false,
            shared: None,
            within: None,
            connect: Connect::default(),
            goes_on: false,
        }
    }
}

impl Bay {
    /// Puts a session together. A plugin that cannot be used is a problem to tell,
    /// not a reason to stop.
    pub async fn open(ingredients: Ingredients) -> anyhow::Result<Self> {
        let Ingredients {
            options,
            session,
            on_compile,
            kill,
            mut wishes,
        } = ingredients;
        let origins = options.origins.clone();
        let (places, process) = (origins.places.clone(), origins.process.clone());
        let mut cwd = origins.cwd.clone();
        let stamps = Stamps::before(&origins);
        let settings = origins.load()?;
        let mut roots = roots(&cwd, &options, &settings)?;
        let only = wishes.within.clone();
        if let Some(within) = wishes.within.take() {
            narrow(&mut roots, &mut cwd, within)?;
        }
        let mut problems = settings.problems.clone();
        let mut later = Vec::new();
        let (runtime, tools) = match wishes.shared.take() {
            Some(shared) => shared,
            None => {
                let runtime = Runtime::new(runtime_options(&places, &options.helper, on_compile))?;
                let demos = wishes.demos;
                let start = match wishes.enabled_check {
                    EnabledCheck::IfCompiled => PluginStart::Leaving(&mut later),
                    EnabledCheck::Skip | EnabledCheck::All => PluginStart::Compiling,
                };
                let opening =
                    open_tools(&runtime, &options, &settings, demos, start, &mut problems);
                let tools = opening.await?;
                (runtime, tools)
            }
        };

        let mut closed = Closed {
            only,
            ..own_files(&places)
        };
        let results = match &wishes.session_folder {
            Some(folder) => {
                closed.readable.push(real_path(&folder.join(RESULTS)));
                let (results, told) = Results::open(folder);
                problems.extend(told);
                results
            }
            None => Results::in_memory(),
        };
        let tasks = match tasks_folder(
            wishes.session_folder.as_deref(),
            &wishes.session_id,
            &places,
        ) {
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
        let (pool, told) = assemble(tools.clone(), &options, &policy, wishes.enabled_check).await;
        problems.extend(told);
        let pool = Arc::new(pool);

        let events = Arc::new(match wishes.is_logged {
            true => Events::and_log(open_log(&options.origins, &wishes, &settings)?),
            false => Events::default(),
        });
        let session = Arc::new(session);
        let tasks = Arc::new(tasks);
        let cage_setting = CageSetting {
            roots: roots.clone(),
            home: places.home.clone(),
            own: vec![
                places.state.clone(),
                places.cache.clone(),
                places.data.clone(),
            ],
            helper: options.helper.clone(),
            sandbox: settings.sandbox.clone(),
            move_after: settings.sandbox.patience().filter(|_| wishes.goes_on),
            environment: process.variables().to_vec(),
        };
        let inventory = match options.simple {
            true => Inventory::default(),
            false => Inventory::take(&Sources {
                cwd: &cwd,
                places: &places,
                process: &process,
                settings: &settings,
                given: &options.mcp_config,
                trust_project: options.origins.given.trust_project,
            })?,
        };
        problems.extend(inventory.problems);
        let late_dispatch = servers::LateDispatch::default();
        let servers = Servers::new(
            inventory.configs,
            Surroundings {
                launcher: Arc::new(
                    CagedServers::new(
                        cage_setting.clone(),
                        cwd.clone(),
                        Packages::new(places.packages()),
                    )
                    .telling(wishes.working.take())
                    .pinned(inventory.pins)
                    .ruled(late_dispatch.rules(policy.path_rules().clone())),
                ),
                memory: Arc::new(ToolMemory::new(&places.state)),
                asker: Some(wishes.asker.take().unwrap_or_else(|| {
                    let (approver, user) = (wishes.approver.clone(), wishes.ask_user.clone());
                    Arc::new(AskPerson::new(approver, user))
                })),
                roots: roots.clone(),
                keyring: Some(servers::keyring(&places, &process, &cwd)),
                departures: wishes.departures.clone(),
                sampler: wishes.sampler.take(),
            },
        );
        let servers = Arc::new(servers);
        let caged = Arc::new(Caged::new(cage_setting, tasks.clone()));
        if wishes.needs_cage {
            let caged = caged.clone();
            tokio::spawn(async move { caged.warm().await });
        }
        let some_servers = (!servers.is_empty()).then(|| servers.clone());
        let environment = CallEnvironment {
            roots: roots.clone().into(),
            working_directory: cwd.clone(),
            path_rules: RulesNow::fixed(policy.path_rules().clone()),
            nested: None,
            session: session.clone(),
            powers: Powers {
                ask_user: wishes.ask_user,
                shell: Some(caged.clone()),
                tasks: Some(tasks),
                tools: Some(pool.clone()),
                resources: some_servers
                    .clone()
                    .map(|servers| servers as Arc<dyn Resources>),
                skills: some_servers.map(|servers| servers as Arc<dyn Skills>),
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
                let judge = Described::new(settings, cwd.clone(), process.hook_environment(&roots));
                Arc::new(judge) as Arc<dyn Classifier>
            }),
            environment,
            approver: wishes.approver,
            hooks: settings.hooks.clone(),
            hook_setting: HookSetting {
                session_id: wishes.session_id,
                environment: process.hook_environment(&roots),
                cage: Some(Arc::new(CagedHooks::new(caged))),
            },
            results,
        });
        let dispatch = Arc::new(dispatch);
        late_dispatch.is(&dispatch);
        let late = Arc::new(LatePlugins::expecting(&later));
        if !servers.is_empty() || !inventory.others.is_empty() || !later.is_empty() {
            servers::attach(&servers, &inventory.others, &late, &dispatch);
            match wishes.connect {
                Connect::OnDemand => {}
                Connect::Beside => {
                    let servers = servers.clone();
                    tokio::spawn(async move { servers.connect_all().await });
                }
                Connect::First => servers.connect_all().await,
            }
        }
        if wishes.enabled_check == EnabledCheck::IfCompiled {
            let news = servers::news(&servers, &late, &dispatch);
            let others = tools
                .iter()
                .filter(|tool| tool.trust() == Trust::ThirdParty);
            let (with, others) = (
                (runtime.clone(), settings.clone()),
                others.cloned().collect(),
            );
            tokio::spawn(open_late(
                with,
                later,
                others,
                late,
                news,
                wishes.say.clone(),
            ));
        }
        Ok(Self {
            runtime,
            dispatch,
            session,
            events,
            settings,
            roots,
            tools,
            servers,
            other_servers: inventory.others,
            problems,
        })
    }
}

/// Where the session keeps the output of its tasks; none for one without a name, which runs none.
fn tasks_folder(session: Option<&Path>, name: &str, places: &Places) -> Option<PathBuf> {
    let session = match session {
        Some(folder) => folder.to_path_buf(),
        None if name.is_empty() => return None,
        None => places.state.join("sessions").join(name),
    };
    Some(session.join(TASKS))
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
fn open_log(origins: &Origins, wishes: &Wishes, settings: &Settings) -> anyhow::Result<Log> {
    let places = &origins.places;
    let actor = Actor {
        uid: rustix::process::getuid().as_raw(),
        user: origins.process.user_name(),
    };
    let mut options = Options::new(places.audit_log(), &wishes.session_id, actor);
    options.key = Some(Key::open(&places.audit_key())?);
    options.anchor = Some(places.audit_anchor());
    options.on_full = settings.on_full.unwrap_or_default();
    options.rotation = settings.rotation.unwrap_or_default();
    let say = wishes.say.clone();
    options.on_trouble = Arc::new(move |trouble| say(&format!("the audit log: {trouble}")));
    Log::open(options).context("the audit log")
}

fn roots(cwd: &Path, options: &BayOptions, settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let mut roots = vec![cwd.to_path_buf()];
    let more = options
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

/// Takes folders in the place of the roots, each of which must lie inside one. The session works
/// in the first, unless the folder where it began is still among them.
fn narrow(roots: &mut Vec<PathBuf>, cwd: &mut PathBuf, within: Vec<PathBuf>) -> anyhow::Result<()> {
    for folder in &within {
        if !roots.iter().any(|root| folder.starts_with(root)) {
            bail!("{} is outside of what was granted", folder.display());
        }
    }
    let Some(first) = within.first() else {
        bail!("no folder is left");
    };
    if !within.iter().any(|folder| cwd.starts_with(folder)) {
        *cwd = first.clone();
    }
    *roots = within;
    Ok(())
}
