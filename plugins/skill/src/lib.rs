//! The `Skill` tool: texts that somebody wrote for a model to work by.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay_sdk::skills::{self, Argument, Entry, Message, Part, Speaker};
use toolbay_sdk::{
    Blob, Content, Info, Link, OnInterrupt, Outcome, Prompt, Setting, SubjectKind, Tool, ToolError,
};

#[derive(Debug, Deserialize)]
struct Input {
    skill: Option<String>,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

struct Skill;

impl Tool for Skill {
    type Input = Input;

    const INFO: Info = Info::new("Skill", "Lists skills, or loads one to work by.")
        .schema(include_str!("../schema.json"))
        .subjects(&[(SubjectKind::Text, "/skill")])
        .deferred("skill prompt slash command workflow instructions mcp")
        .on_interrupt(OnInterrupt::Cancel);

    /// Whoever offers a skill is told what was filled in, and does what it likes with that.
    fn is_read_only(input: &Input) -> bool {
        input.skill.is_none()
    }

    fn is_concurrency_safe(input: &Input) -> bool {
        input.skill.is_none()
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        match input.skill {
            Some(name) => load(&name, input.arguments),
            None if input.arguments.is_empty() => list(),
            None => Err(ToolError::InvalidInput(
                "`arguments` are given, but not which skill they are for: add `skill`".into(),
            )),
        }
    }
}

fn list() -> toolbay_sdk::Result {
    let entries = skills::entries()?;
    let said = match entries.is_empty() {
        true => "No MCP server offers a skill.".to_owned(),
        false => entries.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    let all: Vec<Value> = entries.iter().map(described).collect();
    Ok(Outcome::text(said).with_structured(&json!({ "skills": all })))
}

fn load(name: &str, arguments: BTreeMap<String, String>) -> toolbay_sdk::Result {
    let arguments: Vec<(String, String)> = arguments.into_iter().collect();
    let messages = skills::load(name, &arguments)?;
    if messages.is_empty() {
        return Ok(Outcome::text(format!("{name} is empty.")));
    }
    let structured = json!({"skill": name, "messages": messages.len()});
    let mut outcome = Outcome::text(String::new()).with_structured(&structured);
    outcome.content = messages.into_iter().map(content).collect();
    Ok(outcome)
}

/// One skill on one line, whatever its server calls it.
fn line(entry: &Entry) -> String {
    let argument = |one: &Argument| match one.required {
        true => one.name.clone(),
        false => format!("{}?", one.name),
    };
    let arguments: Vec<String> = entry.arguments.iter().map(argument).collect();
    let mut line = format!("{} ({})", entry.name, arguments.join(", "));
    line.push_str(&format!(" of {}", entry.source));
    if let Some(description) = &entry.description {
        line.push_str(&format!(", which says of it: {description}"));
    }
    line.replace(['\n', '\r'], " ")
}

fn described(entry: &Entry) -> Value {
    let argument = |one: &Argument| json!({"name": one.name, "description": one.description, "required": one.required});
    json!({
        "name": entry.name, "source": entry.source, "description": entry.description,
        "arguments": entry.arguments.iter().map(argument).collect::<Vec<_>>(),
    })
}

/// A message as a block. Most are meant as the person's; what is not says so.
fn content(message: Message) -> Content {
    let blob = |blob: skills::Blob| Blob {
        mime: blob.mime,
        data: blob.data,
    };
    match message.part {
        Part::Text(text) => Content::Text(match message.speaker {
            Speaker::User => text,
            Speaker::Assistant => format!("[as the assistant's words]\n{text}"),
        }),
        Part::Image(image) => Content::Image(blob(image)),
        Part::Document(document) => Content::Document(blob(document)),
        Part::Link(link) => Content::Link(Link {
            uri: link.uri,
            name: link.name,
            mime: link.mime,
        }),
    }
}

impl Prompt for Skill {
    fn describe(input: &Input) -> String {
        match &input.skill {
            Some(skill) => format!("Load the skill {skill}"),
            None => "List skills".into(),
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

toolbay_sdk::export!(Skill: prompt);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_takes_one_line() {
        let argument = |name: &str, required| Argument {
            name: name.into(),
            description: None,
            required,
        };
        let entry = Entry {
            name: "mcp__s__x".into(),
            source: "the MCP server `s`".into(),
            description: Some("a\r\nb".into()),
            arguments: vec![argument("file", true), argument("style", false)],
        };
        assert_eq!(
            line(&entry),
            "mcp__s__x (file, style?) of the MCP server `s`, which says of it: a  b"
        );
    }

    #[test]
    fn a_message_becomes_a_block_of_its_kind() {
        let message = |speaker, part| Message { speaker, part };
        let text = |text: &str| Part::Text(text.into());
        let words = content(message(Speaker::User, text("t")));
        assert!(matches!(words, Content::Text(words) if words == "t"));
        let other = content(message(Speaker::Assistant, text("t")));
        assert!(matches!(other, Content::Text(words) if words.ends_with("words]\nt")));
        let blob = skills::Blob {
            mime: "image/png".into(),
            data: vec![1],
        };
        let image = content(message(Speaker::User, Part::Image(blob)));
        assert!(matches!(image, Content::Image(blob) if blob.mime == "image/png"));
    }
}
