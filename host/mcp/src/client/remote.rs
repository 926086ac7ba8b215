//! One server: connected when it is needed, once, and again after it broke.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerNotification, ServerResult,
    SubscriptionFilter, Tool,
};
use rmcp::service::{Peer, ServiceError};
use tokio::time::{Instant, sleep, timeout};
use toolbay_contract::{BoxFuture, visible_line};

use super::bounds;
use super::config::{LinkConfig, ServerConfig};
use super::definition::{Definition, Listing};
use super::launch::Instance;
use super::link::{Link, Means, OpenError, causes};
use super::memory::{Memory, ToolKey};
use super::news::{List, News};
use super::state::{Offers, State, Status};
use super::text::clean;
use crate::name::ToolName;

/// What is kept of why a server cannot be used.
const LONGEST_REASON: usize = 2_000;

/// A server.
pub(super) struct Remote {
    pub(super) config: Arc<ServerConfig>,
    means: Arc<Means>,
    pub(super) memory: Arc<dyn Memory>,
    news: News,
    main: Arc<tokio::sync::Mutex<Slot>>,
    reading: Arc<tokio::sync::Mutex<Slot>>,
    known: Mutex<Known>,
}

/// A connection, or how often none could be made.
#[derive(Default)]
struct Slot {
    link: Option<Arc<Link>>,
    failures: u32,
    not_before: Option<Instant>,
}

struct Known {
    state: State,
    offers: Offers,
    tools: Vec<Arc<Definition>>,
    problems: Vec<String>,
}

impl Remote {
    pub(super) fn new(
        config: ServerConfig,
        means: Arc<Means>,
        memory: Arc<dyn Memory>,
        news: News,
    ) -> Self {
        let state = match config.disabled {
            true => State::Disabled {
                reason: format!("{} says so", config.source),
            },
            false => State::Pending { reason: None },
        };
        Self {
            config: Arc::new(config),
            means,
            memory,
            news,
            main: Default::default(),
            reading: Default::default(),
            known: Mutex::new(Known {
                state,
                offers: Offers::default(),
                tools: Vec::new(),
                problems: Vec::new(),
            }),
        }
    }

    pub(super) fn status(&self) -> Status {
        let known = self.known();
        Status {
            name: self.config.name.clone(),
            scope: self.config.scope,
            source: self.config.source.clone(),
            transport: self.config.link.word().into(),
            place: self.config.link.place(),
            state: known.state.clone(),
            problems: known.problems.clone(),
        }
    }

    pub(super) fn tools(&self) -> Vec<Arc<Definition>> {
        self.known().tools.clone()
    }

    pub(super) fn news(&self) -> &News {
        &self.news
    }

    pub(super) fn offers(&self) -> Offers {
        self.known().offers
    }

    /// Whether nobody has tried to connect it.
    pub(super) fn is_unasked(&self) -> bool {
        matches!(self.known().state, State::Pending { .. })
    }

    /// The part of its tools' names that is the server's.
    pub(super) fn prefix(&self) -> Option<String> {
        let name = ToolName::new(&self.config.name, "x")?;
        Some(name.server().to_owned())
    }

    pub(super) fn key(&self, tool: &str) -> ToolKey {
        ToolKey {
            scope: self.config.scope,
            server: self.config.name.clone(),
            tool: tool.to_owned(),
        }
    }

    /// Whether calls that only read have a process of their own, which cannot write.
    pub(super) fn has_reading_instance(&self) -> bool {
        let is_process = matches!(self.config.link, LinkConfig::Stdio(_));
        is_process && !self.config.trusted && !self.config.stateful
    }

    /// The process for what only reads.
    pub(super) fn reader(&self) -> Instance {
        match self.has_reading_instance() {
            true => Instance::ReadOnly,
            false => Instance::Main,
        }
    }

