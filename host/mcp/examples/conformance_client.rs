//! The client that the MCP conformance suite drives (`tests/conformance/client`).
//!
//! It does what a session does with a server, with the session's own code: a configuration, the
//! bridge, its logins. It connects, logs in when the server wants it, calls each tool once and
//! reads what there is to read. The suite plays the server, and judges. The person is played
//! here: somebody who goes where the browser is sent, and answers what a form proposes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy as Redirects;
use serde_json::{Map, Value, json};
use toolbay_contract::{
    BoxFuture, CallEnvironment, Discard, KillSwitch, Permit, Powers, Reach, Resources, Session,
    Tool,
};
use toolbay_mcp::ToolName;
use toolbay_mcp::client::auth::{self, Environment, Person};
use toolbay_mcp::client::config::{RawServer, Scope, ServerConfig};
use toolbay_mcp::client::{
    Asker, Departures, Elicitation, Elicited, InMemory, Keyring, NoLauncher, Servers, State,
    Surroundings,
};
use toolbay_policy::{
    CageWish, Closed, Decision, HookWord, Opinion, Policy, Request, Rules, Study,
};

const NAME: &str = "conformance";
/// A server that is never content is left alone after so many logins.
const MOST_LOGINS: usize = 3;

/// What the suite says about the scenario.
struct Scenario {
    name: String,
    context: Value,
}

// The suite tells by variables; there are no settings here to read them.
#[allow(clippy::disallowed_methods)]
fn scenario() -> Scenario {
    let variable = |name| std::env::var(name).unwrap_or_default();
    Scenario {
        name: variable("MCP_CONFORMANCE_SCENARIO"),
        context: serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default(),
    }
}

