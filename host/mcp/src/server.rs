//! Toolbay's tools for any agent that speaks MCP.
//!
//! A `tools/call` is a call like any other: nine stages, permissions, budgets, audit. What would
//! be asked at a terminal is asked by elicitation; a client that cannot be asked gets no for an
//! answer, with the reason. Nothing but the protocol is ever written to its stream.

mod asking;
mod result;
mod routes;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use toolbay_contract::{KillReason, KillSwitch, ToolUse};
use toolbay_dispatch::Dispatch;

pub use asking::Elicit;
pub use routes::Routes;

/// The tools of one session, for one client.
struct Server {
    dispatch: Arc<Dispatch>,
    routes: Arc<Routes>,
    kill: KillSwitch,
    tools: Vec<Tool>,
    next: AtomicU64,
}

/// What an agent should know first.
const INSTRUCTIONS: &str = "Tools for working on the code in one project. Calls that only read run at once; \
others may have to be allowed by the person, or by rules in the settings.";

/// Serves a client on standard input and output until it goes away or the switch is thrown.
/// The dispatch must have been made with the same routes.
pub async fn serve_stdio(
    dispatch: Arc<Dispatch>,
    routes: Arc<Routes>,
    kill: KillSwitch,
) -> Result<(), String> {
    let tools = dispatch.pool().mcp_definitions();
    let tools: Result<Vec<Tool>, _> = tools.into_iter().map(serde_json::from_value).collect();
    let server = Server {
        tools: tools.map_err(|error| format!("a tool cannot be described: {error}"))?,
        dispatch,
        routes,
        kill: kill.clone(),
        next: AtomicU64::new(1),
    };
    let begun = server.serve(rmcp::transport::stdio()).await;
    let running =
        begun.map_err(|error| format!("the client did not begin as MCP wants it: {error}"))?;
    let ending = running.cancellation_token();
    let ended = tokio::select! {
        ended = running.waiting() => ended,
        () = kill.thrown() => {
            ending.cancel();
            return Ok(());
        }
    };
    ended.map(drop).map_err(|error| error.to_string())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut implementation = Implementation::from_build_env();
        implementation.name = "toolbay".into();
        implementation.version = env!("CARGO_PKG_VERSION").into();
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let id = format!("mcp_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let kill = self.kill.below();
        let _route = self.routes.open(&id, &context);
        let block = ToolUse {
            id,
            name: request.name.into_owned(),
            input: request
                .arguments
                .map_or_else(|| Value::Object(Default::default()), Value::Object),
        };
        let running = self.dispatch.run(block, kill.clone());
        tokio::pin!(running);
        let result = tokio::select! {
            result = &mut running => result,
            () = context.ct.cancelled() => {
                kill.throw(KillReason::Cancelled);
                running.await
            }
        };
        Ok(result::of(&result).into())
    }
}
