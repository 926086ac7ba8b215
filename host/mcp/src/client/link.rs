//! One connection to a server: how it is made, what is asked over it, how it ends.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification,
    CancelledNotificationParam, ClientRequest, InputRequest, InputRequiredResult, InputResponses,
    JsonObject, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RunningService,
    ServiceError,
};
use rmcp::transport::Transport;
use rmcp::{ClientServiceExt, RoleClient};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::AbortHandle;
use toolbay_contract::{BoxFuture, KillSwitch, ProgressSink};

use super::asking::Asker;
use super::bounds;
use super::config::{LinkConfig, ServerConfig};
use super::handler::{Handler, Shared};
use super::launch::{Instance, Launcher};
use super::wire::{
    BoundedClient, Guarded, LegacySse, Lines, Trouble, WebSocket, WireError, excerpt, streamable,
};

/// What connections of a session are made with.
pub(super) struct Means {
    pub(super) launcher: Arc<dyn Launcher>,
    pub(super) asker: Option<Arc<dyn Asker>>,
    /// The folders that servers are told of.
    pub(super) roots: Vec<PathBuf>,
    http: OnceLock<BoundedClient>,
}

impl Means {
    pub(super) fn new(
        launcher: Arc<dyn Launcher>,
        asker: Option<Arc<dyn Asker>>,
        roots: Vec<PathBuf>,
    ) -> Self {
        Self {
            launcher,
            asker,
            roots,
            http: OnceLock::new(),
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
pub(super) enum OpenError {
    NeedsAuth(String),
    Failed(String),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    Killed,
    TimedOut(Duration),
    /// The connection is gone.
    Gone(String),
    NeedsAuth(String),
    /// The server says no.
    Refused(String),
}

/// What a call needs beside its input.
pub(super) struct Conversation<'a> {
    pub(super) call_id: &'a str,
    pub(super) progress: ProgressSink,
    pub(super) kill: &'a KillSwitch,
    pub(super) timeout: Duration,
}

/// A connection.
pub(super) struct Link {
    running: RunningService<RoleClient, Handler>,
    pub(super) shared: Arc<Shared>,
    trouble: Trouble,
    /// Of a process: its last words, and what ends with this.
    errors: Arc<Tail>,
    tasks: Vec<AbortHandle>,
}

impl Drop for Link {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Link {
    /// Connects, within the time that a server has for it.
    pub(super) async fn open(
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
        match opened.map_err(|_| late())? {
            // Some old servers end at the first request that they do not know.
            Err(Unopened::Closed(_)) if matches!(config.link, LinkConfig::Stdio(_)) => {
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
            shared: Arc::new(Shared::new(&config.name, roots, means.asker.clone())),
            trouble: Trouble::default(),
            errors: Arc::default(),
            tasks: Tasks::default(),
        };
        let trouble = opening.trouble.clone();
        match &config.link {
            LinkConfig::Stdio(stdio) => {
                let launched = means.launcher.launch(&config.name, stdio, instance).await;
                let launched = launched
                    .map_err(|error| Unopened::Failed(format!("it does not start: {error}")))?;
                let (life, errors) = (launched.life, opening.errors.clone());
                let ended = trouble.clone();
                opening.tasks.spawn(async move { ended.note(life.await) });
                opening.tasks.spawn(errors.read(launched.errors));
                let lines = Lines::new(launched.output, launched.input, trouble);
                opening.greet(lines, era).await
            }
            LinkConfig::InProcess(opener) => {
                let (read, write) = tokio::io::split((opener.0)());
                opening.greet(Lines::new(read, write, trouble), era).await
            }
            LinkConfig::Http(url) => {
                let client = means.http().map_err(Unopened::from)?;
                opening.greet(streamable(client, url), era).await
            }
            LinkConfig::Sse(url) => {
                let client = means.http().map_err(Unopened::from)?;
                let opened = LegacySse::open(client, url, trouble).await;
                opening.greet(opened?, Era::Old).await
            }
            LinkConfig::WebSocket(url) => {
                let opened = WebSocket::open(url, trouble).await;
                opening.greet(opened?, era).await
            }
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.running.peer().is_transport_closed()
    }

    /// Whether the server tells of news only to those who subscribe.
    pub(super) fn is_modern(&self) -> bool {
        let info = self.peer().peer_info();
        info.is_some_and(|info| !info.protocol_version.has_initialize())
    }

    /// The protocol, and who the server says it is.
    pub(super) fn identity(&self) -> (String, Option<String>) {
        let Some(info) = self.peer().peer_info() else {
            return (String::new(), None);
        };
        let who = info.server_info.as_ref();
        let who = who.map(|who| super::text::clean(&format!("{} {}", who.name, who.version), 100));
        (info.protocol_version.to_string(), who)
    }

    /// Why the connection ended, as far as anybody knows.
    pub(super) async fn why_gone(&self) -> String {
        // How the process ended is known a moment after its output did.
        for _ in 0..20 {
            if self.trouble.told().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let told = self.trouble.told();
        let told = told.unwrap_or_else(|| "the connection was closed".into());
        self.errors.after(told)
    }

    /// Calls a tool. Whoever drops this, or throws the switch, tells the server so.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        with: &Conversation<'_>,
    ) -> Result<CallToolResult, CallError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        for _ in 0..bounds::ROUNDS {
            let request = CallToolRequest::new(params.clone());
            let request = ClientRequest::CallToolRequest(request);
            match self.ask(request, with).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    params.request_state = wanted.request_state.clone();
                    params.input_responses = Some(self.inputs(wanted, with.kill).await?);
                }
                _ => {
                    let text = "it answered with something else than a result";
                    return Err(CallError::Refused(text.into()));
                }
            }
        }
        let text = "it asks for more and more input and never answers";
        Err(CallError::Refused(text.into()))
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        with: &Conversation<'_>,
    ) -> Result<ServerResult, CallError> {
        let options = PeerRequestOptions::with_timeout(with.timeout)
            .reset_timeout_on_progress()
            .with_max_total_timeout(bounds::LONGEST_CALL.max(with.timeout));
        let sending = self.peer().send_cancellable_request(request, options);
        let handle = tokio::select! {
            handle = sending => match handle {
                Ok(handle) => handle,
                Err(error) => return Err(self.broken(error).await),
            },
            () = with.kill.thrown() => return Err(CallError::Killed),
        };
        let token = handle.progress_token.clone();
        let sink = with.progress.clone();
        let _following = self.shared.follow(token, with.call_id, sink);
        let mut withdrawal = Withdrawal {
            peer: self.peer().clone(),
            id: Some(handle.id.clone()),
        };
        let answered = tokio::select! {
            answered = handle.await_response() => answered,
            () = with.kill.thrown() => return Err(CallError::Killed),
        };
        withdrawal.id = None;
        match answered {
            Ok(result) => Ok(result),
            Err(error) => Err(self.broken(error).await),
        }
    }

    async fn broken(&self, error: ServiceError) -> CallError {
        match error {
            ServiceError::McpError(error) => {
                let code = error.code.0;
                let text = super::text::clean(&error.message, 2_000);
                CallError::Refused(format!("{text} (error {code})"))
            }
            ServiceError::Timeout { timeout } => CallError::TimedOut(timeout),
            ServiceError::TransportSend(error) => {
                let text = causes(&*error.error);
                match needs_auth(&*error.error) {
                    true => CallError::NeedsAuth(text),
                    false => CallError::Gone(text),
                }
            }
            ServiceError::Cancelled { .. } => CallError::Killed,
            ServiceError::TransportClosed => CallError::Gone(self.why_gone().await),
            error => CallError::Refused(error.to_string()),
        }
    }

    /// Answers what a server wants to know before it answers.
    async fn inputs(
        &self,
        wanted: InputRequiredResult,
        kill: &KillSwitch,
    ) -> Result<InputResponses, CallError> {
        let mut responses = InputResponses::new();
        let requests = wanted.input_requests.unwrap_or_default();
        for (key, request) in requests.into_iter().take(bounds::QUESTIONS) {
            let value = match request {
                InputRequest::Elicitation(request) => {
                    let answered = tokio::select! {
                        answered = self.shared.elicit(request.params) => answered,
                        () = kill.thrown() => return Err(CallError::Killed),
                    };
                    serde_json::to_value(answered)
                }
                #[allow(deprecated)]
                InputRequest::ListRoots(_) => serde_json::to_value(self.shared.roots_result()),
                _ => {
                    let text = "it wants to use the model, which is not lent to servers";
                    return Err(CallError::Refused(text.into()));
                }
            };
            let value = value.map_err(|error| CallError::Refused(error.to_string()))?;
            responses.insert(key, value);
        }
        Ok(responses)
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
    Failed(String),
}

impl From<Unopened> for OpenError {
    fn from(why: Unopened) -> Self {
        match why {
            Unopened::NeedsAuth(text) => Self::NeedsAuth(text),
            Unopened::Closed(text) | Unopened::Failed(text) => Self::Failed(text),
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
    tasks: Tasks,
}

impl Opening {
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
        let lifecycle = match era {
            Era::Old => ClientLifecycleMode::Initialize,
            Era::Any => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let guarded = Guarded::new(transport, self.trouble.clone());
        let handler = Handler(self.shared.clone());
        match handler.serve_with_lifecycle(guarded, lifecycle).await {
            Ok(running) => Ok(Link {
                running,
                shared: self.shared,
                trouble: self.trouble,
                errors: self.errors,
                tasks: self.tasks.keep(),
            }),
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn explain(self, error: ClientInitializeError) -> Unopened {
        if error.is_authorization_required() {
            return Unopened::NeedsAuth("it wants to know who asks; log in first".into());
        }
        let is_closed = matches!(error, ClientInitializeError::ConnectionClosed(_));
        for _ in 0..20 {
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
        match is_closed {
            true => Unopened::Closed(text),
            false => Unopened::Failed(text),
        }
    }
}

/// An error with what is behind it: the outermost says the least.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts: Vec<String> = vec![error.to_string()];
    let mut source = error.source();
    while let Some(inner) = source {
        let text = inner.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        source = inner.source();
    }
    excerpt(texts.join(": ").as_bytes(), 500)
}

fn needs_auth(error: &(dyn std::error::Error + 'static)) -> bool {
    use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};

    let mut next = Some(error);
    while let Some(error) = next {
        let wire = error.downcast_ref::<WireError>();
        if error.is::<AuthRequiredError>()
            || error.is::<InsufficientScopeError>()
            || matches!(wire, Some(WireError::NeedsAuth(_)))
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// Tasks that end with whoever holds this.
#[derive(Default)]
struct Tasks(Vec<AbortHandle>);

impl Tasks {
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.push(tokio::spawn(task).abort_handle());
    }

    fn keep(mut self) -> Vec<AbortHandle> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

/// Tells a server that nobody waits any more, unless it has answered.
struct Withdrawal {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("cancelled".into()));
            let notification = CancelledNotification::new(params);
            // A server that is gone needs no word.
            let _ = peer.send_notification(notification.into()).await;
        });
    }
}

/// The end of what a process says on its standard error.
#[derive(Default)]
struct Tail(Mutex<Vec<u8>>);

impl Tail {
    async fn read(self: Arc<Self>, mut errors: Box<dyn AsyncRead + Send + Unpin>) {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..read]);
            let over = kept.len().saturating_sub(bounds::ERRORS);
            kept.drain(..over);
        }
    }

    /// The text, followed by the process's last words.
    fn after(&self, text: String) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = kept.len().saturating_sub(600);
        match excerpt(&kept[begin..], 600) {
            said if said.is_empty() => text,
            said => format!("{text}; its last words: {said}"),
        }
    }
}
