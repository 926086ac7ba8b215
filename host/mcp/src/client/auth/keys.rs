//! The token for the next request to a server, and what to do when it is refused.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use rmcp::transport::auth::{AuthError as ProtocolError, OAuthClientConfig};

use super::endpoint::Unpublished;
use super::enterprise::Enterprise;
use super::entry::{Entry, Need};
use super::error::AuthError;
use super::machine;
use super::protocol;
use super::secret::Secret;
use super::server::Server;
use super::store::TokenStore;
use super::vault::Vault;

/// More than any server says. What is longer is cut, and then leads nowhere.
const MAX_CHALLENGE: usize = 4096;
const MAX_SCOPES: usize = 64;
const MAX_SCOPE: usize = 256;

/// A renewal takes a second; others wait for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// After a renewal that failed for a reason that may pass: no request asks again before this
/// time, which doubles up to the longest. Nothing is asked twice in a row: the first question
/// may have been understood, and a token that is used a second time looks stolen.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The tokens of one server, wherever they come from.
pub struct Keys {
    server: Server,
    source: Source,
    need: Mutex<Option<Need>>,
    failed: Mutex<Option<Failed>>,
    /// Whether the store says that a login is needed, which may be over.
    stale: AtomicBool,
}

/// Renewals of one token that failed one after the other.
struct Failed {
    token: Secret,
    times: u32,
    not_before: Instant,
    why: String,
    /// Whether only a login helps.
    is_final: bool,
}

enum Source {
    /// Somebody logged in.
    Login(TokenStore),
    /// The company's identity provider vouches for somebody.
    Enterprise(Box<Enterprise>),
}

impl Keys {
    /// Those that a login left in the store, in this program or in another.
    pub fn of_login(server: Server, store: TokenStore) -> Self {
        Self {
            server,
            source: Source::Login(store),
            need: Mutex::new(None),
            failed: Mutex::new(None),
            stale: AtomicBool::new(false),
        }
    }

