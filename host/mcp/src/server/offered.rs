//! What servers behind this one offer beside tools: prompts, and what can be read. Whoever asks
//! for it through us goes through the same stages, rules and log as whoever calls a tool.

use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolbay_dispatch::ToolResult;

use std::sync::Arc;

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

pub(super) async fn get_prompt(
    house: &House,
    client: &Arc<Client>,
    request: GetPromptRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let session = session(client, &context).await?;
    let found = session.servers.prompt_called(&request.name).await;
    let none = || ErrorData::invalid_params(format!("there is no prompt {:?}", request.name), None);
    let found = found.ok_or_else(none)?;
    let tool = found.as_tool();
    let tool = tool.map_err(|why| ErrorData::internal_error(why, None))?;
    let wanted = Wanted {
        about: format!("prompts/get {}", found.name),
        name: found.name.to_string(),
        input: Value::Object(request.arguments.unwrap_or_default()),
        beside: Some(tool),
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

/// Reads something of a server; nothing if no server has such an address.
pub(super) async fn read(
    house: &House,
    client: &Arc<Client>,
    request: ReadResourceRequestParams,
    context: RequestContext<RoleServer>,
) -> Option<Result<ReadResourceResponse, ErrorData>> {
    let session = match session(client, &context).await {
        Ok(session) => session,
        Err(error) => return Some(Err(error)),
    };
    let tool = session.servers.resource(&request.uri).await?;
    let name = tool.info().name.clone();
    let wanted = Wanted {
        about: format!("resources/read {name}"),
        name,
        input: json!({"uri": request.uri}),
        beside: Some(tool),
        given: request.input_responses.unwrap_or_default(),
        state: request.request_state,
    };
    Some(match run_wanted(house, client, wanted, context).await {
        Err(error) => Err(error),
        Ok(Round::Refused(why)) => Err(ErrorData::internal_error(why, None)),
        Ok(Round::Asked(questions)) => Ok(questions.into()),
        Ok(Round::Ended(ended)) => whole::<ReadResourceResult>(&ended).map(|mut read| {
            read.result_type = Some(ResultType::COMPLETE);
            read.into()
        }),
    })
}

pub(super) async fn resources(session: &Session) -> Vec<Resource> {
    session.servers.resources().await
}

pub(super) async fn templates(session: &Session) -> Vec<ResourceTemplate> {
    session.servers.resource_templates().await
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
