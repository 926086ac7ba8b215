//! An authorisation server with a server that trusts it, at one address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::redirect::Policy;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use toolbay_mcp::client::auth::{
    self, AuthError, AuthorizedClient, Keys, Login, LoginOptions, Person, Server, TokenStore,
};

use crate::web::{Reply, Seen, Web};

/// How the two behave; a test turns what it is about.
pub struct Knobs {
    /// Put over the published metadata; `null` takes a field away.
    pub metadata: Value,
    /// Put over the description of the resource.
    pub resource: Value,
    /// What the browser is sent back with, beside the code and the state.
    pub callback: fn(&str, &mut Vec<(String, String)>),
    pub registration: Value,
    /// Put over the answer to a token request.
    pub token: Value,
    pub lifetime: u64,
    /// The answer to a renewal, or to a program on its own account, if it is not new tokens.
    pub renewal: Option<Reply>,
    /// The answer to any request for a token, made of that request.
    pub echo: Option<Echo>,
    /// What a call of a tool needs.
    pub scope: &'static str,
    pub valid: HashMap<String, String>,
    pub renewable: Vec<String>,
    pub codes: HashMap<String, HashMap<String, String>>,
    pub number: usize,
}

pub type Echo = Box<dyn Fn(&Seen) -> Reply + Send>;

pub struct Realm {
    pub web: Web,
    pub knobs: Arc<Mutex<Knobs>>,
    pub folder: tempfile::TempDir,
    pub store: TokenStore,
    pub server: Server,
}

impl Realm {
    pub async fn start() -> Self {
        let knobs = Arc::new(Mutex::new(Knobs {
            metadata: json!({}),
            resource: json!({}),
            callback: |base, pairs| pairs.push(("iss".into(), base.into())),
            registration: json!({}),
            token: json!({}),
            lifetime: 3600,
            renewal: None,
            echo: None,
            scope: "read",
            valid: HashMap::new(),
            renewable: Vec::new(),
            codes: HashMap::new(),
            number: 0,
        }));
        let served = knobs.clone();
        let web = Web::start(move |base, seen| served.lock().unwrap().answer(base, seen)).await;
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::open(&folder.path().join("tokens")).unwrap();
        let server = Server::new("realm", &format!("{}/mcp", web.base)).unwrap();
        Self {
            web,
            knobs,
            folder,
            store,
            server,
        }
    }

    pub fn knobs(&self) -> MutexGuard<'_, Knobs> {
        self.knobs.lock().unwrap()
    }

    pub async fn login(&self) -> Result<Login, AuthError> {
        self.login_with(&LoginOptions::default()).await
    }

    pub async fn login_with(&self, options: &LoginOptions) -> Result<Login, AuthError> {
        auth::login(&self.store, &self.server, options, &Browser::default()).await
    }

    pub fn keys(&self) -> Arc<Keys> {
        Arc::new(Keys::of_login(self.server.clone(), self.store.clone()))
    }

    pub fn stored(&self) -> String {
        std::fs::read_to_string(self.store.path()).unwrap_or_default()
    }
}

/// Connects as the bridge does.
pub async fn connect(keys: &Arc<Keys>) -> Result<RunningService<RoleClient, ()>, String> {
    let client = AuthorizedClient::new(auth::client().unwrap(), keys.clone());
    let address = keys.server().url().to_string();
    let config = StreamableHttpClientTransportConfig::with_uri(address);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    ().serve(transport)
        .await
        .map_err(|error| format!("{error} {error:?}"))
}

pub async fn call(service: &RunningService<RoleClient, ()>) -> Result<(), String> {
    let called = service.call_tool(CallToolRequestParams::new("tool")).await;
    called
        .map(|_| ())
        .map_err(|error| format!("{error} {error:?}"))
}

/// Goes where it is sent, and says yes to everything.
#[derive(Default)]
pub struct Browser {
    pub pages: Arc<Mutex<Vec<(u16, String)>>>,
}

impl Person for Browser {
    fn visit(&self, address: &str) -> Result<(), String> {
        let (address, pages) = (address.to_owned(), self.pages.clone());
        tokio::spawn(async move {
            let page = follow(address).await;
            pages.lock().unwrap().push(page);
        });
        Ok(())
    }
}

pub async fn follow(mut address: String) -> (u16, String) {
    auth::choose_cryptography();
    let client = reqwest::Client::builder()
        .redirect(Policy::none())
        .build()
        .unwrap();
    loop {
        let answer = client.get(&address).send().await.unwrap();
        match answer.headers().get("location") {
            Some(next) => address = next.to_str().unwrap().to_owned(),
            None => return (answer.status().as_u16(), answer.text().await.unwrap()),
        }
    }
}

/// Somebody whose browser runs elsewhere: pastes what `edit` makes of the right address.
pub struct Paster {
    pub edit: fn(String) -> String,
    pub sender: Mutex<Option<tokio::sync::oneshot::Sender<String>>>,
    pub receiver: tokio::sync::Mutex<Option<tokio::sync::oneshot::Receiver<String>>>,
}

impl Paster {
    pub fn new(edit: fn(String) -> String) -> Self {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        Self {
            edit,
            sender: Mutex::new(Some(sender)),
            receiver: tokio::sync::Mutex::new(Some(receiver)),
        }
    }
}