    /// Connects if need be, and knows the tools afterwards. The error is for whoever called one.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<(), String> {
        self.link(Instance::Main).await.map(drop)
    }

    /// The connection; a dead one is made anew, unless that failed a moment ago.
    pub(super) fn link(
        self: &Arc<Self>,
        instance: Instance,
    ) -> BoxFuture<'static, Result<Arc<Link>, String>> {
        let this = self.clone();
        Box::pin(async move { this.linked(instance).await })
    }

    async fn linked(self: &Arc<Self>, instance: Instance) -> Result<Arc<Link>, String> {
        if let State::Disabled { reason } = &self.known().state {
            return Err(self.sentence(&format!("is disabled: {reason}")));
        }
        let slot = match instance {
            Instance::Main => &self.main,
            Instance::ReadOnly => &self.reading,
        };
        let mut slot = slot.clone().lock_owned().await;
        if let Some(link) = slot.link.as_ref().filter(|link| !link.is_closed()) {
            return Ok(link.clone());
        }
        slot.link = None;
        if let Some(pause) = slot.pause() {
            let why = self.known().state.reason().unwrap_or("it broke").to_owned();
            let pause = pause.as_secs() + 1;
            let text = format!("cannot be used: {why} (the next attempt is {pause} s away)");
            return Err(self.sentence(&text));
        }
        let opened = match Link::open(self.config.clone(), self.means.clone(), instance).await {
            Ok(link) => self.begin(Arc::new(link), instance).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(link) => {
                *slot = Slot {
                    link: Some(link.clone()),
                    ..Slot::default()
                };
                Ok(link)
            }
            Err(error) => {
                // Whoever logs in tries again at once.
                if !matches!(error, OpenError::NeedsAuth(_)) {
                    slot.failed();
                }
                Err(self.note_failure(error))
            }
        }
    }

    /// Notes that a connection broke while it was used.
    pub(super) fn note_gone(&self, why: &str) -> String {
        self.note_failure(OpenError::Failed(why.to_owned()))
    }

    pub(super) fn note_needs_auth(&self, why: &str) -> String {
        self.note_failure(OpenError::NeedsAuth(why.to_owned()))
    }

    fn note_failure(&self, error: OpenError) -> String {
        // The server may have worded it: one line, and not all that it could say.
        let told = |reason: &str| visible_line(&clean(reason, LONGEST_REASON));
        let (state, text) = match error {
            OpenError::NeedsAuth(reason) => {
                let reason = told(&reason);
                let text = format!("needs authorisation: {reason}");
                (State::NeedsAuth { reason }, text)
            }
            OpenError::Failed(reason) => {
                let reason = told(&reason);
                let text = format!("cannot be used: {reason}");
                (State::Failed { reason }, text)
            }
        };
        self.known().state = state;
        self.sentence(&text)
    }

    fn sentence(&self, what: &str) -> String {
        format!("the MCP server `{}` {what}", self.config.name)
    }

    /// Asks a new connection for the tools. Only the main one says what there is.
    async fn begin(
        self: &Arc<Self>,
        link: Arc<Link>,
        instance: Instance,
    ) -> Result<Arc<Link>, OpenError> {
        if instance == Instance::Main {
            let listed = self.clone().list(link.clone()).await;
            listed.map_err(|error| match link.wants() {
                Some(wanted) => OpenError::NeedsAuth(wanted),
                None => OpenError::Failed(error),
            })?;
            let (remote, watched) = (Arc::downgrade(self), Arc::downgrade(&link));
            tokio::spawn(watch(remote, watched));
        }
        Ok(link)
    }

    async fn list(self: Arc<Self>, link: Arc<Link>) -> Result<(), String> {
        let listed = match link.has_tools() {
            true => timeout(bounds::CONNECT, list_tools(link.peer().clone())).await,
            false => Ok(Ok(Default::default())),
        };
        let (tools, mut problems) = match listed {
            Ok(Ok(listed)) => listed,
            Ok(Err(error)) => return Err(format!("its tools cannot be listed: {error}")),
            Err(_) => return Err("it does not list its tools".into()),
        };
        let listing = match tools.len() > bounds::LISTED_TOOLS {
            true => Listing::Deferred,
            false => Listing::Listed,
        };
        let before = self.tools();
        let mut now: Vec<Arc<Definition>> = Vec::new();
        for tool in tools {
            let name = clean(&tool.name, 64);
            match Definition::of(&self.config.name, tool, listing) {
                Ok(new) => {
                    if now.iter().any(|other| other.info.name == new.info.name) {
                        problems.push(format!("it has two tools called `{name}`"));
                        continue;
                    }
                    // One that is the same stays the same, with all that is known about it.
                    let same = before.iter().find(|old| ***old == new).cloned();
                    now.push(same.unwrap_or_else(|| Arc::new(new)));
                }
                Err(problem) => problems.push(format!("its tool `{name}` is left out: {problem}")),
            }
        }
        problems.truncate(20);
        let (protocol, server) = link.identity();
        let mut known = self.known();
        known.state = State::Connected {
            tools: now.len(),
            protocol,
            server,
        };
        known.offers = link.offers();
        known.tools = now;
        known.problems = problems;
        drop(known);
        self.news.tell(List::Tools);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn pause(&self) -> Option<Duration> {
        let left = self.not_before?.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some(left)
    }

    fn failed(&mut self) {
        self.link = None;
        let factor = 1_u32 << self.failures.min(10);
        let pause = (bounds::FIRST_PAUSE * factor).min(bounds::LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + pause);
    }
}

