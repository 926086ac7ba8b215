//! One connection to a server: how it is made, what is asked over it, how it ends.

mod open;
mod process;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification,
    CancelledNotificationParam, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    GetPromptResult, InputRequest, InputRequiredResult, InputResponses, JsonObject,
    ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolbay_contract::{KillSwitch, ProgressSink, visible_line};

use self::process::{Presence, Tail, Tasks};
use super::auth::Keys;
use super::bounds;
use super::handler::{Handler, Shared};
use super::state::Offers;
use super::wire::{Trouble, WireError, excerpt};

pub(super) use self::open::{Means, OpenError};

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
    /// Of a process: its last words.
    errors: Arc<Tail>,
    /// Of a server that may want to know who asks.
    keys: Option<Arc<Keys>>,
    _tasks: Tasks,
    /// Of a process, which is asked to end when this is dropped.
    _presence: Option<Presence>,
}

impl Link {
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

    /// Whether the server says that it has tools. Others offer only what can be read.
    pub(super) fn has_tools(&self) -> bool {
        let info = self.peer().peer_info();
        info.is_none_or(|info| info.capabilities.tools.is_some())
    }

    /// What the server says that it has beside tools.
    pub(super) fn offers(&self) -> Offers {
        let info = self.peer().peer_info();
        info.map_or(Offers::default(), |info| Offers {
            changes: true,
            prompts: info.capabilities.prompts.is_some(),
            resources: info.capabilities.resources.is_some(),
            completions: info.capabilities.completions.is_some(),
            subscriptions: info
                .capabilities
                .resources
                .as_ref()
                .is_some_and(|resources| resources.subscribe == Some(true)),
        })
    }

    /// What the server wants to know before it goes on.
    pub(super) fn wants(&self) -> Option<String> {
        let keys = self.keys.as_deref()?;
        wanted(self.shared.server(), keys)
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
        let request = |given: Given| {
            let mut params = CallToolRequestParams::new(tool.to_owned());
            params.arguments = Some(arguments.clone());
            (params.request_state, params.input_responses) = (given.state, given.responses);
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        match self.in_rounds(request, with).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            _ => Err(something_else()),
        }
    }

