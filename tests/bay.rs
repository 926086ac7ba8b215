//! A bay for tests: a temporary project, a runtime, and whatever tools a test
//! brings.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use toolbay::PLUGINS;
use toolbay::caged::{CageSetting, Caged, Helper, Sandbox, TaskTable};
use toolbay::events::Events;
use toolbay_contract::{
    AllGranted, AuditEvent, CallEnvironment, Failure, Grants, KillSwitch, Origin, Powers, Progress,
    RulesNow, Session, Shell, Tasks, Tool, ToolUse,
};
use toolbay_dispatch::hooks::Hooks;
use toolbay_dispatch::{
    Answer, Approver, Dispatch, HookSetting, PermissionQuestion, Pool, PoolSetting, Results,
    Rulebook, Setting, ToolResult,
};
use toolbay_policy::{Anchors, Closed, Mode, Policy, Rule, Rules, Trust};
use toolbay_runtime::{Limits, Plugin, Runtime, RuntimeOptions, Source};

/// Says the same to every question.
pub struct Always(pub Answer);

impl Approver for Always {
    fn ask(&self, _question: PermissionQuestion) -> toolbay_contract::BoxFuture<'_, Answer> {
        let answer = self.0.clone();
        Box::pin(async move { answer })
    }
}

/// What a test's bay is made from.
pub struct TestBay {
    project: TempDir,
    runtime: Runtime,
    rules: [Vec<String>; 3],
    approver: Arc<dyn Approver>,
    mode: Mode,
    grants: Arc<dyn Grants>,
    limits: Limits,
    has_cages: bool,
    more_roots: Vec<PathBuf>,
    tools: Vec<Arc<Plugin>>,
    problems: Vec<Failure>,
}

/// A bay that runs calls.
pub struct Running {
    pub dispatch: Arc<Dispatch>,
    pub runtime: Runtime,
    pub session: Arc<Session>,
    pub events: Arc<Events>,
    pub progress: Arc<Mutex<Vec<Progress>>>,
    pub kill: KillSwitch,
    pub tools: Vec<Arc<Plugin>>,
    root: PathBuf,
    _project: TempDir,
}

/// One runtime for all tests of a process that do not shut it down: its cache
/// spares compiling the same guest again and again.
pub fn shared_runtime() -> Runtime {
    static SHARED: std::sync::OnceLock<Runtime> = std::sync::OnceLock::new();
    SHARED.get_or_init(own_runtime).clone()
}

/// A runtime that no other test uses, for those who shut it down or count its
/// slots. What it compiles goes into the cache that all of them share.
pub fn own_runtime() -> Runtime {
    let target = Path::new(env!("OUT_DIR"));
    Runtime::new(RuntimeOptions {
        cache: Some((target.join("cache/compiled"), target.join("cache/state"))),
        ..RuntimeOptions::default()
    })
    .unwrap()
}

impl Default for TestBay {
    fn default() -> Self {
        Self::new()
    }
}