impl Scenario {
    fn says(&self, name: &str) -> Option<&str> {
        self.context[name].as_str()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let address = std::env::args().next_back().unwrap_or_default();
    match run(&scenario(), &address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(scenario: &Scenario, address: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let keyring = Keyring {
        folder: folder.path().join("tokens"),
        environment: Environment {
            variables: ["client_secret", "idp_id_token"]
                .map(|name| {
                    let value = scenario.says(name).unwrap_or_default();
                    (name.into(), value.into())
                })
                .into(),
            folder: folder.path().to_owned(),
        },
    };
    let config = config(scenario, address).await?;
    let servers = Servers::new(
        vec![config.clone()],
        Surroundings {
            launcher: Arc::new(NoLauncher),
            memory: Arc::new(InMemory::default()),
            asker: Some(Arc::new(Agreeable)),
            roots: Vec::new(),
            keyring: Some(keyring.clone()),
            departures: Departures::default(),
            sampler: None,
        },
    );
    let mut logins = 0;
    loop {
        let used = use_server(scenario, &servers).await;
        let state = servers.statuses().remove(0).state;
        match (&used, state) {
            (Err(error), State::NeedsAuth { reason }) if logins < MOST_LOGINS => {
                eprintln!("{reason} ({error})");
                logins += 1;
                log_in(&keyring, &config).await?;
            }
            _ => return used,
        }
    }
}

async fn log_in(keyring: &Keyring, config: &ServerConfig) -> Result<(), String> {
    let (server, options) = keyring.login(config).await?;
    let store = keyring.store()?;
    let login = match config.oauth.as_program {
        true => auth::login_as_client(&store, &server, &options).await,
        false => auth::login(&store, &server, &options, &Visitor).await,
    };
    eprintln!("{:?}", login.map_err(|error| error.to_string())?);
    Ok(())
}

/// One session: connects, calls everything once, reads what there is.
async fn use_server(scenario: &Scenario, servers: &Servers) -> Result<(), String> {
    servers.connect(NAME).await?;
    // Servers of the old kind ask their questions over a second stream, which the library
    // opens by the way and tells nobody; a session's first call comes later than that.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let tools = servers.tools();
    for (name, input) in calls(scenario, &tools) {
        let name = ToolName::new(NAME, &name).ok_or("a tool without a name")?;
        let found = tools
            .iter()
            .find(|tool| tool.info().name == name.to_string());
        let Some(tool) = found else {
            eprintln!("{name}: there is no such tool");
            continue;
        };
        match tool
            .call(permit(&**tool, &input).await, environment())
            .await
        {
            Ok(outcome) => eprintln!("{name}: {}", outcome.text()),
            Err(error) => eprintln!("{name}: {error}"),
        }
        if let State::NeedsAuth { reason } = servers.statuses().remove(0).state {
            return Err(reason);
        }
    }
    // Most have none, and say so by an error.
    for resource in servers.list(Some(NAME.into())).await.unwrap_or_default() {
        let read = servers.read(NAME.into(), resource.uri.clone()).await;
        eprintln!("{}: {}", resource.uri, read.is_ok());
    }
    Ok(())
}

fn environment() -> CallEnvironment {
    CallEnvironment {
        roots: Arc::new([]),
        working_directory: "/".into(),
        path_rules: Default::default(),
        nested: None,
        session: Arc::new(Session::new(1)),
        powers: Powers::default(),
        audit: Arc::new(Discard),
        progress: Arc::new(|_, _| {}),
        kill: KillSwitch::new(),
    }
}

/// Somebody says yes to everything.
async fn permit(tool: &dyn Tool, input: &Value) -> Permit {
    let policy = Policy::new(Rules::default(), vec!["/".into()], &Closed::default());
    let text: Arc<str> = input.to_string().into();
    let decision = policy.decide(Request {
        call_id: "call".into(),
        tool: tool.info().name.as_str().into(),
        claims: tool.claims(&text).await.expect("claims"),
        input: text,
        subjects: Vec::new(),
        aliases: Vec::new(),
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: CageWish::Inside,
        study: Study::default(),
    });
    match decision {
        Decision::Allow(permit) => permit,
        Decision::Ask(question) => question.grant(),
        Decision::Deny { reason } => panic!("{reason}"),
    }
}

/// What to call: what the scenario names, else everything with something plausible.
fn calls(scenario: &Scenario, tools: &[Arc<dyn Tool>]) -> Vec<(String, Value)> {
    if let Some(wanted) = scenario.context["toolCalls"].as_array() {
        let call = |call: &Value| {
            let name = call["name"].as_str().unwrap_or_default().to_owned();
            (name, call["arguments"].clone())
        };
        return wanted.iter().map(call).collect();
    }
    let schema = |tool: &Arc<dyn Tool>| -> Value {
        serde_json::from_str(&tool.info().input_schema).unwrap_or_default()
    };
    let call = |tool: &Arc<dyn Tool>| {
        let mut arguments = Map::new();
        let properties = schema(tool)["properties"].as_object().cloned();
        for (name, field) in properties.into_iter().flatten() {
            let value = match field["type"].as_str().unwrap_or_default() {
                "number" | "integer" => json!(5),
                "boolean" => json!(true),
                // One scenario wants the schema of its other tool back, as it came.
                "object" if name == "schema" => {
                    let other = tools
                        .iter()
                        .find(|other| other.info().name != tool.info().name);
                    other.map_or(json!({}), schema)
                }
                "object" => json!({}),
                "array" => json!([]),
                _ => json!("text"),
            };
            arguments.insert(name, value);
        }
        let parsed = ToolName::parse(&tool.info().name);
        let name = parsed.map(|name| name.tool().to_owned());
        (name.unwrap_or_default(), Value::Object(arguments))
    };
    tools.iter().map(call).collect()
}

/// The entry that somebody would write for this server.
async fn config(scenario: &Scenario, address: &str) -> Result<ServerConfig, String> {
    let mut oauth = json!({});
    if let Some(id) = scenario.says("client_id") {
        oauth["clientId"] = json!(id);
    }
    if scenario.says("client_secret").is_some() {
        oauth["clientSecret"] = json!({"env": "client_secret"});
    }
    match scenario.name.as_str() {
        "auth/basic-cimd" => {
            let document = "https://conformance-test.local/client-metadata.json";
            oauth["clientDocument"] = json!(document);
        }
        "auth/client-credentials-basic" => oauth["asProgram"] = json!(true),
        // What a user has to allow for servers of that time.
        "auth/2025-03-26-oauth-endpoint-fallback" => oauth["guessEndpoints"] = json!(true),
        _ => {}
    }
    if scenario.says("idp_id_token").is_some() {
        oauth = json!({"enterprise": enterprise(scenario, address).await?});
    }
    let raw: RawServer = serde_json::from_value(json!({"url": address, "oauth": oauth}))
        .map_err(|error| error.to_string())?;
    raw.resolve(NAME, Scope::User, "the suite", Path::new("/"), &|_| None)
        .map_err(|error| error.to_string())
}

/// The part that an administrator would write.
async fn enterprise(scenario: &Scenario, address: &str) -> Result<Value, String> {
    let looked_up = look_up(address).await;
    let (issuer, token_endpoint) = looked_up.map_err(|error| error.to_string())?;
    Ok(json!({
        "identityProvider": {
            "issuer": scenario.says("idp_issuer"),
            "tokenEndpoint": scenario.says("idp_token_endpoint"),
            "clientId": scenario.says("idp_client_id"),
        },
        "authorisation": {
            "issuer": issuer, "tokenEndpoint": token_endpoint,
            "clientId": scenario.says("client_id"),
            "clientSecret": {"env": "client_secret"},
        },
        "idToken": {"env": "idp_id_token"},
    }))
}

/// Reads what the server and its authorisation server publish, as an administrator would.
async fn look_up(address: &str) -> Result<(String, String), reqwest::Error> {
    auth::choose_cryptography();
    let read = async |address: String| reqwest::get(address).await?.json::<Value>().await;
    let url = reqwest::Url::parse(address).expect("an address");
    let origin = url.origin().ascii_serialization();
    let path = url.path();
    let place = format!("{origin}/.well-known/oauth-protected-resource{path}");
    let resource = read(place).await?;
    let issuer = resource["authorization_servers"][0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let place = format!("{issuer}/.well-known/oauth-authorization-server");
    let metadata = read(place).await?;
    let endpoint = metadata["token_endpoint"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    Ok((issuer, endpoint))
}

/// Goes where the browser is sent.
struct Visitor;

impl Person for Visitor {
    fn visit(&self, address: &str) -> Result<(), String> {
        let address = address.to_owned();
        tokio::spawn(async move {
            let client = reqwest::Client::builder().redirect(Redirects::limited(5));
            if let Ok(client) = client.build()
                && let Err(error) = client.get(address).send().await
            {
                eprintln!("the browser stopped: {error}");
            }
        });
        Ok(())
    }
}

/// Answers questions with what they propose.
struct Agreeable;

impl Asker for Agreeable {
    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        let mut answer = Map::new();
        for (name, field) in asked.schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = field.get("default") {
                answer.insert(name.clone(), default.clone());
            } else if field["type"] == "boolean" {
                answer.insert(name.clone(), json!(true));
            }
        }
        Box::pin(async { Elicited::Accepted(Value::Object(answer)) })
    }
}
