//! Logins at an authorisation server that we did not write, for an MCP server that we did
//! not write either. `tests/conformance/oidc` installs them and runs these tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use toolbay_mcp::client::auth::{
    self, AuthError, AuthorizedClient, Identity, Keys, Login, LoginOptions, Logout, Need, Person,
    Secret, Server, Status, TokenStore,
};

/// The two servers, ended with the test.
struct World {
    process: Child,
    /// Kept: who writes to a closed pipe dies.
    _output: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
    store: TokenStore,
    server: Server,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl World {
    // The script that runs these tests says where it installed what they need.
    #[allow(clippy::disallowed_methods)]
    fn start(lifetime: u64) -> Self {
        let place = std::env::var("TOOLBAY_TEST_OIDC")
            .expect("run these tests with tests/conformance/oidc, which installs what they need");
        let mut process = Command::new(format!("{place}/bin/node"))
            .arg(format!("{place}/oidc/oidc.mjs"))
            .arg(json!({ "lifetime": lifetime }).to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self {
            process,
            _output: output,
            store: TokenStore::open(&folder.path().join("tokens")).unwrap(),
            server: Server::new("guarded", address.trim()).unwrap(),
            _folder: folder,
        }
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::new(Keys::of_login(self.server.clone(), self.store.clone()))
    }

    async fn login(&self) -> Result<Login, AuthError> {
        self.login_as(&LoginOptions::default(), Manner::Agrees)
            .await
    }

    async fn login_as(&self, options: &LoginOptions, manner: Manner) -> Result<Login, AuthError> {
        let options = LoginOptions {
            patience: Duration::from_secs(20),
            ..options.clone()
        };
        auth::login(&self.store, &self.server, &options, &Browser(manner)).await
    }

    async fn status(&self) -> Status {
        auth::status(&self.store, &self.server).await.unwrap()
    }

    /// The record of the only server in the store.
    fn stored(&self) -> Value {
        let shelf: Value =
            serde_json::from_slice(&std::fs::read(self.store.path()).unwrap()).unwrap();
        shelf["servers"]
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .clone()
    }

    fn token(&self, name: &str) -> String {
        let token = &self.stored()["credentials"]["token_response"][name];
        token.as_str().unwrap().to_owned()
    }

    /// Revokes a token behind our back, as an administrator would.
    async fn revoke(&self, token: &str) {
        let stored = self.stored();
        let form = format!(
            "token={token}&client_id={}",
            stored["credentials"]["client_id"].as_str().unwrap()
        );
        let answer = reqwest::Client::new()
            .post(stored["revocation_endpoint"].as_str().unwrap())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form)
            .send()
            .await
            .unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
    }
}

type Session = RunningService<RoleClient, ()>;

async fn connect(keys: &Arc<Keys>) -> Result<Session, String> {
    let client = AuthorizedClient::new(auth::client().unwrap(), keys.clone());
    let config = StreamableHttpClientTransportConfig::with_uri(keys.server().url().to_string());
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let connected = ().serve_with_lifecycle(transport, lifecycle).await;
    connected.map_err(|error| error.to_string())
}

async fn call(session: &Session, tool: &'static str) -> Result<String, String> {
    let called = session.call_tool(CallToolRequestParams::new(tool)).await;
    let result = called.map_err(|error| error.to_string())?;
    Ok(serde_json::to_string(&result).unwrap())
}

#[derive(Clone, Copy)]
enum Manner {
    Agrees,
    Refuses,
}

/// A person with a browser: follows links, keeps cookies, fills in forms.
struct Browser(Manner);

impl Person for Browser {
    fn visit(&self, address: &str) -> Result<(), String> {
        let (address, manner) = (Url::parse(address).unwrap(), self.0);
        tokio::spawn(browse(address, manner));
        Ok(())
    }
}

async fn browse(mut address: Url, manner: Manner) {
    let client = reqwest::Client::builder()
        .redirect(Policy::none())
        .build()
        .unwrap();
    let mut cookies: BTreeMap<String, String> = BTreeMap::new();
    let mut form: Option<String> = None;
    for _ in 0..20 {
        let sent = cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let sent = sent.collect::<Vec<_>>().join("; ");
        let request = match form.take() {
            None => client.get(address.clone()),
            Some(body) => client
                .post(address.clone())
                .header("content-type", "application/x-www-form-urlencoded")
                .body(body),
        };
        let answer = request.header(COOKIE, sent).send().await.unwrap();
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            cookies.insert(name.to_owned(), value.to_owned());
        }
        if let Some(next) = answer.headers().get(LOCATION) {
            address = address.join(next.to_str().unwrap()).unwrap();
            continue;
        }
        let page = answer.text().await.unwrap();
        let between = |from: &str, to: &str| {
            let rest = page.split_once(from)?.1;
            Some(rest.split_once(to)?.0.to_owned())
        };
        let Some(action) = between("action=\"", "\"") else {
            let ours = page.contains("You are logged in") || page.contains("The login failed");
            assert!(ours, "the browser ended at {address}: {page}");
            return;
        };
        if matches!(manner, Manner::Refuses) {
            address = address.join(&format!("{}/abort", address.path())).unwrap();
            continue;
        }
        let prompt = between("name=\"prompt\" value=\"", "\"").unwrap();
        address = address.join(&action).unwrap();
        form = Some(format!("prompt={prompt}&login=somebody&password=something"));
    }
    panic!("the browser goes round in circles at {address}");
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn a_person_logs_in_and_calls() {
    let world = World::start(3600);
    let keys = world.keys();
    assert!(connect(&keys).await.is_err());
    assert!(matches!(keys.need(), Some(Need::Login { .. })), "{keys:?}");
    let login = world.login().await.unwrap();
    assert!(login.renewable);
    assert!(
        login.scopes.iter().any(|scope| scope == "read"),
        "{login:?}"
    );
    let session = connect(&keys).await.unwrap();
    assert!(call(&session, "read").await.unwrap().contains("read done"));
    assert_eq!(keys.need(), None);
    assert_eq!(world.status().await, Status::LoggedIn(login));
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn a_person_who_refuses_is_believed() {
    let world = World::start(3600);
    let options = LoginOptions::default();
    let error = world.login_as(&options, Manner::Refuses).await.unwrap_err();
    assert!(error.to_string().contains("access_denied"), "{error}");
    assert_eq!(world.status().await, Status::Unknown);
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn tokens_end_and_are_renewed_by_one_at_a_time() {
    let world = World::start(5);
    world.login().await.unwrap();
    let keys = world.keys();
    let session = connect(&keys).await.unwrap();
    let mut seen = vec![world.token("access_token")];
    // The authorisation server takes each refresh token once. Were one used twice, it would
    // take it for stolen and end the whole login, so the second round would fail.
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(6)).await;
        let mut others = Vec::new();
        for _ in 0..6 {
            let keys = world.keys();
            others.push(tokio::spawn(async move {
                keys.current().await.unwrap().unwrap()
            }));
        }
        for other in others {
            let token = other.await.unwrap();
            assert!(!seen.contains(&token), "an ended token was handed out");
        }
        call(&session, "read").await.unwrap();
        seen.push(world.token("access_token"));
    }
    assert_eq!(keys.need(), None);
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn a_revoked_login_needs_another_one() {
    let world = World::start(3600);
    world.login().await.unwrap();
    let keys = world.keys();
    let session = connect(&keys).await.unwrap();
    call(&session, "read").await.unwrap();
    // This authorisation server ends all that belongs to the login with it.
    world.revoke(&world.token("refresh_token")).await;
    assert!(call(&session, "read").await.is_err());
    assert!(matches!(keys.need(), Some(Need::Login { .. })), "{keys:?}");
    assert!(matches!(world.status().await, Status::Needs(_)));
    assert!(
        world.stored()["credentials"].is_null(),
        "dead tokens are kept"
    );
    world.login().await.unwrap();
    let session = connect(&keys).await.unwrap();
    call(&session, "read").await.unwrap();
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn a_tool_that_needs_more_rights_gets_them_by_another_login() {
    let world = World::start(3600);
    world.login().await.unwrap();
    let keys = world.keys();
    let session = connect(&keys).await.unwrap();
    assert!(call(&session, "write").await.is_err());
    let Some(Need::Scopes { scopes, .. }) = keys.need() else {
        panic!("{keys:?}");
    };
    assert_eq!(scopes, ["write"]);
    let login = world.login().await.unwrap();
    for scope in ["read", "write"] {
        assert!(
            login.scopes.iter().any(|granted| granted == scope),
            "{login:?}"
        );
    }
    let session = connect(&keys).await.unwrap();
    call(&session, "write").await.unwrap();
    call(&session, "read").await.unwrap();
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn a_known_client_with_a_secret_logs_in_and_renews() {
    let world = World::start(5);
    let options = LoginOptions {
        identity: Identity::Known {
            id: "known".into(),
            secret: Some(Secret::new("of the known client")),
        },
        redirect: Some("http://127.0.0.1/known".into()),
        ..LoginOptions::default()
    };
    world.login_as(&options, Manner::Agrees).await.unwrap();
    let first = world.token("access_token");
    tokio::time::sleep(Duration::from_secs(6)).await;
    let second = world.keys().current().await.unwrap().unwrap();
    assert_ne!(first, second);
    call(&connect(&world.keys()).await.unwrap(), "read")
        .await
        .unwrap();
}

#[tokio::test]
#[ignore = "needs a real authorisation server: tests/conformance/oidc"]
async fn logging_out_makes_the_tokens_void() {
    let world = World::start(3600);
    world.login().await.unwrap();
    let token = world.token("access_token");
    let asks = async || {
        let request = reqwest::Client::new().post(world.server.url().clone());
        let request = request.header("accept", "application/json, text/event-stream");
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let answer = request.bearer_auth(&token).json(&ping).send().await;
        answer.unwrap().status().as_u16()
    };
    assert_eq!(asks().await, 200);
    let outcome = auth::logout(&world.store, &world.server).await.unwrap();
    assert_eq!(outcome, Logout::Revoked);
    assert_eq!(asks().await, 401);
    assert_eq!(world.status().await, Status::Unknown);
}
