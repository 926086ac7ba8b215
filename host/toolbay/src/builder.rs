//! The front door: what sessions share, sessions, and turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;
use toolbay_contract::{KillSwitch, Tool, ToolUse};
use toolbay_dispatch::{
    Approver, Event, Events as TurnEvents, Executor, Nobody, ToolResult, TurnSetting,
};
use toolbay_mcp::client::Departures;
use toolbay_policy::Mode;
use toolbay_runtime::Runtime;
use toolbay_sandbox::cage::Helper;

use crate::compiler::runtime_options;
use crate::compose::{Bay, BayOptions, EnabledCheck, Ingredients, PluginStart, Wishes, open_tools};
use crate::places::Places;
use crate::process::ProcessContext;
use crate::session_file::{SessionFile, fresh, new_name};
use crate::settings::{CommandLine, Origins, Say};

/// Why a [`Toolbay`] or one of its sessions does not open.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("no workspace is given: `Toolbay::builder().workspace(FOLDER)` says where tools work")]
    NoWorkspace,
    #[error("no places are given: `Toolbay::builder().places(PLACES)` says where state is kept")]
    NoPlaces,
    #[error("the workspace {}: {source}", path.display())]
    Workspace {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Settings that cannot be read or mean nothing; the text names the file and the place in it.
    #[error("{0:#}")]
    Settings(anyhow::Error),
    #[error("the engine: {0:#}")]
    Engine(anyhow::Error),
    #[error("{0:#}")]
    Session(anyhow::Error),
}

/// Tools, an engine and settings, shared by sessions. Several with different rules live in one process.
///
/// ```no_run
/// use serde_json::json;
/// use toolbay::{Places, ProcessContext, Toolbay};
///
/// # async fn example() -> Result<(), toolbay::OpenError> {
/// let bay = Toolbay::builder()
///     .workspace("/home/me/project")
///     .places(Places::in_folder("/var/lib/my-agent"))
///     .process(ProcessContext::new(std::env::vars_os()))
///     .deny("Read(.env)")
///     .build()
///     .await?;
/// let session = bay.session().open().await?;
/// let result = session.call("Read", json!({"file_path": "Cargo.toml"})).await;
/// assert!(!result.is_error);
/// # Ok(())
/// # }
/// ```
pub struct Toolbay {
    options: BayOptions,
    runtime: Runtime,
    tools: Vec<Arc<dyn Tool>>,
    approver: Arc<dyn Approver>,
    say: Say,
    departures: Departures,
    problems: Vec<String>,
}

/// What a [`Toolbay`] is made from.
#[derive(Default)]
pub struct ToolbayBuilder {
    workspace: Option<PathBuf>,
    places: Option<Places>,
    process: ProcessContext,
    given: CommandLine,
    folders: Vec<PathBuf>,
    plugins: Vec<PathBuf>,
    servers: Vec<String>,
    helper: Helper,
    approver: Option<Arc<dyn Approver>>,
    say: Option<Say>,
}

impl ToolbayBuilder {
    /// The folder that tools work in, and the first one that they see. Its settings count as those of a
    /// project do.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Another folder that tools may see.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Where settings, state and caches are kept.
    #[must_use]
    pub fn places(mut self, places: Places) -> Self {
        self.places = Some(places);
        self
    }

    /// What hooks, commands and servers learn of this process; nothing unless it is given.
    #[must_use]
    pub fn process(mut self, process: ProcessContext) -> Self {
        self.process = process;
        self
    }

    /// A third-party tool: a `.wasm` file, or a folder of them.
    #[must_use]
    pub fn plugin(mut self, file: impl Into<PathBuf>) -> Self {
        self.plugins.push(file.into());
        self
    }

    /// Further MCP servers: a file like `.mcp.json`, or its content.
    #[must_use]
    pub fn mcp_servers(mut self, config: impl Into<String>) -> Self {
        self.servers.push(config.into());
        self
    }

