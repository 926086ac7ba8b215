//! The client that the MCP conformance suite drives (`tests/conformance/client`).
//!
//! It does what a session does with a server, with the session's own code for logins: it
//! connects, logs in when the server wants it, lists the tools and calls each of them. The
//! suite plays the server, and judges. The person who logs in is played here: somebody who
//! goes where the browser is sent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability,
    GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value, json};
use toolbay_mcp::client::auth::{
    self, Authority, AuthorizedClient, Enterprise, EnterpriseOptions, Environment, Identity, Keys,
    LoginOptions, Person, Proof, Secret, Server, Source, Subject, TokenStore, Unpublished,
};

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
    let text = |error: auth::AuthError| error.to_string();
    let store = TokenStore::open(&folder.path().join("tokens")).map_err(|e| e.to_string())?;
    let server = Server::new("conformance", address).map_err(text)?;
    let keys = if scenario.context["idp_id_token"].is_string() {
        enterprise(scenario, &server).await?
    } else {
        Keys::of_login(server.clone(), store.clone())
    };
    let keys = Arc::new(keys);
    let options = options(scenario);
    let mut logins = 0;
    loop {
        let used = use_server(scenario, &keys).await;
        match (&used, keys.need()) {
            (Err(error), Some(need)) if logins < MOST_LOGINS => {
                eprintln!("{need} ({error})");
                logins += 1;
                let login = if scenario.name == "auth/client-credentials-basic" {
                    auth::login_as_client(&store, &server, &options).await
                } else {
                    auth::login(&store, &server, &options, &Visitor).await
                };
                eprintln!("{:?}", login.map_err(text)?);
            }
            _ => return used,
        }
    }
}

/// One session: connects, lists, calls everything once.
async fn use_server(scenario: &Scenario, keys: &Arc<Keys>) -> Result<(), String> {
    let service = connect(keys).await?;
    // Servers of the old kind ask their questions over a second stream, which the library
    // opens by the way and tells nobody; a session's first call comes later than that.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let tools = match service.list_all_tools().await {
        Ok(tools) => tools,
        // Some have none.
        Err(rmcp::ServiceError::McpError(error)) => {
            eprintln!("no tools: {error}");
            Vec::new()
        }
        Err(error) => return Err(format!("tools: {error}")),
    };
    for (name, arguments) in calls(scenario, &tools) {
        let mut call = CallToolRequestParams::new(name.clone());
        call.arguments = Some(arguments);
        match service.call_tool(call).await {
            Ok(result) => eprintln!("{name}: {}", serde_json::to_string(&result).unwrap()),
            Err(rmcp::ServiceError::McpError(error)) => eprintln!("{name}: {error}"),
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    if service.peer_info().is_some_and(|info| {
        info.capabilities.resources.is_some() || info.capabilities.prompts.is_some()
    }) {
        look_around(&service).await;
    }
    service.cancel().await.map_err(|error| error.to_string())?;
    Ok(())
}

/// As a session does: the newest protocol first. A server that answers what it does not know
/// with an empty success is asked again in the old way.
async fn connect(keys: &Arc<Keys>) -> Result<RunningService<RoleClient, Handler>, String> {
    let modern = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let connected = match connect_by(modern, keys).await {
        Err(ClientInitializeError::ExpectedInitResult(_)) => {
            connect_by(ClientLifecycleMode::Initialize, keys).await
        }
        connected => connected,
    };
    connected.map_err(|error| format!("connecting: {error}"))
}

async fn connect_by(
    lifecycle: ClientLifecycleMode,
    keys: &Arc<Keys>,
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    let client = AuthorizedClient::new(auth::client().expect("a client"), keys.clone());
    let config = StreamableHttpClientTransportConfig::with_uri(keys.server().url().to_string());
    let transport = StreamableHttpClientTransport::with_client(client, config);
    Handler.serve_with_lifecycle(transport, lifecycle).await
}

/// Resources and prompts, where a server has them.
async fn look_around(service: &RunningService<RoleClient, Handler>) {
    if let Ok(resources) = service.list_all_resources().await {
        for resource in resources {
            let read = ReadResourceRequestParams::new(resource.uri.clone());
            eprintln!(
                "{}: {}",
                resource.uri,
                service.read_resource(read).await.is_ok()
            );
        }
    }
    if let Ok(prompts) = service.list_all_prompts().await {
        for prompt in prompts {
            let get = GetPromptRequestParams::new(prompt.name.clone());
            eprintln!("{}: {}", prompt.name, service.get_prompt(get).await.is_ok());
        }
    }
}

/// What to call: what the scenario names, else everything with something plausible.
fn calls(scenario: &Scenario, tools: &[Tool]) -> Vec<(String, Map<String, Value>)> {
    if let Some(wanted) = scenario.context["toolCalls"].as_array() {
        let call = |call: &Value| {
            let arguments = call["arguments"].as_object().cloned().unwrap_or_default();
            (
                call["name"].as_str().unwrap_or_default().to_owned(),
                arguments,
            )
        };
        return wanted.iter().map(call).collect();
    }
    let call = |tool: &Tool| {
        let mut arguments = Map::new();
        let properties = tool
            .input_schema
            .get("properties")
            .and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let value = match schema["type"].as_str().unwrap_or_default() {
                "number" | "integer" => json!(5),
                "boolean" => json!(true),
                // One scenario wants the schema of its other tool back, as it came.
                "object" if name == "schema" => {
                    let other = tools.iter().find(|other| other.name != tool.name);
                    other.map_or(json!({}), |other| json!(other.input_schema))
                }
                "object" => json!({}),
                "array" => json!([]),
                _ => json!("text"),
            };
            arguments.insert(name.clone(), value);
        }
        (tool.name.to_string(), arguments)
    };
    tools.iter().map(call).collect()
}

