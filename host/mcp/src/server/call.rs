//! One `tools/call`, in both manners of the protocol.

use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use toolbay_contract::{Failure, KillReason, ToolUse};
use toolbay_dispatch::{Dispatch, Stage, ToolResult};

use super::asking::CALL;
use super::client::Client;
use super::house::House;
use super::result;
use super::routes::Way;

/// The longest error about a name: it would list all tools there are.
const LONGEST: usize = 1000;

/// Whether the protocol of this request has no requests of ours: questions are answers then, and
/// the client asks again.
pub(super) fn stands_alone(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether somebody can be asked through this client.
pub(super) fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|all| all.elicitation.as_ref());
    // Whoever says nothing about forms can do forms.
    elicitation.is_some_and(|how| how.form.is_some() || how.url.is_none())
}

/// Runs a call to its result, or to a question.
pub(super) async fn call(
    house: &House,
    client: &Arc<Client>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if stands_alone(&context) {
        return client.in_rounds(&house.seal, request, context).await;
    }
    let capabilities = context.client_capabilities();
    let has_roots = capabilities.as_ref().is_some_and(|all| all.roots.is_some());
    let dispatch = client.dispatch(has_roots.then_some(&context.peer)).await;
    let dispatch = match dispatch {
        Ok(dispatch) => dispatch,
        Err(why) => return Ok(result::refused(&why).into()),
    };
    let way = match can_ask(capabilities.as_ref()) {
        true => Way::Request(context.peer.clone()),
        false => Way::Nobody,
    };
    let block = block(client.call_id(), &request);
    let kill = client.kill.below();
    let _route = client.routes.open(&block.id, way, &context);
    let running = run(&dispatch, block, kill.clone());
    tokio::pin!(running);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = context.ct.cancelled() => {
            kill.throw(KillReason::Cancelled);
            running.await
        }
    };
    let told = client.told(&ended);
    if ended.persisted.is_some() {
        // Whoever is gone need not know.
        let _ = context.peer.notify_resource_list_changed().await;
    }
    told
}

/// The call, in its own name.
pub(super) async fn run(
    dispatch: &Dispatch,
    block: ToolUse,
    kill: toolbay_contract::KillSwitch,
) -> ToolResult {
    let id = block.id.clone();
    CALL.scope(id, dispatch.run(block, kill)).await
}

pub(super) fn block(id: String, request: &CallToolRequestParams) -> ToolUse {
    ToolUse {
        id,
        name: request.name.to_string(),
        input: input(request),
    }
}

pub(super) fn input(request: &CallToolRequestParams) -> Value {
    Value::Object(request.arguments.clone().unwrap_or_default())
}

impl Client {
    /// The result for this client, who may read the whole of it later. The name of no tool is
    /// the client's mistake, not a tool's, and the protocol has an error for it.
    pub(super) fn told(&self, ended: &ToolResult) -> Result<CallToolResponse, ErrorData> {
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
        Ok(result::of(ended, whole).into())
    }
}
