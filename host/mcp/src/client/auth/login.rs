//! A person logs in, once, in a browser.
//!
//! The code comes back to a port of this machine ([`listener`](super::listener)), or a person
//! pastes the address that the browser ended at, when it runs elsewhere. The answer counts
//! only with the secret state of this login, and only from the authorisation server that was
//! asked. Tokens go to the store when all went well; a login that fails changes nothing.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use oauth2::TokenResponse;
use oauth2::basic::BasicTokenType;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    InMemoryStateStore, OAuthClientConfig, StateStore,
};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::address::Addresses;
use super::endpoint::{self, Unpublished};
use super::entry::{Entry, Need};
use super::error::{AuthError, harmless, unechoed};
use super::hide::without_opaque;
use super::listener::{Arrival, Listener, has_state};
use super::page::Page;
use super::protocol::{self, words};
use super::secret::Secret;
use super::server::{Server, shown};
use super::store::TokenStore;

/// Long enough to look for a password, short enough not to wait for good.
const PATIENCE: Duration = Duration::from_secs(300);

/// Who this program is to the authorisation server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Identity {
    /// Registers itself anew.
    #[default]
    Register,
    /// Was registered by somebody.
    Known { id: String, secret: Option<Secret> },
    /// Describes itself at an address of the web, if the authorisation server looks there;
    /// registers itself otherwise.
    Document { address: String },
}

/// How to log in. The defaults do for most servers.
#[derive(Debug, Clone)]
pub struct LoginOptions {
    pub identity: Identity,
    /// Asked for beside those that the server named. None: those that the server named.
    pub scopes: Vec<String>,
    /// Where the browser comes back to, if the registration of a known client says so;
    /// `http://127.0.0.1` or `http://localhost`, with or without a port.
    pub redirect: Option<String>,
    pub patience: Duration,
    pub addresses: Addresses,
    pub unpublished: Unpublished,
}

impl Default for LoginOptions {
    fn default() -> Self {
        Self {
            identity: Identity::default(),
            scopes: Vec::new(),
            redirect: None,
            patience: PATIENCE,
            addresses: Addresses::default(),
            unpublished: Unpublished::default(),
        }
    }
}

/// Whoever logs in.
pub trait Person: Send + Sync {
    /// Shows an address: opens a browser, or prints it. It is always `https:`, or `http:` on
    /// this machine, and was made by a library, but comes from a stranger: hand it over as
    /// one argument, never through a shell.
    fn visit(&self, address: &str) -> Result<(), String>;

    /// The address that the browser ended at, when it runs on another machine.
    fn paste(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }
}

/// What a login brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// What the authorisation server granted, which may be less than was asked for.
    pub scopes: Vec<String>,
    pub ends: Option<SystemTime>,
    /// Whether it can be renewed without a person.
    pub renewable: bool,
}

impl Login {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            scopes: entry.scopes().to_vec(),
            ends: entry.ends(),
            renewable: entry.alone || entry.refresh_token().is_some(),
        }
    }
}

/// Logs in to a server, with what it asked for when it last refused.
pub async fn login(
    store: &TokenStore,
    server: &Server,
    options: &LoginOptions,
    person: &dyn Person,
) -> Result<Login, AuthError> {
    // A place that cannot be used should say so before somebody types a password.
    let before = store.read(server).await?.unwrap_or_default();
    let patience = options.patience;
    let entry = tokio::time::timeout(patience, obtain(server, options, person, &before))
        .await
        .map_err(|_| AuthError::TimedOut(patience.as_secs()))??;
    let login = Login::of(&entry);
    store.update(server, |place| *place = Some(entry)).await?;
    Ok(login)
}

