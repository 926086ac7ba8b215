//! Adds MCP servers to files and takes them out again, and changes nothing else in them.

use anyhow::{Context, anyhow, bail, ensure};
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Map, Value, json};

use super::edit::{READ, added_object, value_of};

/// The key that holds servers, in settings and in files of their own.
const KEY: &str = "mcpServers";

/// A file that holds this server and nothing else.
pub(super) fn new_file(name: &str, server: &Value) -> anyhow::Result<String> {
    let file = json!({ KEY: { name: server } });
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

/// The text with the server in it; one of that name must not be there.
pub(super) fn with_server(text: &str, name: &str, server: &Value) -> anyhow::Result<String> {
    let mut expected = value_of(text)?;
    let servers = servers(&mut expected)?;
    ensure!(
        !servers.contains_key(name),
        "it has a server `{name}` already; remove that one first"
    );
    servers.insert(name.to_owned(), server.clone());
    let root = parsed(text)?;
    let file = root.object_value().context("it is no JSON object")?;
    let object = match file.get(KEY) {
        Some(found) => found
            .object_value()
            .with_context(|| format!("`{KEY}` is no object"))?,
        None => added_object(&file, KEY)?,
    };
    object.append(name, input(server));
    checked(root.to_string(), &expected)
}

/// The text without the server; nothing if it is not there.
pub(super) fn without_server(text: &str, name: &str) -> anyhow::Result<Option<String>> {
    let mut expected = value_of(text)?;
    if servers(&mut expected)?.remove(name).is_none() {
        return Ok(None);
    }
    let root = parsed(text)?;
    let property = root
        .object_value()
        .and_then(|file| file.get(KEY))
        .and_then(|found| found.object_value())
        .and_then(|object| object.get(name))
        .context("it cannot be found")?;
    property.remove();
    checked(root.to_string(), &expected).map(Some)
}

fn parsed(text: &str) -> anyhow::Result<CstRootNode> {
    CstRootNode::parse(text, &READ).map_err(|error| anyhow!("{error}"))
}

fn servers(file: &mut Value) -> anyhow::Result<&mut Map<String, Value>> {
    let Value::Object(file) = file else {
        bail!("it is no JSON object");
    };
    match file.entry(KEY).or_insert_with(|| json!({})) {
        Value::Object(servers) => Ok(servers),
        _ => bail!("`{KEY}` is no object"),
    }
}

/// The text, if it says what it should and nothing else.
fn checked(text: String, expected: &Value) -> anyhow::Result<String> {
    let says = value_of(&text);
    ensure!(
        says.is_ok_and(|says| says == *expected),
        "the server cannot be changed without changing something else"
    );
    Ok(text)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => CstInputValue::Object(
            values
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_stays_as_they_wrote_it() {
        let text = "{\n  // mine\n  \"permissions\": {\"allow\": [\"A\"]}, // why\n}\n";
        let server = json!({"command": "node", "args": ["a\"b", "é"], "env": {"K": "v"}});
        let with = with_server(text, "s", &server).unwrap();
        assert!(
            with.contains("// mine") && with.contains("// why"),
            "{with}"
        );
        assert_eq!(value_of(&with).unwrap()["mcpServers"]["s"], server);
        let two = with_server(&with, "t u", &json!({"url": "https://a"})).unwrap();
        let error = with_server(&two, "s", &server).unwrap_err().to_string();
        assert!(error.contains("already"), "{error}");
        let one = without_server(&two, "s").unwrap().unwrap();
        assert!(one.contains("// mine") && !one.contains("node"), "{one}");
        assert_eq!(without_server(&one, "s").unwrap(), None);
        let none = without_server(&one, "t u").unwrap().unwrap();
        assert_eq!(value_of(&none).unwrap()["mcpServers"], json!({}));
    }

    #[test]
    fn a_file_that_is_none_is_left_alone() {
        for text in ["", "[]", "{", "{\"mcpServers\": []}"] {
            assert!(with_server(text, "s", &json!({})).is_err(), "{text}");
        }
        let new = new_file("s", &json!({"command": "x"})).unwrap();
        assert_eq!(
            value_of(&new).unwrap(),
            json!({"mcpServers": {"s": {"command": "x"}}})
        );
    }
}
