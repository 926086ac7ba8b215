//! What a server answers, as the outcome of a call.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents,
};
use toolbay_contract::{Blob, Content, Link, Outcome};

use super::text::clean;

/// Blocks of one result. What is over is counted, not kept.
const MOST_BLOCKS: usize = 1_000;
const LONGEST_ADDRESS: usize = 2_000;

/// The outcome. Limits on its size, and files for what is too large, come with every result.
pub(super) fn outcome(result: CallToolResult) -> Outcome {
    let blocks = result.content.len();
    let mut content: Vec<Content> = result
        .content
        .into_iter()
        .take(MOST_BLOCKS)
        .map(block)
        .collect();
    if blocks > MOST_BLOCKS {
        let more = blocks - MOST_BLOCKS;
        content.push(Content::Text(format!("({more} more blocks were left out)")));
    }
    let structured = result.structured_content.map(|value| value.to_string());
    // Servers should say the same in words; where one does not, the data is all there is.
    if let (true, Some(structured)) = (content.is_empty(), &structured) {
        content.push(Content::Text(structured.clone()));
    }
    Outcome {
        content,
        structured,
        failed: result.is_error == Some(true),
        ..Outcome::default()
    }
}

/// What a prompt says. The whole of it, with who says what, is the structured part.
pub(super) fn prompt_outcome(told: GetPromptResult) -> Outcome {
    let structured = serde_json::to_string(&told).ok();
    let blocks = told.messages.into_iter().map(|message| message.content);
    Outcome {
        content: blocks.take(MOST_BLOCKS).map(block).collect(),
        structured,
        ..Outcome::default()
    }
}

/// What stands at an address. The whole of it is the structured part.
pub(super) fn resource_outcome(read: ReadResourceResult) -> Outcome {
    let structured = serde_json::to_string(&read).ok();
    let parts = read.contents.into_iter().take(MOST_BLOCKS);
    Outcome {
        content: parts.map(contents).collect(),
        structured,
        ..Outcome::default()
    }
}

pub(super) fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::Text(text.text),
        ContentBlock::Image(image) => blob(&image.data, &image.mime_type, Content::Image),
        ContentBlock::Audio(audio) => blob(&audio.data, &audio.mime_type, Content::Document),
        ContentBlock::Resource(resource) => contents(resource.resource),
        ContentBlock::ResourceLink(link) => Content::Link(Link {
            uri: clean(&link.uri, LONGEST_ADDRESS),
            name: clean(&link.name, 200),
            mime: link.mime_type.map(|mime| clean(&mime, 100)),
        }),
        _ => Content::Text("(a block of a kind that is not known here)".into()),
    }
}

/// What a resource holds.
pub(super) fn contents(contents: ResourceContents) -> Content {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            let uri = clean(&uri, LONGEST_ADDRESS);
            Content::Text(format!("[{uri}]\n{text}"))
        }
        ResourceContents::BlobResourceContents {
            blob: data,
            mime_type,
            ..
        } => {
            let mime = mime_type.unwrap_or_else(|| "application/octet-stream".into());
            let is_image = mime.starts_with("image/");
            let kind = if is_image {
                Content::Image
            } else {
                Content::Document
            };
            blob(&data, &mime, kind)
        }
        _ => Content::Text("(a resource of a kind that is not known here)".into()),
    }
}

fn blob(data: &str, mime: &str, kind: fn(Blob) -> Content) -> Content {
    let mime = clean(mime, 100);
    match STANDARD.decode(data) {
        Ok(data) => kind(Blob { mime, data }),
        Err(_) => Content::Text(format!("({mime} that is no base64)")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(result: Value) -> Outcome {
        outcome(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn every_kind_of_block_has_its_place() {
        let outcome = of(json!({
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
                {"type": "image", "data": "?", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "x://1", "text": "t"}},
                {"type": "resource", "resource": {"uri": "x://2", "blob": "aGk="}},
                {"type": "resource_link", "uri": "x://3", "name": "n\u{202e}"},
            ],
            "isError": true, "structuredContent": {"k": 1},
        }));
        let blob = |mime: &str| Blob {
            mime: mime.into(),
            data: b"hi".to_vec(),
        };
        let wanted = vec![
            Content::Text("a".into()),
            Content::Image(blob("image/png")),
            Content::Document(blob("audio/wav")),
            Content::Text("(image/png that is no base64)".into()),
            Content::Text("[x://1]\nt".into()),
            Content::Document(blob("application/octet-stream")),
            Content::Link(Link {
                uri: "x://3".into(),
                name: "n".into(),
                mime: None,
            }),
        ];
        assert_eq!(outcome.content, wanted);
        assert!(outcome.failed);
        assert_eq!(outcome.structured.as_deref(), Some(r#"{"k":1}"#));
    }

    #[test]
    fn data_without_words_is_shown_and_blocks_have_an_end() {
        let data = of(json!({"structuredContent": {"k": 1}}));
        assert_eq!(data.text(), r#"{"k":1}"#);
        let many = vec![json!({"type": "text", "text": "x"}); MOST_BLOCKS + 5];
        let many = of(json!({"content": many}));
        assert_eq!(many.content.len(), MOST_BLOCKS + 1);
        assert!(many.text().ends_with("(5 more blocks were left out)"));
    }
}
