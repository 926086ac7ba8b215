//! A result as MCP has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use toolbay_contract::{Blob, Content};
use toolbay_dispatch::ToolResult;

/// The result, with a link to the whole of it if it was too long.
pub(super) fn of(result: &ToolResult, whole: Option<Resource>) -> CallToolResult {
    let blocks = result.content.iter().enumerate();
    let blocks = blocks.map(|(at, content)| block(result, at, content));
    let mut content: Vec<ContentBlock> = blocks.collect();
    content.extend(whole.map(ContentBlock::resource_link));
    let mut told = match result.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    let structured = result.structured.as_deref();
    let structured = structured.and_then(|text| serde_json::from_str::<Value>(text).ok());
    told.structured_content = structured.filter(Value::is_object);
    told
}

/// A call that did not run.
pub(super) fn refused(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn block(result: &ToolResult, at: usize, content: &Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image(blob) => ContentBlock::image(STANDARD.encode(&blob.data), &blob.mime),
        Content::Document(blob) if blob.mime.starts_with("audio/") => {
            ContentBlock::audio(STANDARD.encode(&blob.data), &blob.mime)
        }
        Content::Document(blob) => ContentBlock::resource(document(result, at, blob)),
        Content::Link(link) => {
            let mut resource = Resource::new(link.uri.clone(), link.name.clone());
            resource.mime_type = link.mime.clone();
            ContentBlock::resource_link(resource)
        }
    }
}

/// A document travels whole, under a name of its own. It cannot be read again by that name.
fn document(result: &ToolResult, at: usize, blob: &Blob) -> ResourceContents {
    let uri = format!("toolbay://documents/{}/{at}", result.id);
    let mime_type = Some(blob.mime.clone());
    match std::str::from_utf8(&blob.data) {
        Ok(text) if blob.mime.starts_with("text/") => ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text: text.to_owned(),
            meta: None,
        },
        _ => ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob: STANDARD.encode(&blob.data),
            meta: None,
        },
    }
}