fn options(scenario: &Scenario) -> LoginOptions {
    let context = |name: &str| scenario.context[name].as_str().map(str::to_owned);
    let identity = match (context("client_id"), scenario.name.as_str()) {
        (Some(id), _) => Identity::Known {
            id,
            secret: context("client_secret").map(Secret::new),
        },
        (None, "auth/basic-cimd") => Identity::Document {
            address: "https://conformance-test.local/client-metadata.json".into(),
        },
        (None, _) => Identity::Register,
    };
    // What a user has to allow for servers of that time.
    let unpublished = match scenario.name.as_str() {
        "auth/2025-03-26-oauth-endpoint-fallback" => Unpublished::GuessEndpoints,
        _ => Unpublished::Refuse,
    };
    LoginOptions {
        identity,
        unpublished,
        ..LoginOptions::default()
    }
}

/// The configuration that an administrator would write for this server.
async fn enterprise(scenario: &Scenario, server: &Server) -> Result<Keys, String> {
    let context = |name: &str| {
        scenario.context[name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (issuer, token_endpoint) = look_up(server).await.map_err(|error| error.to_string())?;
    let options = EnterpriseOptions {
        identity_provider: Authority {
            issuer: context("idp_issuer"),
            token_endpoint: context("idp_token_endpoint"),
            client: context("idp_client_id"),
            proof: Proof::None,
        },
        authorisation: Authority {
            issuer,
            token_endpoint,
            client: context("client_id"),
            proof: Proof::Basic(Source::Variable("CLIENT_SECRET".into())),
        },
        subject: Subject::IdToken(Source::Variable("ID_TOKEN".into())),
        scopes: Vec::new(),
        resource: None,
    };
    let environment = Environment {
        variables: Arc::from([
            ("CLIENT_SECRET".into(), context("client_secret").into()),
            ("ID_TOKEN".into(), context("idp_id_token").into()),
        ]),
        folder: std::env::temp_dir(),
    };
    let enterprise = Enterprise::new(options, environment);
    Ok(Keys::of_enterprise(server.clone(), enterprise))
}

/// Reads what the server and its authorisation server publish, as an administrator would.
async fn look_up(server: &Server) -> Result<(String, String), reqwest::Error> {
    auth::choose_cryptography();
    let read = async |address: String| reqwest::get(address).await?.json::<Value>().await;
    let url = server.url();
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
            let client = reqwest::Client::builder().redirect(Policy::limited(5));
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
struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::default();
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(form);
        capabilities.elicitation = Some(elicitation);
        let mut info = ClientConfig::new(capabilities, Implementation::new("toolbay", "0.1.0"));
        // For the old way; the new one has its own list.
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            requested_schema, ..
        } = request
        else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        let mut answer = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = field.get("default") {
                answer.insert(name.clone(), default.clone());
            } else if field["type"] == "boolean" {
                answer.insert(name.clone(), json!(true));
            }
        }
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(answer)))
    }
}
