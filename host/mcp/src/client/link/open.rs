//! How a connection is made.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode};
use rmcp::transport::Transport;
use rmcp::{ClientServiceExt, RoleClient};
use toolbay_contract::BoxFuture;

use super::process::{Presence, Tail, Tasks, accompany};
use super::{Link, causes, wanted};
use crate::client::asking::Asker;
use crate::client::auth::{AuthorizedClient, Keys};
use crate::client::bounds;
use crate::client::config::{LinkConfig, ServerConfig};
use crate::client::departures::{Departures, Stay};
use crate::client::handler::{Handler, Shared};
use crate::client::keyring::Keyring;
use crate::client::launch::{Instance, Launcher};
use crate::client::news::News;
use crate::client::sampling::Sampler;
use crate::client::servers::Surroundings;
use crate::client::wire::{
    BoundedClient, Guarded, LegacySse, Lines, Trouble, WebSocket, WireError, excerpt, streamable,
};

/// What connections of a session are made with.
pub(in crate::client) struct Means {
    pub(in crate::client) launcher: Arc<dyn Launcher>,
    pub(in crate::client) asker: Option<Arc<dyn Asker>>,
    /// The folders that servers are told of.
    pub(in crate::client) roots: Vec<PathBuf>,
    keyring: Option<Keyring>,
    departures: Departures,
    sampler: Option<Arc<dyn Sampler>>,
    news: News,
    http: OnceLock<BoundedClient>,
}

impl Means {
    pub(in crate::client) fn new(around: Surroundings, news: News) -> Self {
        Self {
            launcher: around.launcher,
            asker: around.asker,
            roots: around.roots,
            keyring: around.keyring,
            departures: around.departures,
            sampler: around.sampler,
            news,
            http: OnceLock::new(),
        }
    }

    fn keys(&self, config: &ServerConfig) -> Result<Option<Arc<Keys>>, Unopened> {
        match &self.keyring {
            Some(keyring) => keyring.keys(config).map_err(Unopened::Failed),
            None => Ok(None),
        }
    }

    /// Made when the first server needs it: it reads the certificates of the machine.
    fn http(&self) -> Result<BoundedClient, OpenError> {
        if let Some(client) = self.http.get() {
            return Ok(client.clone());
        }
        let client = BoundedClient::new().map_err(OpenError::Failed)?;
        Ok(self.http.get_or_init(|| client).clone())
    }
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::client) enum OpenError {
    NeedsAuth(String),
    Failed(String),
}

impl Link {
    /// Connects, within the time that a server has for it.
    pub(in crate::client) async fn open(
        config: Arc<ServerConfig>,
        means: Arc<Means>,
        instance: Instance,
    ) -> Result<Self, OpenError> {
        let modern = Self::open_as(config.clone(), means.clone(), instance, Era::Any);
        let opened = tokio::time::timeout(bounds::CONNECT, modern).await;
        let late = || {
            let limit = bounds::CONNECT.as_secs();
            OpenError::Failed(format!("it did not answer within {limit} s"))
        };
        let opened = opened.map_err(|_| late())?;
        let is_too_new = match &opened {
            // Some old servers end at the first request that they do not know.
            Err(Unopened::Closed(_)) => matches!(config.link, LinkConfig::Stdio(_)),
            Err(Unopened::Confused(_)) => true,
            Ok(_) | Err(Unopened::NeedsAuth(_) | Unopened::Failed(_)) => false,
        };
        match opened {
            Err(_) if is_too_new => {
                let old = Self::open_as(config.clone(), means.clone(), instance, Era::Old);
                let opened = tokio::time::timeout(bounds::CONNECT, old).await;
                opened.map_err(|_| late())?.map_err(OpenError::from)
            }
            opened => opened.map_err(OpenError::from),
        }
    }

    async fn open_as(
        config: Arc<ServerConfig>,
        means: Arc<Means>,
        instance: Instance,
        era: Era,
    ) -> Result<Self, Unopened> {
        let roots = match &config.link {
            LinkConfig::Stdio(stdio) => stdio.sandbox.roots.clone(),
            _ => None,
        };
        let roots = roots.unwrap_or_else(|| means.roots.clone());
        let mut opening = Opening {
            shared: Arc::new(Shared::new(
                &config.name,
                roots,
                means.asker.clone(),
                means.sampler.clone().filter(|_| config.sampling),
                means.news.clone(),
            )),
            trouble: Trouble::default(),
            errors: Arc::default(),
            presence: None,
            keys: None,
            departures: means.departures.clone(),
        };
        let trouble = opening.trouble.clone();
        match &config.link {
            LinkConfig::Stdio(stdio) => {
                // Before it is started: nothing is, when everything ends.
                let stay = opening.stay()?;
                let launched = means.launcher.launch(&config.name, stdio, instance).await;
                let launched = launched
                    .map_err(|error| Unopened::Failed(format!("it does not start: {error}")))?;
                let errors = opening.errors.clone();
                let (output, input, presence) = accompany(launched, trouble.clone(), errors, stay);
                opening.presence = Some(presence);
                opening.greet(Lines::new(output, input, trouble), era).await
            }
            LinkConfig::InProcess(opener) => {
                let (read, write) = tokio::io::split((opener.0)());
                opening.greet(Lines::new(read, write, trouble), era).await
            }
            LinkConfig::Http(url) => {
                let client = means.http().map_err(Unopened::from)?;
                let Some(keys) = means.keys(&config)? else {
                    return opening.greet(streamable(client, url), era).await;
                };
                opening.keys = Some(keys.clone());
                let client = AuthorizedClient::new(client, keys);
                opening.greet(streamable(client, url), era).await
            }
            LinkConfig::Sse(url) => {
                let client = means.http().map_err(Unopened::from)?;
                let keys = means.keys(&config)?;
                let opened = LegacySse::open(client, url, keys.clone(), trouble).await;
                let opened = opened.map_err(|error| told(&config.name, error, keys.as_deref()))?;
                opening.keys = keys;
                opening.greet(opened, Era::Old).await
            }
            LinkConfig::WebSocket(url) => {
                let opened = WebSocket::open(url, trouble).await;
                opening.greet(opened?, era).await
            }
        }
    }
}