    /// Those that an identity provider gives without a login here.
    pub fn of_enterprise(server: Server, enterprise: Enterprise) -> Self {
        Self {
            server,
            source: Source::Enterprise(Box::new(enterprise)),
            need: Mutex::new(None),
            failed: Mutex::new(None),
            stale: AtomicBool::new(false),
        }
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What the server wants before it goes on, if it refused the last request. This is
    /// what makes a connection's state *needs-auth*.
    pub fn need(&self) -> Option<Need> {
        self.need
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The token to send, renewed if it is about to end; nothing if there is none, and then
    /// the server shall say what it wants.
    pub async fn current(&self) -> Result<Option<String>, AuthError> {
        let store = match &self.source {
            Source::Enterprise(enterprise) => {
                let token = enterprise.current(&self.server).await;
                return self.told(token).await.map(Some);
            }
            Source::Login(store) => store,
        };
        let Some(entry) = store.read(&self.server).await? else {
            return Ok(None);
        };
        if entry.need.is_some() {
            self.stale.store(true, Ordering::Relaxed);
        }
        let Some(token) = entry.access_token() else {
            return Ok(None);
        };
        let now = SystemTime::now();
        if entry.is_fresh(now) {
            return Ok(Some(token.to_owned()));
        }
        match self.renewed(store, token).await {
            Ok(token) => Ok(token),
            // It is renewed ahead of time: for a while the old one still does.
            Err(AuthError::Unreachable(_)) if entry.ends().is_some_and(|ends| now < ends) => {
                Ok(Some(token.to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Another token in place of one that the server refused; nothing if there is none.
    pub async fn instead_of(&self, refused: &str) -> Result<Option<String>, AuthError> {
        match &self.source {
            Source::Login(store) => self.renewed(store, refused).await,
            Source::Enterprise(enterprise) => {
                let other = enterprise.instead_of(&self.server, refused).await;
                self.told(other).await.map(Some)
            }
        }
    }

    /// Renews the tokens of a login, unless that failed a moment ago.
    async fn renewed(&self, store: &TokenStore, stale: &str) -> Result<Option<String>, AuthError> {
        if let Some(pause) = self.pause(stale) {
            return Err(pause);
        }
        let renewed = renew(store, &self.server, stale).await;
        self.remember(stale, &renewed);
        self.told(renewed).await
    }

    fn remember(&self, stale: &str, renewed: &Result<Option<String>, AuthError>) {
        let (why, is_final) = match renewed {
            Err(AuthError::Unreachable(why)) => (Some(why), false),
            Err(AuthError::LoginNeeded(why)) => (Some(why), true),
            Ok(_) | Err(_) => (None, false),
        };
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        *failed = why.map(|why| {
            let times = failed.as_ref().map_or(0, |failed| failed.times);
            let pause = (FIRST_PAUSE * (1 << times.min(10))).min(LONGEST_PAUSE);
            Failed {
                token: Secret::new(stale.to_owned()),
                times: times + 1,
                not_before: Instant::now() + pause,
                why: why.clone(),
                is_final,
            }
        });
    }

    /// Why this token is not renewed now. After a login there is another one.
    fn pause(&self, stale: &str) -> Option<AuthError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = failed.as_ref()?;
        let left = failed.not_before.checked_duration_since(Instant::now())?;
        if failed.token.reveal() != stale {
            return None;
        }
        let (why, seconds) = (&failed.why, left.as_secs() + 1);
        Some(match failed.is_final {
            true => AuthError::LoginNeeded(why.clone()),
            false => {
                AuthError::Unreachable(format!("{why} (the next attempt is {seconds} s away)"))
            }
        })
    }

    /// Notes that only a login helps, if that is so, with the reason.
    async fn told<T>(&self, answer: Result<T, AuthError>) -> Result<T, AuthError> {
        if let Err(AuthError::LoginNeeded(reason)) = &answer {
            let (challenge, reason) = (String::new(), reason.clone());
            self.note(Need::Login { challenge, reason }).await;
        }
        answer
    }

    /// Notes that the server wants a login (401), with its words.
    pub async fn refused(&self, challenge: &str) {
        let challenge = cut(challenge);
        let reason = String::new();
        self.note(Need::Login { challenge, reason }).await;
    }

    /// Notes that the server wants more rights (403, `insufficient_scope`), with its words.
    pub async fn too_narrow(&self, scopes: Option<&str>, challenge: &str) {
        let scopes = scopes.unwrap_or_default().split_ascii_whitespace();
        let scopes = scopes
            .filter(|scope| is_scope(scope))
            .take(MAX_SCOPES)
            .map(str::to_owned)
            .collect();
        let challenge = cut(challenge);
        self.note(Need::Scopes { scopes, challenge }).await;
    }

    /// Notes that the server is content. More rights that it wanted for something else are
    /// still wanted: they stay in the store until a login.
    pub async fn accepted(&self) {
        *self.need.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Source::Login(store) = &self.source
            && self.stale.swap(false, Ordering::Relaxed)
        {
            let forgotten = store.update(&self.server, |place| {
                if let Some(entry) = place
                    && matches!(entry.need, Some(Need::Login { .. }))
                {
                    entry.need = None;
                    // There was nothing else to remember.
                    if entry.credentials.is_none() {
                        *place = None;
                    }
                }
            });
            // It only makes the state look worse than it is.
            let _ = forgotten.await;
        }
    }

    /// Whether this is the address that the tokens are for.
    pub(super) fn are_for(&self, address: &str) -> bool {
        Url::parse(address).is_ok_and(|mut url| {
            url.set_fragment(None);
            url == *self.server.url()
        })
    }

    /// The login may be made by another program, which then knows what for.
    async fn note(&self, need: Need) {
        *self.need.lock().unwrap_or_else(PoisonError::into_inner) = Some(need.clone());
        if let Source::Login(store) = &self.source {
            self.stale.store(true, Ordering::Relaxed);
            let noted = store.update(&self.server, |place| {
                let entry = place.get_or_insert_with(Entry::default);
                let mut need = need;
                if let (Need::Login { challenge, .. }, Some(before)) = (&mut need, &entry.need)
                    && challenge.is_empty()
                {
                    // What the server said still leads to its authorisation server.
                    *challenge = before.challenge().to_owned();
                }
                entry.need = Some(need);
            });
            // Without it the login has to ask the server again.
            let _ = noted.await;
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("server", &self.server)
            .field("need", &self.need())
            .finish_non_exhaustive()
    }
}

/// Renews the tokens of a login, alone among all programs. Whoever had to wait finds that
/// another one did it, and takes what is there.
async fn renew(
    store: &TokenStore,
    server: &Server,
    stale: &str,
) -> Result<Option<String>, AuthError> {
    let _alone = store.renewing(server).await?;
    // Its questions have limits of their own, but a server can lead to many of them.
    tokio::time::timeout(PATIENCE, renew_alone(store, server, stale))
        .await
        .unwrap_or_else(|_| {
            Err(AuthError::Unreachable(
                "the authorisation server takes too long to renew the login".to_owned(),
            ))
        })
}

async fn renew_alone(
    store: &TokenStore,
    server: &Server,
    stale: &str,
) -> Result<Option<String>, AuthError> {
    let Some(entry) = store.read(server).await? else {
        return Ok(None);
    };
    match entry.access_token() {
        None => return Ok(None),
        Some(token) if token != stale && entry.is_fresh(SystemTime::now()) => {
            return Ok(Some(token.to_owned()));
        }
        Some(_) => {}
    }
    if entry.alone {
        let again = machine::again(server, &entry).await;
        let entry = again.map_err(AuthError::of_renewal)?;
        let token = entry.access_token().map(str::to_owned);
        store.update(server, |place| *place = Some(entry)).await?;
        return Ok(token);
    }
    let (Some(credentials), Some(_)) = (&entry.credentials, entry.refresh_token()) else {
        return Ok(None);
    };
    let mut manager = protocol::manager(server, entry.addresses).await?;
    let unpublished = if entry.guessed {
        Unpublished::GuessEndpoints
    } else {
        Unpublished::Refuse
    };
    let (mut metadata, _) = protocol::discover(&mut manager, server, None, unpublished).await?;
    // The library would ask for `offline_access` wherever it exists, also where it was not
    // granted, and to ask for more than was granted is an error.
    metadata.scopes_supported = None;
    manager.set_metadata(metadata);
    manager.set_credential_store(Vault::new(store, server));
    let secrets = entry.secrets();
    let explain = |error| AuthError::from_protocol(error, &secrets);
    // It forgets tokens of another authorisation server than the one that is named now.
    if !manager.initialize_from_store().await.map_err(explain)? {
        return Ok(None);
    }
    let redirect = entry
        .redirect
        .as_deref()
        .unwrap_or("http://127.0.0.1/callback");
    let mut client = OAuthClientConfig::new(&credentials.client_id, redirect);
    if let Some(secret) = &entry.client_secret {
        client = client.with_client_secret(Secret::reveal(secret));
    }
    manager.configure_client(client).map_err(explain)?;
    match manager.refresh_token().await {
        Ok(_) => {
            let entry = store.read(server).await?.unwrap_or_default();
            Ok(entry.access_token().map(str::to_owned))
        }
        Err(ProtocolError::TokenRefreshRejected(_) | ProtocolError::AuthorizationRequired) => {
            Ok(None)
        }
        Err(error) => Err(explain(error).of_renewal()),
    }
}

fn cut(challenge: &str) -> String {
    let end = challenge.floor_char_boundary(MAX_CHALLENGE);
    challenge.get(..end).unwrap_or_default().to_owned()
}

/// As OAuth defines one; anything else would end up on somebody's screen.
fn is_scope(scope: &str) -> bool {
    scope.len() <= MAX_SCOPE
        && scope
            .bytes()
            .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}
