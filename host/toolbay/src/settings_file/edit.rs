//! Adds rules to the text of a settings file. Only computes.

use anyhow::{Context, anyhow, bail, ensure};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::jsonc::read_jsonc;

/// What the program itself reads, and no more: a file that it would refuse is not touched.
pub(super) const READ: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A settings file that holds these rules and nothing else.
pub(super) fn new_file(rules: &[String]) -> anyhow::Result<String> {
    let mut new: Vec<&String> = Vec::new();
    for rule in rules {
        if !new.contains(&rule) {
            new.push(rule);
        }
    }
    let value = json!({"permissions": {"allow": new}});
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// The text with the rules in `permissions.allow`; nothing if they are all there already.
pub(super) fn with_rules(text: &str, rules: &[String]) -> anyhow::Result<Option<String>> {
    let mut expected = value_of(text)?;
    let new = missing(&mut expected, rules)?;
    if new.is_empty() {
        return Ok(None);
    }
    let root = CstRootNode::parse(text, &READ).map_err(|error| anyhow!("{error}"))?;
    let file = root.object_value().context("it is no JSON object")?;
    let permissions = match file.get("permissions") {
        Some(found) => found.object_value().context("`permissions` is no object")?,
        None => added_object(&file, "permissions")?,
    };
    let allow = match permissions.get("allow") {
        Some(found) => found
            .array_value()
            .context("`permissions.allow` is no array")?,
        None => added_array(&permissions, "allow")?,
    };
    for rule in new {
        allow.append(rule.into());
    }
    let edited = root.to_string();
    // Whatever else the text may hold, such as a key that stands there twice: it must now say
    // what it said before and the rules, or it stays as it is.
    ensure!(
        value_of(&edited).is_ok_and(|value| value == expected),
        "the rules cannot be added without changing something else"
    );
    Ok(Some(edited))
}

pub(super) fn value_of(text: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&read_jsonc(text)?)?)
}

/// Puts the rules that are missing into the value, and answers with them.
fn missing(value: &mut Value, rules: &[String]) -> anyhow::Result<Vec<String>> {
    let Value::Object(file) = value else {
        bail!("it is no JSON object");
    };
    let permissions = file.entry("permissions").or_insert_with(|| json!({}));
    let Value::Object(permissions) = permissions else {
        bail!("`permissions` is no object");
    };
    let allow = permissions.entry("allow").or_insert_with(|| json!([]));
    let Value::Array(allow) = allow else {
        bail!("`permissions.allow` is no array");
    };
    ensure!(
        allow.iter().all(Value::is_string),
        "`permissions.allow` holds something that is no rule"
    );
    let mut new = Vec::new();
    for rule in rules {
        let rule_value = Value::from(rule.as_str());
        if !allow.contains(&rule_value) {
            allow.push(rule_value);
            new.push(rule.clone());
        }
    }
    Ok(new)
}

pub(super) fn added_object(parent: &CstObject, name: &str) -> anyhow::Result<CstObject> {
    let added = parent.append(name, CstInputValue::Object(Vec::new()));
    let object = added.object_value().context("the object was not added")?;
    if is_spread(&parent.children()) {
        object.ensure_multiline();
    }
    Ok(object)
}

fn added_array(parent: &CstObject, name: &str) -> anyhow::Result<CstArray> {
    let added = parent.append(name, CstInputValue::Array(Vec::new()));
    let array = added.array_value().context("the array was not added")?;
    if is_spread(&parent.children()) {
        array.ensure_multiline();
    }
    Ok(array)
}

/// Whether something is written over several lines; what is added to it then is too.
fn is_spread(children: &[CstNode]) -> bool {
    children.iter().any(CstNode::is_newline)
}

/// Whether the parser that edits can make sense of a text with a value in it.
#[cfg(test)]
pub(super) fn others_read(text: &str) -> bool {
    CstRootNode::parse(text, &READ).is_ok_and(|root| root.value().is_some())
}