fn cages(roots: &[PathBuf]) -> (Arc<dyn Shell>, Arc<dyn Tasks>) {
    let tasks = Arc::new(TaskTable::default());
    let setting = CageSetting {
        roots: roots.to_vec(),
        home: None,
        own: Vec::new(),
        helper: Helper::At(crate::program()),
        sandbox: Sandbox::default(),
        move_after: None,
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    (Arc::new(Caged::new(setting, tasks.clone())), tasks)
}

impl TestBay {
    pub fn new() -> Self {
        Self::with_runtime(shared_runtime())
    }

    pub fn with_runtime(runtime: Runtime) -> Self {
        Self {
            project: tempfile::tempdir().unwrap(),
            runtime,
            rules: Default::default(),
            approver: Arc::new(Always(Answer::No {
                reason: "the test says no".into(),
            })),
            mode: Mode::Default,
            grants: Arc::new(AllGranted),
            limits: Limits::default(),
            has_cages: false,
            more_roots: Vec::new(),
            tools: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The project's folder, real.
    pub fn root(&self) -> PathBuf {
        self.project.path().canonicalize().unwrap()
    }

    /// Writes a file of the project.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn allow(mut self, rule: &str) -> Self {
        self.rules[0].push(rule.into());
        self
    }

    pub fn ask(mut self, rule: &str) -> Self {
        self.rules[1].push(rule.into());
        self
    }

    pub fn deny(mut self, rule: &str) -> Self {
        self.rules[2].push(rule.into());
        self
    }

    /// Who is asked.
    pub fn asks(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// What guests that are added after this have been granted; by default everything.
    pub fn grants(mut self, grants: impl Grants + 'static) -> Self {
        self.grants = Arc::new(grants);
        self
    }

    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Somebody who runs commands, in cages that the real program builds.
    pub fn with_cages(mut self) -> Self {
        self.has_cages = true;
        self
    }

    /// Everybody who is asked says yes.
    pub fn says_yes(mut self) -> Self {
        self.approver = Arc::new(Always(Answer::Yes));
        self
    }

    /// Limits of the guests added after this.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn root_also(mut self, path: PathBuf) -> Self {
        self.more_roots.push(path);
        self
    }

    /// Adds a guest as a third-party tool. One that cannot be opened is kept for
    /// [`TestBay::problems`].
    pub async fn guest(self, bytes: &'static [u8]) -> Self {
        self.bytes(bytes.into()).await
    }

    pub async fn bytes(mut self, bytes: Arc<[u8]>) -> Self {
        let opened = Plugin::open(
            &self.runtime,
            Source::Bytes(bytes),
            Origin::File("guest.wasm".into()),
            Trust::ThirdParty,
            self.limits,
        )
        .await;
        match opened {
            Ok(plugin) => {
                let plugin = plugin.with_grants(self.grants.clone());
                self.tools.push(Arc::new(plugin));
            }
            Err(failure) => self.problems.push(failure),
        }
        self
    }

    /// Adds every built-in plugin.
    pub async fn builtins(mut self) -> Self {
        for builtin in PLUGINS {
            let source = Source::Embedded {
                bytes: builtin.bytes,
                digest: builtin.digest,
            };
            let plugin = Plugin::open(
                &self.runtime,
                source,
                Origin::BuiltIn,
                Trust::BuiltIn,
                self.limits,
            )
            .await
            .unwrap();
            self.tools.push(Arc::new(plugin));
        }
        self
    }

    pub fn runtime(&self) -> Runtime {
        self.runtime.clone()
    }

    /// Why guests could not be opened.
    pub fn problems(&self) -> &[Failure] {
        &self.problems
    }

    /// Starts the bay with its tools compiled, for tests that mind how long a call
    /// takes. One test at a time compiles, so that the others find the result in the
    /// cache.
    pub async fn ready(self) -> Running {
        static COMPILING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let running = self.start();
        let _one_at_a_time = COMPILING.lock().await;
        for tool in &running.tools {
            // A tool that cannot be used says so again when it is called.
            let _ = tool.is_enabled().await;
        }
        running
    }

    pub fn start(self) -> Running {
        assert!(self.problems.is_empty(), "{:?}", self.problems);
        let root = self.root();
        let anchors = Anchors {
            home: None,
            cwd: root.clone(),
            settings: root.clone(),
        };
        let [allow, ask, deny] = self.rules.map(|texts| {
            texts
                .iter()
                .map(|text| Rule::parse(text, &anchors).unwrap())
                .collect::<Vec<_>>()
        });
        let mut roots = vec![root.clone()];
        roots.extend(self.more_roots);
        let policy = Policy::new(
            Rules { deny, ask, allow },
            roots.clone(),
            &Closed::default(),
        )
        .with_mode(self.mode);
        let events = Arc::new(Events::default());
        let session = Arc::new(Session::new(7));
        let progress = Arc::new(Mutex::new(Vec::new()));
        let seen = progress.clone();
        let kill = KillSwitch::new();
        let tools = self.tools.iter().map(|tool| tool.clone() as Arc<dyn Tool>);
        let pool = pool_of(tools.collect());
        let (shell, tasks) = match self.has_cages {
            true => {
                let (shell, tasks) = cages(&roots);
                (Some(shell), Some(tasks))
            }
            false => (None, None),
        };
        let environment = CallEnvironment {
            roots: roots.into(),
            working_directory: root.clone(),
            path_rules: RulesNow::fixed(policy.path_rules().clone()),
            nested: None,
            session: session.clone(),
            powers: Powers {
                tools: Some(pool.clone()),
                shell,
                tasks,
                ..Powers::default()
            },
            audit: events.clone(),
            progress: Arc::new(move |_, progress| seen.lock().unwrap().push(progress)),
            kill: kill.clone(),
        };
        Running {
            dispatch: Arc::new(Dispatch::new(Setting {
                pool,
                rulebook: Rulebook::unchanging(policy),
                classifier: None,
                environment,
                approver: self.approver,
                hooks: Hooks::default(),
                hook_setting: HookSetting::default(),
                results: Results::in_memory(),
            })),
            runtime: self.runtime,
            session,
            events,
            progress,
            kill,
            tools: self.tools,
            root,
            _project: self.project,
        }
    }
}

impl Running {
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Calls a tool.
    pub async fn call(&self, name: &str, input: Value) -> ToolResult {
        self.call_with(name, input, self.kill.below()).await
    }

    /// Calls a tool with a switch of the test's own.
    pub async fn call_with(&self, name: &str, input: Value, kill: KillSwitch) -> ToolResult {
        let block = ToolUse {
            id: "test_call".into(),
            name: name.into(),
            input,
        };
        self.dispatch.run(block, kill).await
    }

    /// Powers that were refused so far, with the path if there was one.
    pub fn refusals(&self) -> Vec<(String, Option<PathBuf>)> {
        self.events
            .take()
            .into_iter()
            .filter_map(|event| match event {
                AuditEvent::PowerRefused { power, path, .. } => Some((power, path)),
                _ => None,
            })
            .collect()
    }

    /// Every file and folder of the project with its content, to compare before and
    /// after.
    pub fn snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        snapshot(&self.root)
    }
}

/// A pool of all these tools.
pub fn pool_of(tools: Vec<Arc<dyn Tool>>) -> Arc<Pool> {
    let setting = PoolSetting {
        only: None,
        denied: &|_| false,
        enabled: &|_| true,
    };
    let (pool, problems) = Pool::assemble(tools, &setting);
    assert_eq!(problems, Vec::<String>::new());
    Arc::new(pool)
}

/// Every file and folder below a folder, in order, with contents and link targets.
pub fn snapshot(root: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if metadata.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                all.push((name, Some(target.to_string_lossy().as_bytes().to_vec())));
            } else if metadata.is_dir() {
                all.push((name, None));
                open.push(path);
            } else if metadata.is_file() {
                all.push((name, Some(std::fs::read(&path).unwrap())));
            } else {
                all.push((name, None));
            }
        }
    }
    all.sort();
    all
}
