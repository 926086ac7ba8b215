//! What the protocol asks of a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsRequestMethod,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResultType, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::call;
use super::client::Client;
use super::house::{House, Principal};
use super::kept;
use super::news::MOST_WATCHED;
use super::offered;
use super::routes::Routes;
use crate::client::news::Changes;

/// What an agent should know first.
const INSTRUCTIONS: &str = "Tools for working on the code in one project. Calls that only read run at once; \
others may have to be allowed by the person, or by rules in the settings.";

/// Tools that one answer carries. Most clients take all in one; ten thousand are no one's wish.
const PAGE: usize = 500;

/// The server as one client sees it: for as long as its session, or for one request.
pub(super) struct Handler {
    house: Arc<House>,
    own: OnceLock<Arc<Client>>,
    /// Whether everything that comes here belongs to one client.
    is_one: AtomicBool,
}

impl Handler {
    /// For the only client of a stream.
    pub(super) fn for_one(house: Arc<House>) -> Self {
        let handler = Self::for_any(house);
        handler.is_one.store(true, Ordering::Release);
        handler
    }

    /// For whoever comes: a client that begins a session stays, a request without one is its
    /// token's.
    pub(super) fn for_any(house: Arc<House>) -> Self {
        Self {
            house,
            own: OnceLock::new(),
            is_one: AtomicBool::new(false),
        }
    }

