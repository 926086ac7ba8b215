//! A tool made of answers, and what is needed to call one, for tests.

use std::path::PathBuf;
use std::sync::Arc;

use crate::hooks::Hooks;
use crate::pool::{Pool, PoolSetting};
use crate::results::Results;
use crate::{Approver, Dispatch, HookSetting, Nobody, Rulebook, Setting};
use serde_json::Value;
use toolbay_contract::{
    BoxFuture, CallEnvironment, Content, Discard, Failure, KillSwitch, Origin, Outcome, Powers,
    Rejection, Review, Session, Tool, ToolInfo, View,
};
use toolbay_policy::{
    Anchors, Claims, Closed, Decision, HookWord, Opinion, Permit, Policy, Reach, Request, Rule,
    Rules, Study, Trust,
};

type Call =
    dyn Fn(Permit, CallEnvironment) -> BoxFuture<'static, Result<Outcome, Failure>> + Send + Sync;

/// A built-in tool that takes any object, claims nothing and answers `done`, unless
/// told otherwise.
pub(crate) struct FakeTool {
    info: ToolInfo,
    origin: Origin,
    trust: Trust,
    claims: Claims,
    call: Box<Call>,
}

impl FakeTool {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            info: ToolInfo {
                name: name.into(),
                aliases: Vec::new(),
                summary: format!("What {name} does"),
                input_schema: r#"{"type":"object"}"#.into(),
                output_schema: None,
                subjects: Vec::new(),
                limit: Default::default(),
                interrupt: Default::default(),
                error: Default::default(),
                deferred: false,
                search_hint: None,
                annotations: Vec::new(),
            },
            origin: Origin::BuiltIn,
            trust: Trust::BuiltIn,
            claims: Claims::STRICT,
            call: Box::new(|_, _| {
                Box::pin(async {
                    Ok(Outcome {
                        content: vec![Content::Text("done".into())],
                        ..Outcome::default()
                    })
                })
            }),
        }
    }

    /// Changes what has no method of its own.
    pub(crate) fn info(mut self, change: impl FnOnce(&mut ToolInfo)) -> Self {
        change(&mut self.info);
        self
    }

    pub(crate) fn alias(self, alias: &str) -> Self {
        self.info(|info| info.aliases.push(alias.into()))
    }

    pub(crate) fn schema(self, schema: &Value) -> Self {
        self.info(|info| info.input_schema = schema.to_string())
    }

    pub(crate) fn deferred(self) -> Self {
        self.info(|info| info.deferred = true)
    }

    /// Brought by somebody else, in this file.
    pub(crate) fn brought_in(mut self, path: &str) -> Self {
        self.origin = Origin::File(PathBuf::from(path));
        self.trust(Trust::ThirdParty)
    }

    pub(crate) fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    pub(crate) fn claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    pub(crate) fn on_call<F>(
        mut self,
        call: impl Fn(Permit, CallEnvironment) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Outcome, Failure>> + Send + 'static,
    {
        self.call = Box::new(move |permit, environment| Box::pin(call(permit, environment)));
        self
    }

    pub(crate) fn shared(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

impl Tool for FakeTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn trust(&self) -> Trust {
        self.trust
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn reach(&self) -> BoxFuture<'_, Result<Reach, Failure>> {
        Box::pin(async { Ok(Reach::ALL) })
    }

    fn claims<'a>(&'a self, _input: &'a Arc<str>) -> BoxFuture<'a, Result<Claims, Failure>> {
        Box::pin(async { Ok(self.claims) })
    }

    fn is_enabled(&self) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(async { Ok(true) })
    }

    fn review<'a>(
        &'a self,
        _input: &'a Arc<str>,
        _environment: &'a CallEnvironment,
    ) -> BoxFuture<'a, Result<Review, Rejection>> {
        Box::pin(async { Ok(Review::SILENT) })
    }

    fn call(
        &self,
        permit: Permit,
        environment: CallEnvironment,
    ) -> BoxFuture<'_, Result<Outcome, Failure>> {
        (self.call)(permit, environment)
    }

    fn prompt<'a>(&'a self, _tools: &'a [String]) -> BoxFuture<'a, String> {
        Box::pin(async { self.info.summary.clone() })
    }

    fn render_use<'a>(&'a self, input: &'a Arc<str>) -> BoxFuture<'a, View> {
        Box::pin(async { View::Plain(input.to_string()) })
    }

    fn render_result<'a>(
        &'a self,
        _input: &'a Arc<str>,
        outcome: &'a Outcome,
    ) -> BoxFuture<'a, View> {
        Box::pin(async { View::Plain(outcome.text()) })
    }
}