async fn obtain(
    server: &Server,
    options: &LoginOptions,
    person: &dyn Person,
    before: &Entry,
) -> Result<Entry, AuthError> {
    let mut manager = protocol::manager(server, options.addresses).await?;
    let kept = InMemoryCredentialStore::new();
    manager.set_credential_store(kept.clone());
    let states = InMemoryStateStore::new();
    manager.set_state_store(states.clone());
    let challenge = before.need.as_ref().map(Need::challenge);
    let (metadata, guessed) =
        protocol::discover(&mut manager, server, challenge, options.unpublished).await?;

    let listener = Listener::bind(options.redirect.as_deref()).await?;
    let scopes = scopes(&manager, &metadata, options, before).await;
    let client = identify(&mut manager, &metadata, options, &listener, &scopes).await?;
    let asked = scopes.iter().map(String::as_str).collect::<Vec<_>>();
    let address = manager
        .get_authorization_url(&asked)
        .await
        .map_err(|error| AuthError::from_protocol(error, &[]))?;
    let mut question = Question::read(server, &address)?;
    let begun = states.load(&question.state).await;
    let begun = begun.map_err(|error| AuthError::from_protocol(error, &[]))?;
    let begun = begun.ok_or_else(|| AuthError::Setup("the login was not begun".to_owned()))?;
    question.verifier = Secret::new(begun.pkce_verifier);

    person
        .visit(question.address.as_str())
        .map_err(AuthError::NotShown)?;
    let (answer, browser) = tokio::select! {
        arrival = listener.arrival(&question.state) => {
            (arrival.address().clone(), Some(arrival))
        }
        pasted = person.paste() => (read_pasted(&pasted, &question)?, None),
    };
    // One answer only: the port is closed before it is looked at.
    drop(listener);
    let exchanged = exchange(&manager, &metadata, &question, &answer, &client).await;
    show(browser, exchanged.is_ok()).await;
    let sent = exchanged?;

    let mut credentials = kept
        .load()
        .await
        .map_err(|error| AuthError::from_protocol(error, &[]))?;
    if let Some(credentials) = &mut credentials {
        let sent: Vec<&str> = sent.iter().map(Secret::reveal).collect();
        keep_granted(&mut credentials.granted_scopes, &scopes, &sent);
    }
    Ok(Entry {
        credentials,
        client_secret: client.client_secret.map(Secret::new),
        redirect: Some(client.redirect_uri),
        revocation_endpoint: protocol::revocation_endpoint(&metadata),
        token_endpoint: Some(metadata.token_endpoint),
        addresses: options.addresses,
        guessed,
        alone: false,
        need: None,
    })
}

/// Some say that they granted nothing in particular by granting "". What is granted is shown, so
/// that what was not asked for must not be what was sent.
pub(super) fn keep_granted(granted: &mut Vec<String>, asked: &[String], sent: &[&str]) {
    granted.retain(|scope| {
        let is_clear = || without_opaque(scope, sent) == *scope;
        !scope.is_empty() && (asked.contains(scope) || is_clear())
    });
}

/// The caller's, and what the server asked for. To extend a login means to keep what it has.
async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    options: &LoginOptions,
    before: &Entry,
) -> Vec<String> {
    let mut wanted = options.scopes.clone();
    if let Some(Need::Scopes { scopes, .. }) = &before.need {
        wanted.extend_from_slice(before.scopes());
        wanted.extend_from_slice(scopes);
    }
    if wanted.is_empty() {
        wanted = manager.select_initial_scopes(&[]).await;
    } else if let Some(supported) = &metadata.scopes_supported
        && supported.iter().any(|scope| scope == "offline_access")
    {
        // Without it such servers give no refresh token.
        wanted.push("offline_access".to_owned());
    }
    let mut distinct = Vec::new();
    for scope in wanted {
        if !distinct.contains(&scope) {
            distinct.push(scope);
        }
    }
    distinct
}

/// Known, described or registered: the specification's order.
async fn identify(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    options: &LoginOptions,
    listener: &Listener,
    scopes: &[String],
) -> Result<OAuthClientConfig, AuthError> {
    let redirect = listener.redirect().as_str();
    let reads_documents = metadata
        .additional_fields
        .get("client_id_metadata_document_supported")
        .is_some_and(|supported| supported == true);
    let (id, secret) = match &options.identity {
        Identity::Known { id, secret } => (id.clone(), secret.clone()),
        Identity::Document { address } if reads_documents => {
            check_document(address)?;
            (address.clone(), None)
        }
        // Anew each time: the port is another one, a registration may be gone, and one that
        // was made for few rights cannot be given more.
        Identity::Register | Identity::Document { .. } => {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let made = manager
                .register_client("Toolbay", redirect, &scopes)
                .await
                .map_err(|error| AuthError::from_protocol(error, &[]))?;
            (made.client_id, made.client_secret.map(Secret::new))
        }
    };
    let mut client = OAuthClientConfig::new(id, redirect);
    // Some give a secret to whom they do not let use it.
    let methods = words(metadata, "token_endpoint_auth_methods_supported");
    let public = methods.is_some_and(|methods| {
        !methods.is_empty() && methods.iter().all(|method| *method == "none")
    });
    if let Some(secret) = secret.filter(|_| !public) {
        client = client.with_client_secret(secret.reveal());
    }
    manager
        .configure_client(client.clone())
        .map_err(|error| AuthError::from_protocol(error, &[]))?;
    Ok(client)
}