/// Whether nobody is there any more: a process that has ended also breaks the pipe that is written to.
fn is_closed(error: &ClientInitializeError) -> bool {
    let is_broken = |error: &(dyn Error + 'static)| {
        let error = error.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(
            error,
            Some(ErrorKind::BrokenPipe | ErrorKind::NotConnected | ErrorKind::ConnectionReset)
        )
    };
    match error {
        ClientInitializeError::ConnectionClosed(_) => true,
        ClientInitializeError::TransportError { error, .. } => is_broken(&*error.error),
        _ => false,
    }
}

/// Which protocols are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Any,
    Old,
}

/// Why a connection was not made, as long as it matters how.
enum Unopened {
    NeedsAuth(String),
    Closed(String),
    /// It answered what it cannot have understood.
    Confused(String),
    Failed(String),
}

impl From<Unopened> for OpenError {
    fn from(why: Unopened) -> Self {
        match why {
            Unopened::NeedsAuth(text) => Self::NeedsAuth(text),
            Unopened::Closed(text) | Unopened::Confused(text) | Unopened::Failed(text) => {
                Self::Failed(text)
            }
        }
    }
}

impl From<OpenError> for Unopened {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NeedsAuth(text) => Self::NeedsAuth(text),
            OpenError::Failed(text) => Self::Failed(text),
        }
    }
}

impl From<WireError> for Unopened {
    fn from(error: WireError) -> Self {
        match &error {
            WireError::NeedsAuth(_) => Self::NeedsAuth(error.to_string()),
            WireError::Status(_) | WireError::Io(_) | WireError::Other(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

struct Opening {
    shared: Arc<Shared>,
    trouble: Trouble,
    errors: Arc<Tail>,
    /// Of a process: it ends with this.
    presence: Option<Presence>,
    keys: Option<Arc<Keys>>,
    departures: Departures,
}

/// Why a connection was not made, and what its server wants if that is known.
fn told(name: &str, error: WireError, keys: Option<&Keys>) -> Unopened {
    match keys.and_then(|keys| wanted(name, keys)) {
        Some(wanted) => Unopened::NeedsAuth(wanted),
        None => Unopened::from(error),
    }
}

fn too_late() -> Unopened {
    Unopened::Failed("the program is about to end".into())
}

impl Opening {
    fn stay(&self) -> Result<Stay, Unopened> {
        self.departures.arrive().ok_or_else(too_late)
    }

    /// Agrees on a protocol. In a box, or the compiler does not see that it can be sent.
    fn greet<T>(self, transport: T, era: Era) -> BoxFuture<'static, Result<Link, Unopened>>
    where
        T: Transport<RoleClient> + 'static,
    {
        Box::pin(self.greeted(transport, era))
    }

    async fn greeted<T>(self, transport: T, era: Era) -> Result<Link, Unopened>
    where
        T: Transport<RoleClient> + 'static,
    {
        let stay = self.stay()?;
        let over = stay.over();
        let lifecycle = match era {
            Era::Old => ClientLifecycleMode::Initialize,
            Era::Any => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let guarded = Guarded::new(transport, self.trouble.clone(), stay);
        let handler = Handler(self.shared.clone());
        let mut over = Box::pin(over);
        let greeted = tokio::select! {
            greeted = handler.serve_with_lifecycle(guarded, lifecycle) => greeted,
            () = &mut over => return Err(too_late()),
        };
        match greeted {
            Ok(running) => {
                let end = running.cancellation_token();
                let mut tasks = Tasks::default();
                tasks.spawn(async move {
                    over.await;
                    end.cancel();
                });
                Ok(Link {
                    running,
                    shared: self.shared,
                    trouble: self.trouble,
                    errors: self.errors,
                    keys: self.keys,
                    _tasks: tasks,
                    _presence: self.presence,
                })
            }
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn explain(self, error: ClientInitializeError) -> Unopened {
        if let Some(keys) = &self.keys
            && let Some(wanted) = wanted(self.shared.server(), keys)
        {
            return Unopened::NeedsAuth(wanted);
        }
        if error.is_authorization_required() {
            return Unopened::NeedsAuth("it wants to know who asks; log in first".into());
        }
        let is_closed = is_closed(&error);
        let is_confused = matches!(error, ClientInitializeError::ExpectedInitResult(_));
        // How a process ended is known a moment later, on a busy machine a longer one.
        let patience = match self.presence {
            Some(_) => 200,
            None => 20,
        };
        for _ in 0..patience {
            if !is_closed || self.trouble.told().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let text = match (&error, self.trouble.told()) {
            (_, Some(told)) => told,
            (ClientInitializeError::ConnectionClosed(_), None) => {
                "it closed the connection before it answered".into()
            }
            (ClientInitializeError::TransportError { error, .. }, None) => causes(&*error.error),
            (error, None) => excerpt(error.to_string().as_bytes(), 500),
        };
        let text = self.errors.after(text);
        match (is_closed, is_confused) {
            (true, _) => Unopened::Closed(text),
            (false, true) => Unopened::Confused(text),
            (false, false) => Unopened::Failed(text),
        }
    }
}
