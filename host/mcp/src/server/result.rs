//! A result as MCP has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::Value;
use toolbay_contract::Content;
use toolbay_dispatch::ToolResult;

pub(super) fn of(result: &ToolResult) -> CallToolResult {
    let content: Vec<ContentBlock> = result.content.iter().map(block).collect();
    let mut told = match result.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    let structured = result.structured.as_deref();
    let structured = structured.and_then(|text| serde_json::from_str::<Value>(text).ok());
    told.structured_content = structured.filter(Value::is_object);
    told
}

fn block(content: &Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image(blob) => ContentBlock::image(STANDARD.encode(&blob.data), &blob.mime),
        // There is no block for documents: whoever wants it reads the file.
        Content::Document(blob) => ContentBlock::text(format!(
            "[a document of {} bytes, {}]",
            blob.data.len(),
            blob.mime
        )),
        Content::Link(link) => {
            let mut resource = Resource::new(link.uri.clone(), link.name.clone());
            resource.mime_type = link.mime.clone();
            ContentBlock::resource_link(resource)
        }
    }
}