impl Person for Paster {
    fn visit(&self, address: &str) -> Result<(), String> {
        let (address, edit) = (address.to_owned(), self.edit);
        let sender = self.sender.lock().unwrap().take().unwrap();
        tokio::spawn(async move {
            let client = reqwest::Client::builder()
                .redirect(Policy::none())
                .build()
                .unwrap();
            let answer = client.get(&address).send().await.unwrap();
            let location = answer.headers()["location"].to_str().unwrap().to_owned();
            let _ = sender.send(edit(location));
        });
        Ok(())
    }

    fn paste(&self) -> BoxFuture<'_, String> {
        Box::pin(async {
            let receiver = self.receiver.lock().await.take().unwrap();
            receiver.await.unwrap()
        })
    }
}

impl Knobs {
    fn answer(&mut self, base: &str, seen: &Seen) -> Reply {
        match (seen.method.as_str(), seen.path.as_str()) {
            ("GET", "/.well-known/oauth-protected-resource/mcp") => {
                let document = json!({
                    "resource": format!("{base}/mcp"), "authorization_servers": [base],
                });
                Reply::json(200, &over(document, &self.resource))
            }
            ("GET", "/.well-known/oauth-authorization-server") => {
                let document = json!({
                    "issuer": base,
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": format!("{base}/register"),
                    "revocation_endpoint": format!("{base}/revoke"),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                });
                Reply::json(200, &over(document, &self.metadata))
            }
            ("POST", "/register") => {
                let document = json!({
                    "client_id": format!("client-{}", self.next()),
                    "redirect_uris": seen.json()["redirect_uris"],
                });
                Reply::json(201, &over(document, &self.registration))
            }
            ("GET", "/authorize") => self.authorize(base, seen),
            ("POST", "/token") => self.token(seen),
            ("POST", "/revoke") => Reply::status(200),
            (_, "/mcp") => self.mcp(base, seen),
            _ => Reply::status(404),
        }
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn authorize(&mut self, base: &str, seen: &Seen) -> Reply {
        let code = format!("SECRET-code-{}", self.next());
        self.codes.insert(code.clone(), seen.query.clone());
        let mut pairs = vec![
            ("code".to_owned(), code),
            ("state".to_owned(), seen.query["state"].clone()),
        ];
        (self.callback)(base, &mut pairs);
        let mut back = Url::parse(&seen.query["redirect_uri"]).unwrap();
        back.query_pairs_mut().extend_pairs(pairs);
        Reply::status(302).with("location", back.to_string())
    }

    fn token(&mut self, seen: &Seen) -> Reply {
        if let Some(echo) = &self.echo {
            return echo(seen);
        }
        let form = seen.form();
        let scope = match form["grant_type"].as_str() {
            "authorization_code" => {
                let Some(question) = self.codes.remove(&form["code"]) else {
                    return Reply::json(400, &json!({ "error": "invalid_grant" }));
                };
                assert_eq!(question["code_challenge_method"], "S256");
                assert_eq!(question["redirect_uri"], form["redirect_uri"]);
                assert!(form["code_verifier"].len() >= 43);
                question.get("scope").cloned().unwrap_or_default()
            }
            "refresh_token" => {
                if let Some(reply) = &self.renewal {
                    return reply.clone();
                }
                let used = &form["refresh_token"];
                let Some(at) = self.renewable.iter().position(|token| token == used) else {
                    return Reply::json(400, &json!({ "error": "invalid_grant" }));
                };
                // Each does once: a second use is what a thief would do.
                self.renewable.remove(at);
                form.get("scope").cloned().unwrap_or_default()
            }
            "client_credentials" if self.renewal.is_some() => {
                return self.renewal.clone().unwrap();
            }
            "client_credentials" => form.get("scope").cloned().unwrap_or_default(),
            other => panic!("{other}"),
        };
        let number = self.next();
        let access = format!("SECRET-access-{number}");
        let refresh = format!("SECRET-refresh-{number}");
        self.valid.insert(access.clone(), scope.clone());
        self.renewable.push(refresh.clone());
        let document = json!({
            "access_token": access, "token_type": "Bearer", "expires_in": self.lifetime,
            "refresh_token": refresh, "scope": scope, "id_token": "SECRET-id-token",
        });
        Reply::json(200, &over(document, &self.token))
    }

    fn mcp(&mut self, base: &str, seen: &Seen) -> Reply {
        let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
        let Some(scopes) = seen.bearer().and_then(|token| self.valid.get(token)) else {
            let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read\"");
            return Reply::status(401).with("www-authenticate", challenge);
        };
        if seen.method != "POST" {
            return Reply::status(405);
        }
        let request = seen.json();
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "realm", "version": "1" },
            }),
            "tools/call" if !scopes.split(' ').any(|scope| scope == self.scope) => {
                let challenge = format!(
                    "Bearer error=\"insufficient_scope\", scope=\"{}\", resource_metadata=\"{metadata}\"",
                    self.scope
                );
                return Reply::status(403).with("www-authenticate", challenge);
            }
            "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
            "tools/list" => json!({
                "tools": [{ "name": "tool", "inputSchema": { "type": "object" } }],
            }),
            _ if request["id"].is_null() => return Reply::status(202),
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                let message = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
                return Reply::json(200, &message);
            }
        };
        let message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        Reply::json(200, &message)
    }
}

fn over(mut document: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            document.as_object_mut().unwrap().remove(name);
        } else {
            document[name] = value.clone();
        }
    }
    document
}