/// All pages of the list, as far as they may go.
async fn list_tools(peer: Peer<RoleClient>) -> Result<(Vec<Tool>, Vec<String>), String> {
    let (mut tools, mut problems, mut cursor) = (Vec::new(), Vec::new(), None);
    for _ in 0..bounds::PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ListToolsRequest::with_param(page);
        let asked = peer.send_request(ClientRequest::ListToolsRequest(request));
        let answer = asked.await.map_err(|error| match error {
            ServiceError::TransportSend(error) => causes(&*error.error),
            error => error.to_string(),
        })?;
        let next = match answer {
            ServerResult::ListToolsResult(page) => {
                tools.extend(page.tools);
                page.next_cursor
            }
            // One bad tool makes a list that the library does not know.
            ServerResult::CustomResult(page) => {
                let Some(list) = page.0.get("tools").and_then(|list| list.as_array()) else {
                    return Err("it answered with something else than a list".into());
                };
                for tool in list {
                    match serde_json::from_value(tool.clone()) {
                        Ok(tool) => tools.push(tool),
                        Err(error) => problems.push(format!("a tool is left out: {error}")),
                    }
                }
                let next = page.0.get("nextCursor").and_then(|next| next.as_str());
                next.map(str::to_owned)
            }
            _ => return Err("it answered with something else than a list".into()),
        };
        if tools.len() > bounds::TOOLS {
            let most = bounds::TOOLS;
            problems.insert(
                0,
                format!("it offers more than {most} tools; the others are left out"),
            );
            tools.truncate(most);
            return Ok((tools, problems));
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return Ok((tools, problems)),
        }
    }
    problems.insert(
        0,
        "its list of tools has no end; the rest is left out".into(),
    );
    Ok((tools, problems))
}

/// Looks at the tools again whenever the server says that they changed, as long as the
/// connection lives.
async fn watch(remote: Weak<Remote>, link: Weak<Link>) {
    let subscribed = match link.upgrade() {
        Some(link) if link.is_modern() => {
            let filter = SubscriptionFilter::builder()
                .tools_list_changed()
                .prompts_list_changed()
                .resources_list_changed()
                .build();
            let listening = timeout(bounds::CONNECT, link.peer().listen(filter)).await;
            listening.ok().and_then(Result::ok)
        }
        _ => None,
    };
    let Some(shared) = link.upgrade().map(|link| link.shared.clone()) else {
        return;
    };
    let mut subscribed = subscribed;
    loop {
        match &mut subscribed {
            Some(subscription) => match subscription.next().await {
                Ok(Some(told)) => told_of(&told)
                    .into_iter()
                    .for_each(|list| shared.said.note(list)),
                Ok(None) | Err(_) => subscribed = None,
            },
            None => shared.said.something().await,
        }
        // News come in crowds.
        sleep(bounds::GATHER).await;
        let (Some(remote), Some(link)) = (remote.upgrade(), link.upgrade()) else {
            return;
        };
        if link.is_closed() {
            return;
        }
        for list in shared.said.take() {
            match list {
                // A server that cannot say what it has now keeps what it had.
                List::Tools => drop(remote.clone().list(link.clone()).await),
                List::Prompts | List::Resources => remote.news.tell(list),
            }
        }
    }
}

/// The list that a notification is about.
fn told_of(told: &ServerNotification) -> Option<List> {
    match told {
        ServerNotification::ToolListChangedNotification(_) => Some(List::Tools),
        ServerNotification::PromptListChangedNotification(_) => Some(List::Prompts),
        ServerNotification::ResourceListChangedNotification(_) => Some(List::Resources),
        _ => None,
    }
}