    /// The client that stays.
    pub(super) fn own(&self) -> &Arc<Client> {
        let house = &self.house;
        self.own.get_or_init(|| house.client(Routes::default()))
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Client>, ErrorData> {
        if self.is_one.load(Ordering::Acquire) {
            return Ok(self.own().clone());
        }
        let parts = context.extensions.get::<::http::request::Parts>();
        let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
        match principal {
            Some(principal) => Ok(self.house.without_session(*principal)),
            None => Err(ErrorData::internal_error(
                "nobody knows whose request this is",
                None,
            )),
        }
    }
}

/// Where a page begins.
fn place(page: Option<PaginatedRequestParams>, all: usize) -> Result<usize, ErrorData> {
    let Some(cursor) = page.and_then(|page| page.cursor) else {
        return Ok(0);
    };
    let place = cursor.parse().ok().filter(|place| *place < all);
    place.ok_or_else(|| ErrorData::invalid_params("there is no such cursor", None))
}

/// One page of a list, and the cursor of the next.
fn page<T: Clone>(
    all: &[T],
    wanted: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let from = place(wanted, all.len())?;
    let to = all.len().min(from + PAGE);
    let next = (to < all.len()).then(|| to.to_string());
    Ok((all[from..to].to_vec(), next))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let offers = self.house.offers;
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_logging()
            .build();
        // Only servers behind this one change theirs; what none of them has is not offered.
        if offers.changes
            && let Some(tools) = &mut capabilities.tools
        {
            tools.list_changed = Some(true);
        }
        capabilities.prompts = offers.prompts.then(|| {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = Some(true);
            prompts
        });
        if offers.subscriptions
            && let Some(resources) = &mut capabilities.resources
        {
            resources.subscribe = Some(true);
        }
        capabilities.completions = offers.completions.then(Default::default);
        let mut implementation = Implementation::from_build_env();
        implementation.name = "toolbay".into();
        implementation.version = env!("CARGO_PKG_VERSION").into();
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let found = self.house.tools.iter().find(|tool| tool.name == name);
        found.cloned()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.is_one.store(true, Ordering::Release);
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.is_one.load(Ordering::Acquire) {
            self.own().tell_news(context.peer.clone());
            self.own().routes.begin(context.peer);
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        if self.is_one.load(Ordering::Acquire) {
            self.own().forget_roots();
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.client(&context)?.routes.set_level(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        wanted: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.client(&context)?.list_tools();
        let (tools, next) = page(&all, wanted)?;
        let mut listed = ListToolsResult::with_all_items(tools);
        listed.next_cursor = next;
        Ok(listed)
    }

    // What is not offered is not answered either: an empty answer would say that there is one.
    async fn list_prompts(
        &self,
        wanted: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if !self.house.offers.prompts {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        let session = offered::session(&self.client(&context)?, &context).await?;
        let (prompts, next) = page(&offered::prompts(&session).await, wanted)?;
        let mut listed = ListPromptsResult::with_all_items(prompts);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.house.offers.prompts {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let client = self.client(&context)?;
        offered::get_prompt(&self.house, &client, request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if !self.house.offers.completions {
            return Err(ErrorData::method_not_found::<CompleteRequestMethod>());
        }
        let session = offered::session(&self.client(&context)?, &context).await?;
        let completed = session.servers.complete(request).await;
        let mut completed = completed.map_err(|why| ErrorData::invalid_params(why, None))?;
        completed.result_type = Some(ResultType::COMPLETE);
        Ok(completed)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.house.offers.subscriptions {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        let client = self.client(&context)?;
        let session = offered::session(&client, &context).await?;
        let watched = client.watch(&session, &request.uri).await;
        watched.map_err(|why| ErrorData::invalid_params(why, None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.house.offers.subscriptions {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        self.client(&context)?.watched().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        if self.house.offers.changes {
            accepted.tools_list_changed = requested.tools_list_changed;
        }
        accepted.resources_list_changed = requested.resources_list_changed;
        if self.house.offers.subscriptions {
            accepted.resource_subscriptions = requested.resource_subscriptions.clone();
        }
        if self.house.offers.prompts {
            accepted.prompts_list_changed = requested.prompts_list_changed;
        }
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let client = self.client(subscription.request_context())?;
        let wanted = subscription
            .sink()
            .accepted()
            .resource_subscriptions
            .clone();
        let wanted = wanted.unwrap_or_default();
        let mut watching = Vec::new();
        if !wanted.is_empty() {
            let session = offered::session(&client, subscription.request_context()).await?;
            for uri in wanted.iter().take(MOST_WATCHED) {
                // One that cannot be watched keeps nobody from hearing of the others.
                watching.extend(session.servers.watch(uri).await);
            }
        }
        let mut updates = client.updates.subscribe();
        let (mut saved, mut news) = (client.saved.subscribe(), client.news.subscribe());
        let mut before = *news.borrow_and_update();
        loop {
            // What changed now, and what is known afterwards: saved results are counted elsewhere.
            let changed = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = client.kill.thrown() => return Ok(()),
                uri = updates.recv(), if !watching.is_empty() => {
                    let uri = uri.unwrap_or_default();
                    let sink = subscription.sink();
                    if wanted.contains(&uri) && sink.notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                    continue;
                }
                changed = saved.changed() => {
                    let now = Changes { resources: before.resources + 1, ..before };
                    changed.map(|()| (now, before))
                }
                changed = news.changed() => changed.map(|()| {
                    let now = *news.borrow_and_update();
                    (now, now)
                }),
            };
            let Ok((now, known)) = changed else {
                return Ok(());
            };
            let sink = subscription.sink();
            let wanted = sink.accepted();
            let mut sent = Ok(());
            if now.tools != before.tools && wanted.tools_list_changed == Some(true) {
                sent = sent.and(sink.notify_tool_list_changed().await);
            }
            if now.prompts != before.prompts && wanted.prompts_list_changed == Some(true) {
                sent = sent.and(sink.notify_prompt_list_changed().await);
            }
            if now.resources != before.resources && wanted.resources_list_changed == Some(true) {
                sent = sent.and(sink.notify_resource_list_changed().await);
            }
            if sent.is_err() {
                return Ok(());
            }
            before = known;
        }
    }

    async fn list_resources(
        &self,
        wanted: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let client = self.client(&context)?;
        let mut all = client.shelf().list();
        if self.house.offers.resources {
            let session = offered::session(&client, &context).await?;
            all.extend(session.servers.resources().await);
        }
        let (resources, next) = page(&all, wanted)?;
        let mut listed = ListResourcesResult::with_all_items(resources);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        wanted: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut all = Vec::new();
        if self.house.offers.resources {
            let session = offered::session(&self.client(&context)?, &context).await?;
            all = session.servers.resource_templates().await;
        }
        let (templates, next) = page(&all, wanted)?;
        let mut listed = ListResourceTemplatesResult::with_all_items(templates);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.client(&context)?;
        let found = client.shelf().find(&request.uri);
        let Some(path) = found else {
            return match self.house.offers.resources {
                true => offered::read(&self.house, &client, request, context).await,
                false => Err(offered::not_found(&request.uri)),
            };
        };
        let uri = request.uri;
        let reading = tokio::task::spawn_blocking(move || kept::read(&uri, &path));
        let read = reading.await.map_err(|error| error.to_string()).flatten();
        let read = read.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(ReadResourceResult::new(vec![read]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&context)?;
        call(&self.house, &client, request, context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_everything_once_and_odd_cursors_are_refused() {
        let all: Vec<usize> = (0..3 * PAGE + 7).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let wanted = PaginatedRequestParams::default().with_cursor(cursor);
            let (some, next) = page(&all, Some(wanted)).unwrap();
            seen.extend(some);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
        for odd in ["", "-1", "x", "99999999999999999999999", "1507"] {
            let wanted = PaginatedRequestParams::default().with_cursor(Some(odd.into()));
            assert!(page(&all, Some(wanted)).is_err(), "{odd}");
        }
        assert_eq!(page::<u8>(&[], None).unwrap(), (vec![], None));
    }
}