    /// The text of a prompt, filled in.
    pub(super) async fn prompt(
        &self,
        prompt: &str,
        arguments: JsonObject,
        with: &Conversation<'_>,
    ) -> Result<GetPromptResult, CallError> {
        let request = |given: Given| {
            let mut params = GetPromptRequestParams::new(prompt);
            params.arguments = Some(arguments.clone());
            (params.request_state, params.input_responses) = (given.state, given.responses);
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        match self.in_rounds(request, with).await? {
            ServerResult::GetPromptResult(result) => Ok(result),
            _ => Err(something_else()),
        }
    }

    /// What stands at an address.
    pub(super) async fn read(
        &self,
        uri: &str,
        with: &Conversation<'_>,
    ) -> Result<ReadResourceResult, CallError> {
        let request = |given: Given| {
            let mut params = ReadResourceRequestParams::new(uri);
            (params.request_state, params.input_responses) = (given.state, given.responses);
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        match self.in_rounds(request, with).await? {
            ServerResult::ReadResourceResult(result) => Ok(result),
            _ => Err(something_else()),
        }
    }

    /// Asks as often as the server wants to know more before it answers.
    async fn in_rounds(
        &self,
        request: impl Fn(Given) -> ClientRequest,
        with: &Conversation<'_>,
    ) -> Result<ServerResult, CallError> {
        let _under_way = self.shared.under_way(with.call_id);
        let mut given = Given::default();
        for _ in 0..bounds::ROUNDS {
            match self.ask(request(given), with).await? {
                ServerResult::InputRequiredResult(wanted) => {
                    given = Given {
                        state: wanted.request_state.clone(),
                        responses: Some(self.inputs(wanted, with).await?),
                    };
                }
                answer => return Ok(answer),
            }
        }
        let text = "it asks for more and more input and never answers";
        Err(CallError::Refused(text.into()))
    }

    /// Sends a request and waits for its answer, as long as there are signs of life. Nothing that the
    /// server does or leaves undone makes this longer: it is told afterwards that nobody waits.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        with: &Conversation<'_>,
    ) -> Result<ServerResult, CallError> {
        let alive = Arc::new(Notify::new());
        tokio::select! {
            biased;
            answered = self.answer(request, with, &alive) => answered,
            () = with.kill.thrown() => Err(CallError::Killed),
            () = silence(&alive, with.timeout) => Err(CallError::TimedOut(with.timeout)),
        }
    }

    async fn answer(
        &self,
        request: ClientRequest,
        with: &Conversation<'_>,
        alive: &Arc<Notify>,
    ) -> Result<ServerResult, CallError> {
        // The library's own limits wait until the server has taken the word that they are over.
        let options = PeerRequestOptions::no_options();
        let sending = self.peer().send_cancellable_request(request, options).await;
        let handle = match sending {
            Ok(handle) => handle,
            Err(error) => return Err(self.broken(error).await),
        };
        let token = handle.progress_token.clone();
        let sink = with.progress.clone();
        let _following = self.shared.follow(token, with.call_id, sink, alive.clone());
        let mut withdrawal = Withdrawal {
            peer: self.peer().clone(),
            id: Some(handle.id.clone()),
        };
        let answered = handle.await_response().await;
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
                // A line of its own would look like one of ours.
                let text = visible_line(&super::text::clean(&error.message, 2_000));
                CallError::Refused(format!("{text} (error {code})"))
            }
            ServiceError::TransportSend(error) => {
                let text = causes(&*error.error);
                match self.wants() {
                    Some(wanted) => CallError::NeedsAuth(wanted),
                    None if needs_auth(&*error.error) => CallError::NeedsAuth(text),
                    None => CallError::Gone(text),
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
        with: &Conversation<'_>,
    ) -> Result<InputResponses, CallError> {
        let mut responses = InputResponses::new();
        let requests = wanted.input_requests.unwrap_or_default();
        for (key, request) in requests.into_iter().take(bounds::QUESTIONS) {
            let value = match request {
                InputRequest::Elicitation(request) => {
                    let asked = self.shared.elicit(request.params, with.call_id);
                    let answered = tokio::select! {
                        answered = asked => answered,
                        () = with.kill.thrown() => return Err(CallError::Killed),
                    };
                    serde_json::to_value(answered)
                }
                #[allow(deprecated)]
                InputRequest::ListRoots(_) => serde_json::to_value(self.shared.roots_result()),
                #[allow(deprecated)]
                InputRequest::CreateMessage(request) => {
                    let asked = self.shared.sample(request.params, with.call_id);
                    let answered = tokio::select! {
                        answered = asked => answered,
                        () = with.kill.thrown() => return Err(CallError::Killed),
                    };
                    serde_json::to_value(answered.map_err(|why| {
                        CallError::Refused(format!("it wants to use the model, but {why}"))
                    })?)
                }
                _ => {
                    let text = "it wants to know something that is not known here";
                    return Err(CallError::Refused(text.into()));
                }
            };
            let value = value.map_err(|error| CallError::Refused(error.to_string()))?;
            responses.insert(key, value);
        }
        Ok(responses)
    }
}

/// Until there was no sign of life for so long, or the longest time that a call may take is over.
async fn silence(alive: &Notify, limit: Duration) {
    let begun = Instant::now();
    let last = begun + bounds::LONGEST_CALL.max(limit);
    let mut until = (begun + limit).min(last);
    loop {
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(until) => return,
            () = alive.notified() => until = (Instant::now() + limit).min(last),
        }
    }
}

/// What a server wanted to know before it answers.
#[derive(Default)]
struct Given {
    state: Option<String>,
    responses: Option<InputResponses>,
}

fn something_else() -> CallError {
    CallError::Refused("it answered with something else than a result".into())
}

/// What a server wants before it goes on, if it refused the last request.
fn wanted(server: &str, keys: &Keys) -> Option<String> {
    let need = keys.need()?;
    Some(format!("{need}: `toolbay mcp login {server}`"))
}

/// An error with what is behind it: the outermost says the least.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    // This one does not name the error that it is about as its source.
    let known = error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    let error = match known {
        Some(StreamableHttpError::Client(inner)) => inner,
        _ => error,
    };
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
