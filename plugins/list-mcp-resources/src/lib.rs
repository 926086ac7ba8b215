//! The `ListMcpResources` tool: what MCP servers offer to be read.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::resources::{self, Entry};
use toolbay_sdk::{Info, OnInterrupt, Outcome, Prompt, Setting, Tool};

#[derive(Debug, Deserialize)]
struct Input {
    server: Option<String>,
}

struct ListMcpResources;

impl Tool for ListMcpResources {
    type Input = Input;

    const INFO: Info = Info::new(
        "ListMcpResources",
        "Lists what MCP servers offer to be read.",
    )
    .schema(include_str!("../schema.json"))
    .deferred("mcp server resource list documents")
    .on_interrupt(OnInterrupt::Cancel);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        let entries = resources::entries(input.server.as_deref())?;
        let all: Vec<_> = entries
            .iter()
            .map(|entry| {
                json!({
                    "server": entry.server, "uri": entry.uri, "name": entry.name,
                    "description": entry.description, "mime": entry.mime,
                })
            })
            .collect();
        let said = match entries.is_empty() {
            true => "No MCP server offers anything to be read.".to_owned(),
            false => entries.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        Ok(Outcome::text(said).with_structured(&json!({ "resources": all })))
    }
}

/// One resource on one line, whatever its server calls it.
fn line(entry: &Entry) -> String {
    let mut line = format!("{}: {} ({})", entry.server, entry.uri, entry.name);
    if let Some(mime) = &entry.mime {
        line.push_str(&format!(" [{mime}]"));
    }
    if let Some(description) = &entry.description {
        line.push_str(&format!(" - {description}"));
    }
    line.replace(['\n', '\r'], " ")
}

impl Prompt for ListMcpResources {
    fn describe(input: &Input) -> String {
        match &input.server {
            Some(server) => format!("List what the MCP server {server} offers to be read"),
            None => "List what MCP servers offer to be read".into(),
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(ListMcpResources: prompt);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_takes_one_line() {
        let entry = Entry {
            server: "s".into(),
            uri: "x://1".into(),
            name: "a\nb".into(),
            description: Some("c\r\nd".into()),
            mime: Some("text/plain".into()),
        };
        assert_eq!(line(&entry), "s: x://1 (a b) [text/plain] - c  d");
    }
}