/// A permit as a person's yes makes it.
pub(crate) fn permit(tool: &str, input: &str) -> Permit {
    let policy = policy();
    let decision = policy.decide(Request {
        call_id: "call-1".into(),
        tool: tool.into(),
        input: input.into(),
        subjects: Vec::new(),
        claims: Claims::STRICT,
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: toolbay_policy::CageWish::Inside,
        aliases: Vec::new(),
        study: Study::default(),
    });
    match decision {
        Decision::Allow(permit) => permit,
        Decision::Ask(question) => question.grant(),
        Decision::Deny { reason } => panic!("{reason}"),
    }
}

/// A session without powers, whose audit log and progress go nowhere.
pub(crate) fn environment() -> CallEnvironment {
    let policy = policy();
    CallEnvironment {
        roots: policy.roots().into(),
        working_directory: "/project".into(),
        path_rules: toolbay_contract::RulesNow::fixed(policy.path_rules().clone()),
        nested: None,
        session: Arc::new(Session::new(1)),
        powers: Powers::default(),
        audit: Arc::new(Discard),
        progress: Arc::new(|_, _| {}),
        kill: KillSwitch::new(),
    }
}

fn policy() -> Policy {
    Policy::new(
        Rules::default(),
        vec!["/project".into()],
        &Closed::default(),
    )
}

#[tokio::test]
async fn a_fake_tool_answers_as_it_was_told() {
    let told = FakeTool::named("Told")
        .claims(Claims {
            read_only: true,
            ..Claims::STRICT
        })
        .on_call(|permit, _| async move { Err(Failure::InvalidInput(permit.input().to_string())) })
        .shared();
    assert!(told.claims(&"{}".into()).await.unwrap().read_only);
    assert_eq!(
        told.call(permit("Told", "{}"), environment()).await,
        Err(Failure::InvalidInput("{}".into()))
    );
    let untold = FakeTool::named("Untold").shared();
    let done = untold.call(permit("Untold", "{}"), environment()).await;
    assert_eq!(done.unwrap().text(), "done");
}

/// A session with these tools, in which every call is allowed.
pub(crate) fn dispatch_of(tools: Vec<Arc<dyn Tool>>) -> Arc<Dispatch> {
    let anchors = Anchors {
        home: None,
        cwd: "/".into(),
        settings: "/".into(),
    };
    let rules = Rules {
        allow: vec![Rule::parse("*", &anchors).unwrap()],
        ..Rules::default()
    };
    dispatch_with(tools, rules, Arc::new(Nobody))
}

/// A session with these tools and rules; the approver answers what the rules leave open.
pub(crate) fn dispatch_with(
    tools: Vec<Arc<dyn Tool>>,
    rules: Rules,
    approver: Arc<dyn Approver>,
) -> Arc<Dispatch> {
    let (pool, problems) = Pool::assemble(
        tools,
        &PoolSetting {
            only: None,
            denied: &|_| false,
            enabled: &|_| true,
        },
    );
    assert_eq!(problems, Vec::<String>::new());
    Arc::new(Dispatch::new(Setting {
        pool: Arc::new(pool),
        rulebook: Rulebook::unchanging(Policy::new(rules, vec!["/".into()], &Closed::default())),
        classifier: None,
        environment: environment(),
        approver,
        hooks: Hooks::default(),
        hook_setting: HookSetting::default(),
        results: Results::in_memory(),
    }))
}
