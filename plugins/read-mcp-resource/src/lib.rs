//! The `ReadMcpResource` tool: reads what an MCP server offers to be read.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::resources::{self, Body, Part};
use toolbay_sdk::{Blob, Content, Info, OnInterrupt, Outcome, Prompt, Setting, SubjectKind, Tool};

#[derive(Debug, Deserialize)]
struct Input {
    server: String,
    uri: String,
}

struct ReadMcpResource;

impl Tool for ReadMcpResource {
    type Input = Input;

    const INFO: Info = Info::new(
        "ReadMcpResource",
        "Reads something that an MCP server offers to be read.",
    )
    .schema(include_str!("../schema.json"))
    .subjects(&[(SubjectKind::Text, "/server")])
    .deferred("mcp server resource read document uri")
    .on_interrupt(OnInterrupt::Cancel);

    /// A server is told what is read, and does what it likes with that.
    fn is_read_only(_: &Input) -> bool {
        false
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        let parts = resources::read(&input.server, &input.uri)?;
        if parts.is_empty() {
            return Ok(Outcome::text(format!("{} is empty.", input.uri)));
        }
        let addresses: Vec<&str> = parts.iter().map(|part| part.uri.as_str()).collect();
        let structured = json!({"server": input.server, "uris": addresses});
        let mut outcome = Outcome::text(String::new()).with_structured(&structured);
        outcome.content = parts.into_iter().map(content).collect();
        Ok(outcome)
    }
}

fn content(part: Part) -> Content {
    match part.body {
        Body::Text(text) => Content::Text(format!("[{}]\n{text}", part.uri)),
        Body::Bytes(data) => {
            let mime = part
                .mime
                .unwrap_or_else(|| "application/octet-stream".into());
            let is_image = mime.starts_with("image/");
            let blob = Blob { mime, data };
            match is_image {
                true => Content::Image(blob),
                false => Content::Document(blob),
            }
        }
    }
}

impl Prompt for ReadMcpResource {
    fn describe(input: &Input) -> String {
        format!("Read {} of the MCP server {}", input.uri, input.server)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(ReadMcpResource: prompt);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_bytes_become_blocks_of_their_kind() {
        let part = |mime: Option<&str>, body| Part {
            uri: "x://1".into(),
            mime: mime.map(str::to_owned),
            body,
        };
        let text = content(part(None, Body::Text("t".into())));
        assert!(matches!(text, Content::Text(text) if text == "[x://1]\nt"));
        let image = content(part(Some("image/png"), Body::Bytes(vec![1])));
        assert!(matches!(image, Content::Image(blob) if blob.mime == "image/png"));
        let other = content(part(None, Body::Bytes(vec![1])));
        assert!(matches!(other, Content::Document(blob) if blob.data == [1]));
    }
}
