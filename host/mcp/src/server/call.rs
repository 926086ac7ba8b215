//! One `tools/call`, and whatever else is run like one, in both manners of the protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequiredResult,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use toolbay_contract::{Failure, KillReason, KillSwitch, Tool, ToolUse};
use toolbay_dispatch::{Dispatch, Stage, ToolResult};

use super::asking::CALL;
use super::client::{Client, Folders, Session};
use super::house::House;
use super::offered::Beside;
use super::result;
use super::routes::Way;
use crate::name::ToolName;

/// The longest error about a name: it would list all tools there are.
const LONGEST: usize = 1000;

/// What a client asks for.
pub(super) struct Wanted {
    /// What the answer to a question must come with: the method, and what it is about.
    pub(super) about: String,
    pub(super) name: String,
    pub(super) input: Value,
    /// Something that is no tool of the pool. It is looked for where it is run: another session
    /// may have other folders, and servers in other cages.
    pub(super) beside: Option<Beside>,
    /// Answers to questions, and the state that came with them.
    pub(super) given: BTreeMap<String, Value>,
    pub(super) state: Option<String>,
}

/// What a client's request comes to.
pub(super) enum Round {
    Ended(Box<ToolResult>),
    /// It is to be asked again, with answers.
    Asked(InputRequiredResult),
    /// Nothing ran.
    Refused(String),
}

impl Wanted {
    fn tool(mut request: CallToolRequestParams) -> Self {
        Self {
            about: format!("tools/call {}", request.name),
            name: request.name.to_string(),
            input: Value::Object(request.arguments.take().unwrap_or_default()),
            beside: None,
            given: request.input_responses.take().unwrap_or_default(),
            state: request.request_state.take(),
        }
    }

    /// Finds what is no tool of the pool, which has its name from there.
    pub(super) async fn find(
        &mut self,
        session: &Session,
    ) -> Result<Option<Arc<dyn Tool>>, ErrorData> {
        let Some(beside) = &self.beside else {
            return Ok(None);
        };
        let tool = beside.find(session).await?;
        self.name = tool.info().name.clone();
        Ok(Some(tool))
    }

    pub(super) fn block(&self, id: String) -> ToolUse {
        ToolUse {
            id,
            name: self.name.clone(),
            input: self.input.clone(),
        }
    }
}

/// Whether the protocol of this request has no requests of ours: questions are answers then, and
/// the client asks again.
pub(super) fn stands_alone(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

pub(super) fn has_roots(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities.is_some_and(|all| all.roots.is_some())
}

/// Runs a call to its result, or to a question.
pub(super) async fn call(
    house: &House,
    client: &Arc<Client>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let peer = context.peer.clone();
    let is_alone = stands_alone(&context);
    let mut wanted = Wanted::tool(request);
    if let Some(whole) = client.whole_name(&wanted.name) {
        wanted.name = whole;
    }
    match run_wanted(house, client, wanted, context).await? {
        Round::Refused(why) => Ok(result::refused(&why).into()),
        Round::Asked(questions) => Ok(questions.into()),
        Round::Ended(ended) => {
            let told = client.told(&ended);
            if ended.persisted.is_some() && !is_alone {
                // Whoever is gone need not know.
                let _ = peer.notify_resource_list_changed().await;
            }
            told
        }
    }
}

/// Runs what a client asks for, in its session.
pub(super) async fn run_wanted(
    house: &House,
    client: &Arc<Client>,
    mut wanted: Wanted,
    context: RequestContext<RoleServer>,
) -> Result<Round, ErrorData> {
    if stands_alone(&context) {
        return client.in_rounds(&house.seal, wanted, context).await;
    }
    let folders = match has_roots(context.client_capabilities().as_ref()) {
        true => Folders::Of(&context.peer),
        false => Folders::Last,
    };
    let session = match client.session(folders).await {
        Ok(session) => session,
        Err(why) => return Ok(Round::Refused(why)),
    };
    let beside = wanted.find(&session).await?;
    let block = wanted.block(client.call_id());
    let kill = client.kill.below();
    let way = Way::Request(context.peer.clone());
    let _route = client.routes.open(&block.id, way, &context);
    let running = run(&session.dispatch, beside, block, kill.clone());
    tokio::pin!(running);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = context.ct.cancelled() => {
            kill.throw(KillReason::Cancelled);
            running.await
        }
    };
    Ok(Round::Ended(Box::new(ended)))
}

/// The call, in its own name.
pub(super) async fn run(
    dispatch: &Dispatch,
    beside: Option<Arc<dyn Tool>>,
    block: ToolUse,
    kill: KillSwitch,
) -> ToolResult {
    let id = block.id.clone();
    let running = async {
        match beside {
            Some(tool) => dispatch.run_beside(tool, block, kill).await,
            None => dispatch.run(block, kill).await,
        }
    };
    CALL.scope(id, running).await
}

impl Client {
    /// The result for this client, who may read the whole of it later. The name of no tool is
    /// the client's mistake, not a tool's, and the protocol has an error for it.
    fn told(&self, ended: &ToolResult) -> Result<CallToolResponse, ErrorData> {
        if let (Some(Stage::Lookup), Some(Failure::InvalidInput(sentence))) =
            (ended.stage, &ended.failure)
        {
            let short: String = sentence.chars().take(LONGEST).collect();
            return Err(ErrorData::invalid_params(short, None));
        }
        let whole = ended.persisted.as_deref();
        let whole = whole.map(|path| self.shelf().put(&ended.tool, path));
        if whole.is_some() {
            self.saved.send_modify(|count| *count += 1);
        }
        let mut told = result::of(ended, whole);
        if !self.is_told_in_data(&ended.tool) {
            told.structured_content = None;
        }
        Ok(told.into())
    }

    /// Whether the data of a result says all that its text says. Agents show a model one of the
    /// two, and take the data where there is some: data beside a text would hide the text.
    fn is_told_in_data(&self, tool: &str) -> bool {
        let mut all = self.tools.iter();
        ToolName::parse(tool).is_some()
            || all.any(|one| one.name == tool && one.output_schema.is_some())
    }
}