fn check_document(address: &str) -> Result<(), AuthError> {
    let good = Url::parse(address).is_ok_and(|url| url.scheme() == "https" && url.path() != "/");
    if good {
        return Ok(());
    }
    Err(AuthError::BadEndpoint {
        role: "client's own document",
        address: shown(address),
        reason: "it must be https and have a path",
    })
}

/// What the browser is sent with.
struct Question {
    address: Url,
    state: String,
    /// What proves that whoever brings the code asked for it.
    verifier: Secret,
}

impl Question {
    /// The library made it of the authorisation server's endpoint, which may bring parameters
    /// of its own: ours must be the only ones of their names.
    fn read(server: &Server, address: &str) -> Result<Self, AuthError> {
        let bad = |reason| AuthError::BadEndpoint {
            role: "authorization endpoint",
            address: shown(address),
            reason,
        };
        let address = endpoint::check_address(server, address).map_err(bad)?;
        let only = |name: &str| {
            let mut found = address.query_pairs().filter(|(key, _)| key == name);
            match (found.next(), found.next()) {
                (Some((_, value)), None) => Some(value.into_owned()),
                _ => None,
            }
        };
        let fixed = [
            "client_id",
            "redirect_uri",
            "response_type",
            "code_challenge",
        ];
        let whole = fixed.iter().all(|name| only(name).is_some());
        match only("state") {
            Some(state) if whole && only("code_challenge_method").as_deref() == Some("S256") => {
                let verifier = Secret::new("");
                Ok(Self {
                    address,
                    state,
                    verifier,
                })
            }
            _ => Err(bad("it brings parameters that are ours to set")),
        }
    }
}

fn read_pasted(pasted: &str, question: &Question) -> Result<Url, AuthError> {
    let answer = Url::parse(pasted.trim())
        .map_err(|_| AuthError::BadPaste("it cannot be read as an address"))?;
    if !has_state(&answer, &question.state) {
        return Err(AuthError::BadPaste("it belongs to another login"));
    }
    Ok(answer)
}

/// Turns the answer into tokens, and says which secrets were sent for them. What the answer holds
/// is known to belong to this login.
async fn exchange(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    question: &Question,
    answer: &Url,
    client: &OAuthClientConfig,
) -> Result<Vec<Secret>, AuthError> {
    let (mut code, mut issuer, mut error, mut text) = (None, None, None, None);
    for (name, value) in answer.query_pairs() {
        let place = match name.as_ref() {
            "code" => &mut code,
            "iss" => &mut issuer,
            "error" => &mut error,
            "error_description" => &mut text,
            _ => continue,
        };
        if place.replace(value.into_owned()).is_some() {
            return Err(AuthError::Refused(format!(
                "its answer has two of {name:?}"
            )));
        }
    }
    if let Some(error) = error {
        // A refusal of somebody else is not this server's refusal.
        let known = [question.state.as_str(), code.as_deref().unwrap_or_default()];
        if let (Some(issuer), Some(expected)) = (&issuer, &metadata.issuer)
            && issuer != expected
        {
            return Err(AuthError::WrongIssuer {
                expected: harmless(expected, &[]),
                received: harmless(issuer, &known),
            });
        }
        let text = text.map(|text| format!(" ({text})")).unwrap_or_default();
        let text = unechoed(&format!("{error}{text}"), &known);
        return Err(AuthError::Refused(text));
    }
    let Some(code) = code else {
        return Err(AuthError::Refused("its answer has no code".to_owned()));
    };
    let mut sent = vec![
        Secret::new(&*code),
        Secret::new(&*question.state),
        question.verifier.clone(),
    ];
    sent.extend(client.client_secret.as_deref().map(Secret::new));
    let known: Vec<&str> = sent.iter().map(Secret::reveal).collect();
    // The library tells its log the code, and what it got for it.
    let token = manager
        .exchange_code_for_token_with_issuer(&code, &question.state, issuer.as_deref())
        .with_subscriber(NoSubscriber::default())
        .await
        .map_err(|error| AuthError::from_protocol(error, &known))?;
    match token.token_type() {
        BasicTokenType::Bearer => Ok(sent),
        other => Err(AuthError::TokenKind(unechoed(other.as_ref(), &known))),
    }
}

async fn show(browser: Option<Arrival>, done: bool) {
    if let Some(browser) = browser {
        browser
            .show(if done { Page::Done } else { Page::Failed })
            .await;
    }
}
