//! A server made of answers, and a session that calls its tools.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use toolbay_contract::{
    BoxFuture, CallEnvironment, Claims, Discard, Failure, KillSwitch, Outcome, Permit, Powers,
    Progress, Reach, Session, Tool, Verdict,
};
use toolbay_policy::{Closed, Decision, HookWord, Opinion, Policy, Request, Rules, Study};

use crate::client::config::{
    InProcess, LinkConfig, Scope, ServerConfig, ServerSandbox, StdioConfig,
};
use crate::client::{
    Departures, InMemory, Instance, Launched, Launcher, Memory, NoLauncher, Servers, Surroundings,
};

/// What a fake server does with a message: lines to write, or the end.
pub(super) type Answer = Arc<dyn Fn(&Value) -> Vec<Say> + Send + Sync>;

#[derive(Clone)]
pub(super) enum Say {
    Line(Value),
    Bytes(Vec<u8>),
    Wait(Duration),
    End,
}

/// Speaks for a server on one connection.
pub(super) async fn speak(stream: DuplexStream, answer: Answer) {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("we speak JSON");
        for say in answer(&message) {
            let written = match say {
                Say::Line(value) => write.write_all(format!("{value}\n").as_bytes()).await,
                Say::Bytes(bytes) => write.write_all(&bytes).await,
                Say::Wait(time) => {
                    tokio::time::sleep(time).await;
                    Ok(())
                }
                Say::End => return,
            };
            if written.is_err() {
                return;
            }
        }
    }
}

pub(super) fn result(message: &Value, result: Value) -> Say {
    Say::Line(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

pub(super) fn text(message: &Value, text: &str) -> Say {
    result(
        message,
        json!({"content": [{"type": "text", "text": text}]}),
    )
}

pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "does it", "inputSchema": {"type": "object"}})
}

/// An honest server of the older protocol with these tools; `call` answers calls.
pub(super) fn honest(
    tools: Value,
    call: impl Fn(&Value) -> Vec<Say> + Send + Sync + 'static,
) -> Answer {
    Arc::new(move |message| match message["method"].as_str() {
        Some("initialize") => vec![result(
            message,
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "fake", "version": "1"},
            }),
        )],
        Some("tools/list") => vec![result(message, json!({"tools": tools}))],
        Some("tools/call") => call(message),
        Some(_) if message["id"].is_null() => vec![],
        Some(_) => vec![Say::Line(json!({
            "jsonrpc": "2.0", "id": message["id"],
            "error": {"code": -32601, "message": "not known"},
        }))],
        None => vec![],
    })
}

pub(super) fn config(link: LinkConfig) -> ServerConfig {
    ServerConfig {
        name: "fake".into(),
        scope: Scope::User,
        source: "a test".into(),
        link,
        disabled: false,
        timeout: Duration::from_secs(20),
        trusted: false,
        stateful: false,
        sampling: false,
        oauth: Default::default(),
    }
}

pub(super) fn in_process(answer: Answer) -> ServerConfig {
    let opener = move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(speak(theirs, answer.clone()));
        ours
    };
    config(LinkConfig::InProcess(InProcess(Arc::new(opener))))
}

/// A server of this machine as far as the configuration is concerned.
pub(super) fn process() -> ServerConfig {
    config(LinkConfig::Stdio(StdioConfig {
        command: "fake".into(),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
        sandbox: ServerSandbox::default(),
    }))
}

/// Starts tasks instead of processes, and counts them.
pub(super) struct FakeLauncher {
    pub(super) answer: Answer,
    pub(super) started: Mutex<Vec<Instance>>,
    pub(super) last_words: &'static str,
}

impl FakeLauncher {
    pub(super) fn new(answer: Answer) -> Arc<Self> {
        Arc::new(Self {
            answer,
            started: Mutex::default(),
            last_words: "",
        })
    }
}

