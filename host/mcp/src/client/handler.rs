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
    ProgressToken, ProtocolVersion, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Notify, Semaphore};
use toolbay_contract::{Progress, ProgressSink};

use super::asking::{Asker, Elicitation, Elicited};
use super::bounds;
use super::text::clean;

/// What the connection and its calls share.
pub(super) struct Shared {
    pub(super) server: String,
    pub(super) roots: Vec<PathBuf>,
    pub(super) asker: Option<Arc<dyn Asker>>,
    routes: Mutex<HashMap<ProgressToken, Route>>,
    /// The server says that its tools are others now.
    pub(super) news: Notify,
    questions: Semaphore,
}

struct Route {
    call_id: String,
    sink: ProgressSink,
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

impl Shared {
    pub(super) fn new(server: &str, roots: Vec<PathBuf>, asker: Option<Arc<dyn Asker>>) -> Self {
        Self {
            server: server.to_owned(),
            roots,
            asker,
            routes: Mutex::default(),
            news: Notify::new(),
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
    ) -> Following<'_> {
        let route = Route {
            call_id: call_id.to_owned(),
            sink,
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

    /// Puts a question of the server to the person.
    pub(super) async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
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
        tokio::select! {
            answered = self.0.elicit(request) => Ok(answered),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::invalid_request(
            "this client lends its model to nobody",
            None,
        ))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.progress(&params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.news.notify_one();
    }
}