    /// Allows what a rule covers, such as `Name` or `Name(./src/**)`.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<String>) -> Self {
        self.given.allow.push(rule.into());
        self
    }

    /// Asks about what a rule covers, whatever else allows it.
    #[must_use]
    pub fn ask(mut self, rule: impl Into<String>) -> Self {
        self.given.ask.push(rule.into());
        self
    }

    /// Denies what a rule covers, whatever else allows it.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<String>) -> Self {
        self.given.deny.push(rule.into());
        self
    }

    /// Grants a third-party tool what it requests: `Name`, or `Name=files,shell` for some of it.
    #[must_use]
    pub fn grant(mut self, grant: impl Into<String>) -> Self {
        self.given.grant.push(grant.into());
        self
    }

    /// How what no rule decides is treated.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.given.mode = Some(mode);
        self
    }

    /// One more settings file, stronger than the user's and the project's.
    #[must_use]
    pub fn settings_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.given.settings = Some(file.into());
        self
    }

    /// Who answers questions about calls. Without anybody they are denied.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Told when something is wrong with settings or the audit log while a session runs.
    #[must_use]
    pub fn warnings(mut self, say: Say) -> Self {
        self.say = Some(say);
        self
    }

    /// The program that builds cages and compiles components, where it is not this one: `toolbay` itself
    /// is one. For this one, `main` begins with
    /// [`become_helper_if_asked`](crate::become_helper_if_asked), before there are threads.
    #[must_use]
    pub fn helper_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.helper = Helper::At(program.into());
        self
    }

    /// Reads the settings and opens the tools. A plugin that cannot be used is among the
    /// [`problems`](Toolbay::problems), not an error.
    pub async fn build(self) -> Result<Toolbay, OpenError> {
        let path = self.workspace.ok_or(OpenError::NoWorkspace)?;
        let places = self.places.ok_or(OpenError::NoPlaces)?;
        let cwd = path
            .canonicalize()
            .and_then(|real| match real.is_dir() {
                true => Ok(real),
                false => Err(std::io::ErrorKind::NotADirectory.into()),
            })
            .map_err(|source| OpenError::Workspace { path, source })?;
        let options = BayOptions {
            origins: Origins {
                cwd,
                places,
                process: self.process,
                given: self.given,
            },
            add_dirs: self.folders,
            plugins: self.plugins,
            mcp_config: self.servers,
            simple: false,
            helper: self.helper,
        };
        let settings = options.origins.load().map_err(OpenError::Settings)?;
        let engine = runtime_options(&options.origins.places, &options.helper, None);
        let runtime = Runtime::new(engine).map_err(|error| OpenError::Engine(error.into()))?;
        let mut problems = settings.problems.clone();
        let start = PluginStart::Compiling;
        let opening = open_tools(&runtime, &options, &settings, false, start, &mut problems);
        let tools = opening.await.map_err(OpenError::Engine)?;
        Ok(Toolbay {
            options,
            runtime,
            tools,
            approver: self.approver.unwrap_or_else(|| Arc::new(Nobody)),
            say: self.say.unwrap_or_else(|| Wishes::default().say),
            departures: Departures::new(),
            problems,
        })
    }
}

impl Toolbay {
    pub fn builder() -> ToolbayBuilder {
        ToolbayBuilder::default()
    }

    /// The folder that tools work in, real.
    pub fn workspace(&self) -> &Path {
        &self.options.origins.cwd
    }

    /// What of the settings and plugins could not be used, and why.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// A conversation of its own: what was read, which rules were given, which tasks run.
    pub fn session(&self) -> SessionBuilder<'_> {
        SessionBuilder {
            bay: self,
            name: None,
            approver: None,
            kill: KillSwitch::new(),
        }
    }

    /// Ends the connections to MCP servers of all sessions: they are told, and get a moment.
    pub async fn close(&self, patience: std::time::Duration) {
        self.departures.all(patience).await;
    }
}

