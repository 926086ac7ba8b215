//! What servers behind this one offer beside tools: prompts, and what can be read. Whoever asks
//! for it through us goes through the same stages, rules and log as whoever calls a tool.

use std::sync::Arc;

use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolbay_contract::Tool;
use toolbay_dispatch::ToolResult;

use super::call::{Round, Wanted, has_roots, run_wanted, stands_alone};
use super::client::{Client, Folders, Session};
use super::house::House;
use crate::client::prompts::shown;

/// The session in which lists are asked for. They are about servers, not about folders, so a
/// request that cannot be answered by a question is not held up for them.
pub(super) async fn session(
    client: &Arc<Client>,
    context: &RequestContext<RoleServer>,
) -> Result<Session, ErrorData> {
    let is_asked = !stands_alone(context) && has_roots(context.client_capabilities().as_ref());
    let folders = match is_asked {
        true => Folders::Of(&context.peer),
        false => Folders::Last,
    };
    let session = client.session(folders).await;
    session.map_err(|why| ErrorData::internal_error(why, None))
}

pub(super) async fn prompts(session: &Session) -> Vec<Prompt> {
    let all = session.servers.prompts().await;
    let listed = shown(&all).into_iter().map(|(name, one)| {
        let mut prompt = one.prompt.clone();
        let said = prompt.description.unwrap_or_else(|| "nothing".into());
        // Whose words these are is part of them.
        let text = format!(
            "Of the MCP server `{}`, which says of it: {said}",
            one.server()
        );
        (prompt.name, prompt.description) = (name, Some(text));
        prompt
    });
    listed.collect()
}

/// What a server has that is no tool.
pub(super) enum Beside {
    /// By the name under which clients see it.
    Prompt(String),
    /// By its address.
    Resource(String),
}

impl Beside {
    pub(super) async fn find(&self, session: &Session) -> Result<Arc<dyn Tool>, ErrorData> {
        match self {
            Self::Prompt(name) => {
                let found = session.servers.prompt_called(name).await;
                let none = || {
                    let why = format!("there is no prompt {name:?}");
                    ErrorData::invalid_params(why, None)
                };
                let tool = found.ok_or_else(none)?.as_tool();
                tool.map_err(|why| ErrorData::internal_error(why, None))
            }
            Self::Resource(uri) => {
                let found = session.servers.resource(uri).await;
                found.ok_or_else(|| not_found(uri))
            }
        }
    }
}

pub(super) async fn get_prompt(
    house: &House,
    client: &Arc<Client>,
    request: GetPromptRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let wanted = Wanted {
        about: format!("prompts/get {}", request.name),
        name: request.name.clone(),
        input: Value::Object(request.arguments.unwrap_or_default()),
        beside: Some(Beside::Prompt(request.name)),
        given: request.input_responses.unwrap_or_default(),
        state: request.request_state,
    };
    match run_wanted(house, client, wanted, context).await? {
        Round::Refused(why) => Err(ErrorData::internal_error(why, None)),
        Round::Asked(questions) => Ok(questions.into()),
        Round::Ended(ended) => {
            let mut told = whole::<GetPromptResult>(&ended)?;
            told.result_type = Some(ResultType::COMPLETE);
            Ok(told.into())
        }
    }
}

pub(super) async fn read(
    house: &House,
    client: &Arc<Client>,
    request: ReadResourceRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let wanted = Wanted {
        about: format!("resources/read {}", request.uri),
        name: request.uri.clone(),
        input: json!({"uri": request.uri}),
        beside: Some(Beside::Resource(request.uri)),
        given: request.input_responses.unwrap_or_default(),
        state: request.request_state,
    };
    match run_wanted(house, client, wanted, context).await? {
        Round::Refused(why) => Err(ErrorData::internal_error(why, None)),
        Round::Asked(questions) => Ok(questions.into()),
        Round::Ended(ended) => {
            let mut read = whole::<ReadResourceResult>(&ended)?;
            read.result_type = Some(ResultType::COMPLETE);
            Ok(read.into())
        }
    }
}

pub(super) fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        "there is no such resource; results of this session that were too long have one",
        Some(json!({"uri": uri})),
    )
}

/// The server's own answer, or why there is none.
fn whole<T: DeserializeOwned>(ended: &ToolResult) -> Result<T, ErrorData> {
    let structured = ended.structured.as_deref().filter(|_| !ended.is_error);
    let whole = structured.and_then(|text| serde_json::from_str(text).ok());
    whole.ok_or_else(|| {
        let text: String = ended.text().chars().take(1000).collect();
        let data = json!({"error_class": ended.class()});
        match ended.stage {
            Some(toolbay_dispatch::Stage::Schema) => ErrorData::invalid_params(text, Some(data)),
            _ => ErrorData::internal_error(text, Some(data)),
        }
    })
}
