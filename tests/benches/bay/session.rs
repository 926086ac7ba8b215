//! A session as an agent would have it, and calls that go through all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolbay::PLUGINS;
use toolbay::Places;
use toolbay::settings::own_files;
use toolbay_contract::{
    CallEnvironment, Discard, KillSwitch, Origin, Powers, RulesNow, Session, Tool, ToolUse,
};
use toolbay_dispatch::hooks::Hooks;
use toolbay_dispatch::{
    Dispatch, HookSetting, Nobody, Pool, Results, Rulebook, Setting, ToolResult,
};
use toolbay_policy::{
    Claims, Decision, HookWord, Opinion, Permit, Policy, Reach, Request, Rules, Study, Trust,
};
use toolbay_runtime::{Limits, Plugin, Runtime, RuntimeOptions, Source};
use toolbay_tests::bay::pool_of;
use toolbay_tests::guests;

/// The tools, loaded, and the folder that they may see.
pub struct Bench {
    pub waiting: tokio::runtime::Runtime,
    pub tools: Vec<Arc<Plugin>>,
    /// With all schemas compiled: a session does that once, on threads of their own, and its
    /// calls are what is measured.
    pool: Arc<Pool>,
    root: PathBuf,
    places: Places,
}

impl Bench {
    /// The built-in tools and two guests, over a folder.
    pub fn new(root: &Path) -> Self {
        let waiting = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        let home = crate::tree::target().join("bench-home");
        let places = Places {
            cache: home.join("cache"),
            state: home.join("state"),
            data: home.join("data"),
            managed: home.join("managed-settings.json"),
            home: Some(home),
        };
        let runtime = Runtime::new(RuntimeOptions {
            cache: Some((places.cache.join("compiled"), places.state.clone())),
            ..RuntimeOptions::default()
        })
        .unwrap();
        let built_in = PLUGINS.iter().map(|builtin| {
            let source = Source::Embedded {
                bytes: builtin.bytes,
                digest: builtin.digest,
            };
            (source, Origin::BuiltIn, Trust::BuiltIn)
        });
        let guest = |bytes: &'static [u8]| {
            let origin = Origin::File("guest.wasm".into());
            (Source::Bytes(bytes.into()), origin, Trust::ThirdParty)
        };
        let tools: Vec<Arc<Plugin>> = built_in
            .chain([guest(guests::TRIVIAL), guest(guests::ROGUE)])
            .map(|(source, origin, trust)| {
                let opening = Plugin::open(&runtime, source, origin, trust, Limits::default());
                Arc::new(waiting.block_on(opening).unwrap())
            })
            .collect();
        let pool = pool_of(tools.iter().map(|tool| tool.clone() as _).collect());
        for name in pool.names() {
            assert!(
                pool.find(&name)
                    .is_some_and(|found| found.schema.get().is_ok())
            );
        }
        Self {
            waiting,
            tools,
            pool,
            root: root.canonicalize().unwrap(),
            places,
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn tool(&self, name: &str) -> Arc<Plugin> {
        let found = self.tools.iter().find(|tool| tool.info().name == name);
        found.expect("a tool of this name").clone()
    }

    pub fn policy(&self) -> Policy {
        Policy::new(
            Rules::default(),
            vec![self.root.clone()],
            &own_files(&self.places),
        )
    }

    pub fn environment(&self) -> CallEnvironment {
        CallEnvironment {
            roots: vec![self.root.clone()].into(),
            working_directory: self.root.clone(),
            path_rules: RulesNow::fixed(self.policy().path_rules().clone()),
            nested: None,
            session: Arc::new(Session::new(7)),
            powers: Powers::default(),
            audit: Arc::new(Discard),
            progress: Arc::new(|_, _| {}),
            kill: KillSwitch::new(),
        }
    }

    /// A session that has seen nothing yet.
    pub fn session(&self) -> Dispatch {
        Dispatch::new(Setting {
            pool: self.pool.clone(),
            rulebook: Rulebook::unchanging(self.policy()),
            classifier: None,
            environment: self.environment(),
            approver: Arc::new(Nobody),
            hooks: Hooks::default(),
            hook_setting: HookSetting::default(),
            results: Results::in_memory(),
        })
    }
}

/// One call through everything.
pub async fn call(dispatch: &Dispatch, name: &str, input: Value) -> ToolResult {
    let block = ToolUse {
        id: "call_1".into(),
        name: name.into(),
        input,
    };
    let result = dispatch.run(block, KillSwitch::new()).await;
    assert!(!result.is_error, "{}", result.text());
    result
}

/// The permit that the policy gives without a question.
pub fn permit(policy: &Policy, input: Arc<str>, claims: Claims) -> Permit {
    let request = Request {
        call_id: "call_1".into(),
        tool: "Trivial".into(),
        input,
        subjects: Vec::new(),
        aliases: Vec::new(),
        claims,
        reach: Reach::default(),
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: toolbay_policy::CageWish::Inside,
        study: Study::default(),
    };
    match policy.decide(request) {
        Decision::Allow(permit) => permit,
        other @ (Decision::Ask(_) | Decision::Deny { .. }) => panic!("{other:?}"),
    }
}
