//! A session's calls: what they share, and the ways in.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use toolbay_contract::{
    CallEnvironment, KillSwitch, Modifier, ProgressSink, RulesNow, SeenFile, Session, Tool, ToolUse,
};
use toolbay_policy::{Claims, Mode, Trust};

use crate::approve::{Approver, RuleScope};
use crate::begin::Begin;
use crate::classify::Classifier;
use crate::denials::Denials;
use crate::executor::Manners;
use crate::gate::Gate;
use crate::hooks::{After, Before, Ending, HookCage, HookedCall, Hooks};
use crate::lifecycle::{Ticket, live};
use crate::nested::Decider;
use crate::pool::Pool;
use crate::result::ToolResult;
use crate::results::Results;
use crate::rulebook::Rulebook;
use crate::subjects::real_path;
use crate::watch::Watch;

/// What a dispatch is made of.
pub struct Setting {
    pub pool: Arc<Pool>,
    pub rulebook: Rulebook,
    pub environment: CallEnvironment,
    pub approver: Arc<dyn Approver>,
    pub classifier: Option<Arc<dyn Classifier>>,
    pub hooks: Hooks,
    pub hook_setting: HookSetting,
    pub results: Results,
}

/// What hooks are told of the session.
#[derive(Debug, Clone, Default)]
pub struct HookSetting {
    pub session_id: String,
    /// The variables that they see.
    pub environment: Vec<(OsString, OsString)>,
    /// For those that are to run in a cage; without one they fail.
    pub cage: Option<Arc<dyn HookCage>>,
}

/// Runs calls of one session.
pub struct Dispatch {
    pool: Arc<Pool>,
    rulebook: Arc<Rulebook>,
    environment: CallEnvironment,
    approver: Arc<dyn Approver>,
    classifier: Option<Arc<dyn Classifier>>,
    hooks: Hooks,
    hook_setting: HookSetting,
    results: Results,
    denials: Denials,
    watch: Watch,
    working_directory: RwLock<PathBuf>,
    /// Calls that may run beside others share it, the rest hold it alone: also
    /// across turns that run at the same time.
    gate: Gate,
}