impl Launcher for FakeLauncher {
    fn launch<'a>(
        &'a self,
        _server: &'a str,
        _config: &'a StdioConfig,
        instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>> {
        Box::pin(async move {
            self.started.lock().unwrap().push(instance);
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (output, input) = tokio::io::split(ours);
            let running = tokio::spawn(speak(theirs, self.answer.clone()));
            let words = self.last_words.as_bytes();
            Ok(Launched {
                input: Box::new(input),
                output: Box::new(output),
                errors: Box::new(words.chain(tokio::io::empty())),
                life: Box::pin(async move {
                    let _ = running.await;
                    "it ended with the code 3".into()
                }),
            })
        })
    }
}

/// The servers of a test.
pub(super) fn servers(configs: Vec<ServerConfig>) -> Arc<Servers> {
    servers_with(configs, Arc::new(NoLauncher), Arc::new(InMemory::default()))
}

pub(super) fn servers_with(
    configs: Vec<ServerConfig>,
    launcher: Arc<dyn Launcher>,
    memory: Arc<dyn Memory>,
) -> Arc<Servers> {
    let around = Surroundings {
        memory,
        ..around(launcher)
    };
    Arc::new(Servers::new(configs, around))
}

/// As little as servers can do with.
pub(super) fn around(launcher: Arc<dyn Launcher>) -> Surroundings {
    Surroundings {
        launcher,
        memory: Arc::new(InMemory::default()),
        asker: None,
        roots: vec!["/project".into()],
        keyring: None,
        departures: Departures::default(),
        sampler: None,
    }
}

pub(super) fn find(servers: &Servers, name: &str) -> Arc<dyn Tool> {
    let tools = servers.tools();
    let names: Vec<String> = tools.iter().map(|tool| tool.info().name.clone()).collect();
    let found = tools.iter().find(|tool| tool.info().name == name);
    found.unwrap_or_else(|| panic!("{names:?}")).clone()
}

/// Everything a call told of while it ran.
pub(super) type Told = Arc<Mutex<Vec<Progress>>>;

pub(super) fn environment(kill: &KillSwitch) -> (CallEnvironment, Told) {
    let told: Told = Arc::default();
    let heard = told.clone();
    let environment = CallEnvironment {
        roots: Arc::new([]),
        working_directory: "/project".into(),
        path_rules: Default::default(),
        nested: None,
        session: Arc::new(Session::new(1)),
        powers: Powers::default(),
        audit: Arc::new(Discard),
        progress: Arc::new(move |_, progress| heard.lock().unwrap().push(progress)),
        kill: kill.clone(),
    };
    (environment, told)
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Calls a tool as the stages before would: what it claims, what it says, a person's yes.
pub(super) async fn call(tool: &dyn Tool, input: Value) -> Result<Outcome, Failure> {
    call_until(tool, input, &KillSwitch::new()).await
}

pub(super) async fn call_until(
    tool: &dyn Tool,
    input: Value,
    kill: &KillSwitch,
) -> Result<Outcome, Failure> {
    let claims = claims(tool).await;
    tool.call(permit(tool, &input, claims), environment(kill).0)
        .await
}

pub(super) async fn claims(tool: &dyn Tool) -> Claims {
    tool.claims(&"{}".into()).await.unwrap()
}

pub(super) async fn verdict(tool: &dyn Tool) -> Verdict {
    let environment = environment(&KillSwitch::new()).0;
    tool.review(&"{}".into(), &environment)
        .await
        .unwrap()
        .verdict
}

/// A permit as the policy gives it to whoever claims this, and a person's yes where it asks.
pub(super) fn permit(tool: &dyn Tool, input: &Value, claims: Claims) -> Permit {
    let roots = vec!["/project".into()];
    let policy = Policy::new(Rules::default(), roots, &Closed::default());
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let decision = policy.decide(Request {
        call_id: format!("call-{id}").into(),
        tool: tool.info().name.as_str().into(),
        input: input.to_string().into(),
        subjects: Vec::new(),
        aliases: Vec::new(),
        claims,
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: toolbay_policy::CageWish::Inside,
        study: Study::default(),
    });
    match decision {
        Decision::Allow(permit) => permit,
        Decision::Ask(question) => question.grant(),
        Decision::Deny { reason } => panic!("{reason}"),
    }
}