/// What one session is made from.
pub struct SessionBuilder<'a> {
    bay: &'a Toolbay,
    name: Option<String>,
    approver: Option<Arc<dyn Approver>>,
    kill: KillSwitch,
}

impl SessionBuilder<'_> {
    /// Keeps what tools remember under this name, or takes it up again.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Another one for this session.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Ends all calls of the session when it is thrown.
    #[must_use]
    pub fn kill_switch(mut self, kill: KillSwitch) -> Self {
        self.kill = kill;
        self
    }

    pub async fn open(self) -> Result<ToolSession, OpenError> {
        let Self {
            bay,
            name,
            approver,
            kill,
        } = self;
        let state = &bay.options.origins.places.state;
        let file = name.as_ref().map(|name| SessionFile::new(state, name));
        let file = file.transpose().map_err(OpenError::Session)?;
        let session = file.as_ref().map_or_else(fresh, SessionFile::load);
        let session_id = name.map_or_else(new_name, Ok);
        let wishes = Wishes {
            approver: approver.unwrap_or_else(|| bay.approver.clone()),
            session_id: session_id.map_err(OpenError::Session)?,
            is_logged: true,
            session_folder: file.as_ref().map(|file| file.folder().to_owned()),
            say: bay.say.clone(),
            departures: bay.departures.clone(),
            enabled_check: EnabledCheck::All,
            shared: Some((bay.runtime.clone(), bay.tools.clone())),
            goes_on: true,
            ..Wishes::default()
        };
        let opened = Bay::open(Ingredients {
            options: bay.options.clone(),
            session: session.map_err(OpenError::Session)?,
            on_compile: None,
            kill: kill.clone(),
            wishes,
        });
        let bay = opened.await.map_err(OpenError::Session)?;
        Ok(ToolSession { bay, file, kill })
    }
}

/// An open session.
pub struct ToolSession {
    bay: Bay,
    file: Option<SessionFile>,
    kill: KillSwitch,
}

impl ToolSession {
    /// All parts of the session.
    pub fn parts(&self) -> &Bay {
        &self.bay
    }

    /// Runs one call to its result. A failure is a result as well.
    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        let call = ToolUse {
            id: "call_1".into(),
            name: tool.into(),
            input,
        };
        let result = self.bay.dispatch.run(call, self.kill.below()).await;
        self.keep();
        result
    }

    /// Begins a turn: calls run as they come, beside each other where they may.
    pub fn turn(&self) -> SessionTurn<'_> {
        let dispatch = self.bay.dispatch.clone();
        let kill = self.kill.below();
        let (executor, events) = Executor::start(dispatch, TurnSetting::default(), kill);
        SessionTurn {
            session: self,
            executor,
            events,
        }
    }

    /// Writes down what a named session remembers.
    fn keep(&self) {
        let kept = self.file.iter().map(|file| file.save(&self.bay.session));
        for trouble in kept.filter_map(Result::err) {
            tracing::warn!("the session could not be kept: {trouble:#}");
        }
    }
}

/// A turn that is running.
pub struct SessionTurn<'a> {
    session: &'a ToolSession,
    executor: Executor,
    events: TurnEvents,
}

impl SessionTurn<'_> {
    /// The model has made a call; it starts as soon as it may.
    pub fn push(&mut self, call: ToolUse) {
        self.executor.add(call);
    }

    /// Nothing starts any more, and what can be cancelled is.
    pub fn interrupt(&self) {
        self.executor.interrupt();
    }

    /// What happens next: starts and progress at once, results in call order. None after
    /// [`Event::Over`].
    pub async fn event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The model has made its last call: the results that [`event`](Self::event) has not told yet.
    pub async fn finish(mut self) -> Vec<ToolResult> {
        self.executor.close();
        let mut results = Vec::new();
        while let Some(event) = self.events.recv().await {
            match event {
                Event::Result(result) => results.push(*result),
                Event::Started { .. } | Event::Progress { .. } => {}
                Event::Over { .. } => break,
            }
        }
        self.session.keep();
        results
    }
}