impl Dispatch {
    /// Takes up the session where it was left.
    pub fn new(setting: Setting) -> Self {
        let session = setting.environment.session.clone();
        setting.pool.load(&session.loaded());
        let rulebook = Arc::new(setting.rulebook);
        let mut environment = setting.environment;
        environment.path_rules = {
            let rulebook = rulebook.clone();
            RulesNow::looking(move || rulebook.in_force().path_rules().clone())
        };
        environment.nested = Some(Arc::new(Decider {
            rulebook: rulebook.clone(),
            approver: setting.approver.clone(),
            classifier: setting.classifier.clone(),
            hooks: setting.hooks.clone(),
            hook_setting: setting.hook_setting.clone(),
            audit: environment.audit.clone(),
            shell: environment.powers.shell.clone(),
            project: environment.working_directory.clone(),
        }));
        let dispatch = Self {
            working_directory: RwLock::new(environment.working_directory.clone()),
            pool: setting.pool,
            rulebook,
            environment,
            approver: setting.approver,
            classifier: setting.classifier,
            hooks: setting.hooks,
            hook_setting: setting.hook_setting,
            results: setting.results,
            denials: Denials::default(),
            watch: Watch::default(),
            gate: Gate::default(),
        };
        if let Some(path) = session.working_directory() {
            dispatch.change_directory(&path.to_string_lossy());
        }
        if let Some(word) = session.mode() {
            dispatch.change_mode(&word);
        }
        dispatch
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    pub fn results(&self) -> &Results {
        &self.results
    }

    pub fn session(&self) -> &Session {
        &self.environment.session
    }

    /// The folder in which calls work now.
    pub fn working_directory(&self) -> PathBuf {
        self.working_directory
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Runs one call to its result, and does what it asks of the session.
    pub async fn run(&self, block: ToolUse, kill: KillSwitch) -> ToolResult {
        let result = self.live(block, kill, None, Begin::default()).await;
        if let Some(outcome) = &result.outcome {
            self.apply(&outcome.modifiers);
        }
        result
    }

    /// Runs something that is no tool of the pool like one: what a server offers to be read, for
    /// whoever may ask for it. The same stages, rules, hooks and log; only the name need not be
    /// looked up.
    pub async fn run_beside(
        &self,
        tool: Arc<dyn Tool>,
        block: ToolUse,
        kill: KillSwitch,
    ) -> ToolResult {
        let begin = Begin::default();
        self.live_with(Some(tool), block, kill, None, begin).await
    }

    /// Lets other calls run while this one waits for an answer that may never come.
    pub fn pause(&self, call_id: &str) {
        self.gate.pause(call_id);
    }

    /// Waits for the turn of a call that was paused.
    pub async fn resume(&self, call_id: &str) {
        self.gate.resume(call_id).await;
    }

    /// Runs one call to its result and leaves the session alone.
    pub(crate) async fn live(
        &self,
        block: ToolUse,
        kill: KillSwitch,
        progress: Option<ProgressSink>,
        begin: Begin,
    ) -> ToolResult {
        self.live_with(None, block, kill, progress, begin).await
    }

    async fn live_with(
        &self,
        given: Option<Arc<dyn Tool>>,
        block: ToolUse,
        kill: KillSwitch,
        progress: Option<ProgressSink>,
        begin: Begin,
    ) -> ToolResult {
        let policy = self.rulebook.current();
        let mut environment = CallEnvironment {
            kill,
            working_directory: self.working_directory(),
            ..self.environment.clone()
        };
        if let Some(progress) = progress {
            environment.progress = progress;
        }
        live(self, given, block, environment, policy, begin).await
    }

    /// How a call wants to be scheduled. A claim counts where it is enforced: a call
    /// that cannot write disturbs nobody; a claim to write safely is believed of
    /// built-ins alone. What cannot be understood runs alone.
    pub(crate) async fn manners(&self, block: &ToolUse) -> Manners {
        let Some(found) = self.pool.find(&block.name) else {
            return Manners::STRICT;
        };
        let info = found.tool.info();
        let strict = Manners {
            on_interrupt: info.interrupt,
            on_error: info.error,
            ..Manners::STRICT
        };
        let schema = found.schema.ready().await;
        let Ok(schema) = &*schema else {
            return strict;
        };
        let Ok(shaped) = schema.shape(block.input.clone()) else {
            return strict;
        };
        let input: Arc<str> = shaped.value.to_string().into();
        match found.tool.claims(&input).await {
            Ok(claims) => Manners {
                shared: is_shared(claims, found.tool.trust()),
                ..strict
            },
            Err(_) => strict,
        }
    }

    /// Whether the call may run beside others.
    pub async fn runs_beside_others(&self, block: &ToolUse) -> bool {
        self.manners(block).await.shared
    }

    /// Does what a call asks of the session.
    pub(crate) fn apply(&self, modifiers: &[Modifier]) {
        for modifier in modifiers {
            match modifier {
                Modifier::FileSeen(seen) => {
                    let file = SeenFile {
                        digest: seen.digest.clone(),
                        whole: seen.whole,
                        shown: seen.shown.clone(),
                    };
                    let path = PathBuf::from(&seen.path);
                    self.watch.saw(&path);
                    self.environment.session.note_seen(path, file);
                }
                Modifier::WorkingDirectory(path) => self.change_directory(path),
                Modifier::LoadTools(names) => {
                    self.pool.load(names);
                    self.environment.session.note_loaded(self.pool.loaded());
                }
                Modifier::PermissionMode(word) => self.change_mode(word),
                Modifier::AllowRule(rule) => {
                    if let Err(error) = self
                        .rulebook
                        .allow(std::slice::from_ref(rule), RuleScope::Session)
                    {
                        tracing::warn!(rule, error, "a tool's wish for a rule was dropped");
                    }
                }
                // Its consumers come with the parts that own it.
                Modifier::Custom { .. } => {}
            }
        }
    }

    /// What hooks say before a call.
    pub(crate) async fn before(&self, ticket: &Ticket, tool: &dyn Tool, input: &Value) -> Before {
        if self.hooks.is_empty() {
            return Before::default();
        }
        let call = self.hooked_call(ticket, tool, input);
        self.hooks.before(&call).await
    }

    /// What hooks say about the input that will run, of which they know another form.
    pub(crate) async fn before_again(
        &self,
        ticket: &Ticket,
        tool: &dyn Tool,
        input: &Value,
        first: &Before,
    ) -> Before {
        let call = self.hooked_call(ticket, tool, input);
        self.hooks.again(&call, first).await
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// What hooks say after a call. How it ended is put into words for hooks alone.
    pub(crate) async fn after(
        &self,
        ticket: &Ticket,
        tool: &dyn Tool,
        input: &Value,
        ending: impl FnOnce() -> Ending,
    ) -> After {
        if self.hooks.is_empty() {
            return After::default();
        }
        let call = self.hooked_call(ticket, tool, input);
        self.hooks.after(&call, &ending()).await
    }

    /// The call as hooks see it.
    fn hooked_call(&self, ticket: &Ticket, tool: &dyn Tool, input: &Value) -> HookedCall {
        let HookSetting {
            session_id,
            environment,
            cage,
        } = self.hook_setting.clone();
        HookedCall {
            session_id,
            transcript: String::new(),
            cwd: ticket.environment.working_directory.clone(),
            project: self.environment.working_directory.clone(),
            permission_mode: ticket.policy.mode().word().to_owned(),
            environment,
            tool: tool.info().name.clone(),
            aliases: tool.info().aliases.clone(),
            call_id: ticket.id.clone(),
            input: input.clone(),
            kill: ticket.environment.kill.clone(),
            cage,
            path_rules: ticket.environment.path_rules.get(),
        }
    }

    /// The rules and the mode, which may change.
    pub fn rulebook(&self) -> &Rulebook {
        &self.rulebook
    }

    pub(crate) fn classifier(&self) -> Option<&dyn Classifier> {
        self.classifier.as_deref()
    }

    pub(crate) fn approver(&self) -> &dyn Approver {
        &*self.approver
    }

    pub(crate) fn denials(&self) -> &Denials {
        &self.denials
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    fn change_mode(&self, word: &str) {
        let entered = match Mode::parse(word) {
            Some(mode) => self.rulebook.enter(mode),
            None => Err("there is no such mode".into()),
        };
        match entered {
            Ok(()) => self.environment.session.note_mode(word.to_owned()),
            Err(error) => {
                tracing::warn!(mode = word, error, "a tool's wish for a mode was dropped")
            }
        }
    }

    fn change_directory(&self, path: &str) {
        let real = real_path(&self.working_directory().join(path));
        let inside = self
            .environment
            .roots
            .iter()
            .any(|root| real.starts_with(root));
        if inside && real.is_dir() {
            self.environment
                .session
                .note_working_directory(real.clone());
            *self
                .working_directory
                .write()
                .unwrap_or_else(PoisonError::into_inner) = real;
        }
    }
}

pub(crate) fn is_shared(claims: Claims, trust: Trust) -> bool {
    claims.concurrency_safe
        && match trust {
            Trust::BuiltIn => true,
            Trust::ThirdParty => claims.read_only,
        }
}
