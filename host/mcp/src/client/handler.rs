//! What servers may ask of us, and what they tell unasked.
// Roots and sampling are deprecated in the newest protocol; older servers use them.
#![allow(deprecated)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorData,
    FormElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ResourceUpdatedNotificationParam, Root, RootsCapabilities,
    SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Notify, Semaphore};
use toolbay_contract::{Progress, ProgressSink};

use super::asking::{Asker, Elicitation, Elicited};
use super::bounds;
use super::news::{List, News, Said};
use super::sampling::{Sampler, Sampling, Used, bounded, written};
use super::text::clean;

/// What the connection and its calls share.
pub(super) struct Shared {
    pub(super) server: String,
    pub(super) roots: Vec<PathBuf>,
    pub(super) asker: Option<Arc<dyn Asker>>,
    /// Only where the server's entry lets it use the model.
    sampler: Option<Arc<dyn Sampler>>,
    used: Used,
    /// The calls under way, in the order in which they began.
    calls: Mutex<Vec<String>>,
    routes: Mutex<HashMap<ProgressToken, Route>>,
    /// What the server says is otherwise now.
    pub(super) said: Said,
    news: News,
    questions: Semaphore,
}

struct Route {
    call_id: String,
    sink: ProgressSink,
    /// Told of every sign of life.
    alive: Arc<Notify>,
}

/// A call whose progress is passed on until this is dropped.
pub(super) struct Following<'a> {
    shared: &'a Shared,
    token: ProgressToken,
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.shared.routes().remove(&self.token);
    }
}

/// A call is under way until this is dropped.
pub(super) struct UnderWay<'a> {
    shared: &'a Shared,
    call_id: String,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut calls = self.shared.calls();
        if let Some(at) = calls.iter().position(|call| *call == self.call_id) {
            calls.remove(at);
        }
        drop(calls);
        self.shared.used.forget(&self.call_id);
    }
}

impl Shared {
    pub(super) fn new(
        server: &str,
        roots: Vec<PathBuf>,
        asker: Option<Arc<dyn Asker>>,
        sampler: Option<Arc<dyn Sampler>>,
        news: News,
    ) -> Self {
        Self {
            server: server.to_owned(),
            roots,
            asker,
            sampler,
            used: Used::default(),
            calls: Mutex::default(),
            routes: Mutex::default(),
            said: Said::default(),
            news,
            questions: Semaphore::new(bounds::QUESTIONS),
        }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn follow(
        &self,
        token: ProgressToken,
        call_id: &str,
        sink: ProgressSink,
        alive: Arc<Notify>,
    ) -> Following<'_> {
        let route = Route {
            call_id: call_id.to_owned(),
            sink,
            alive,
        };
        self.routes().insert(token.clone(), route);
        Following {
            shared: self,
            token,
        }
    }

    pub(super) fn roots_result(&self) -> ListRootsResult {
        let root = |path: &PathBuf| reqwest::Url::from_directory_path(path).ok();
        let roots = self.roots.iter().filter_map(root);
        ListRootsResult::new(roots.map(|url| Root::new(url.to_string())).collect())
    }

    /// The call during which the server asks for something. It does not say which, so the last
    /// one that began is taken.
    fn latest_call(&self) -> Option<String> {
        self.calls().last().cloned()
    }

    /// To be called before the server can know of the call.
    pub(super) fn under_way(&self, call_id: &str) -> Option<UnderWay<'_>> {
        if call_id.is_empty() {
            return None;
        }
        self.calls().push(call_id.to_owned());
        Some(UnderWay {
            shared: self,
            call_id: call_id.to_owned(),
        })
    }

    fn calls(&self) -> MutexGuard<'_, Vec<String>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the model write something for the server.
    pub(super) async fn sample(
        &self,
        request: CreateMessageRequestParams,
        call_id: &str,
    ) -> Result<CreateMessageResult, String> {
        let Some(sampler) = &self.sampler else {
            return Err("this client lends its model to nobody".into());
        };
        if call_id.is_empty() {
            return Err("the model is lent during calls alone".into());
        }
        let params = bounded(request)?;
        if !self.used.one_more(call_id) {
            let most = bounds::SAMPLES;
            return Err(format!("this call has used the model {most} times already"));
        }
        let asked = Sampling {
            server: self.server.clone(),
            call_id: call_id.to_owned(),
            params,
        };
        written(sampler.sample(asked).await?)
    }

    /// Puts a question of the server to the person.
    pub(super) async fn elicit(&self, request: ElicitRequestParams, call_id: &str) -> ElicitResult {
        let answer = |action, content| {
            let mut result = ElicitResult::new(action);
            result.content = content;
            result
        };
        // Who asks more than a person can answer is not heard.
        let Ok(_one) = self.questions.try_acquire() else {
            return answer(ElicitationAction::Cancel, None);
        };
        let (
            Some(asker),
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            },
        ) = (&self.asker, request)
        else {
            return answer(ElicitationAction::Decline, None);
        };
        let asked = Elicitation {
            server: self.server.clone(),
            call_id: call_id.to_owned(),
            message,
            schema: serde_json::to_value(requested_schema).unwrap_or_default(),
        };
        match asker.elicit(asked).await {
            Elicited::Accepted(content) => answer(ElicitationAction::Accept, Some(content)),
            Elicited::Declined => answer(ElicitationAction::Decline, None),
            Elicited::Cancelled => answer(ElicitationAction::Cancel, None),
        }
    }

    fn routes(&self) -> MutexGuard<'_, HashMap<ProgressToken, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, told: &ProgressNotificationParam) {
        let routes = self.routes();
        let Some(route) = routes.get(&told.progress_token) else {
            return;
        };
        route.alive.notify_one();
        if let Some(message) = &told.message {
            let text = Progress::Text(clean(message, 500));
            (route.sink)(&route.call_id, text);
        }
        if let Some(total) = told.total.filter(|total| *total > 0.0) {
            let part = (told.progress / total * 100.0).clamp(0.0, 100.0);
            // In range by the line above; what is no number is nothing done.
            (route.sink)(&route.call_id, Progress::Percent(part as u8));
        }
    }
}

/// Our side of a connection.
#[derive(Clone)]
pub(super) struct Handler(pub(super) Arc<Shared>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        if self.0.asker.is_some() {
            let mut elicitation = ElicitationCapability::new();
            elicitation.form = Some(FormElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        if self.0.sampler.is_some() {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        let mut us = Implementation::from_build_env();
        us.name = "toolbay".into();
        us.version = env!("CARGO_PKG_VERSION").into();
        let mut info = ClientConfig::new(capabilities, us);
        // For the old way to begin; the new one has a list of its own.
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.0.roots_result())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let call_id = self.0.latest_call().unwrap_or_default();
        tokio::select! {
            answered = self.0.elicit(request, &call_id) => Ok(answered),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let call_id = self.0.latest_call().unwrap_or_default();
        let answered = tokio::select! {
            answered = self.0.sample(request, &call_id) => answered,
            () = context.ct.cancelled() => Err("nobody waits for it any more".into()),
        };
        answered.map_err(|why| ErrorData::invalid_request(why, None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.progress(&params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.said.note(List::Tools);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.news.updated(&params.uri);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.said.note(List::Prompts);
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.said.note(List::Resources);
    }
}
