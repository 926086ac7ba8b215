//! Where a schema holds further schemas. One place knows it, for all who walk schemas.

use std::borrow::Cow;

use serde_json::{Map, Value};

type Keywords = Map<String, Value>;

const IN_PLACE: &[&str] = &["not", "if", "then", "else"];
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
const IN_PLACE_MAPS: &[&str] = &["dependentSchemas", "dependencies"];
const PROPERTIES: &[&str] = &["additionalProperties", "unevaluatedProperties"];
const ITEMS: &[&str] = &["additionalItems", "contains", "unevaluatedItems"];
const ELSEWHERE: &[&str] = &["propertyNames", "contentSchema"];
const NAMED: &[&str] = &["$defs", "definitions", "properties", "patternProperties"];

/// Schemas that see the same value as the one that holds them; references apart.
pub(super) fn in_place(keywords: &Keywords) -> impl Iterator<Item = &Value> {
    one_each(keywords, IN_PLACE)
        .chain(lists(keywords, IN_PLACE_LISTS))
        .chain(maps(keywords, IN_PLACE_MAPS))
}

/// Schemas that may see the property of this name. Whether a pattern matches the name is
/// left to the validator: all are listed.
pub(super) fn of_property<'a>(
    keywords: &'a Keywords,
    name: &str,
) -> impl Iterator<Item = &'a Value> {
    let own = keywords
        .get("properties")
        .and_then(|properties| properties.get(name));
    own.into_iter()
        .chain(maps(keywords, &["patternProperties"]))
        .chain(one_each(keywords, PROPERTIES))
}

/// Schemas that may see the item at this place.
pub(super) fn of_item(keywords: &Keywords, index: usize) -> impl Iterator<Item = &Value> {
    let listed = ["prefixItems", "items"]
        .into_iter()
        .filter_map(move |keyword| keywords.get(keyword)?.as_array()?.get(index));
    let items = keywords.get("items").filter(|items| !items.is_array());
    listed.chain(items).chain(one_each(keywords, ITEMS))
}

/// Every schema right below this one, whatever value it sees; references apart.
pub(super) fn all(keywords: &Keywords) -> impl Iterator<Item = &Value> {
    in_place(keywords)
        .chain(one_each(keywords, PROPERTIES))
        .chain(one_each(keywords, ITEMS))
        .chain(one_each(keywords, ELSEWHERE))
        .chain(one_each(keywords, &["items"]))
        .chain(lists(keywords, &["items", "prefixItems"]))
        .chain(maps(keywords, NAMED))
}

/// What a local reference such as `#/$defs/item` leads to.
pub(super) fn target<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    document.pointer(&percent_decoded(fragment)?)
}

fn one_each<'a>(
    keywords: &'a Keywords,
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a Value> {
    names.iter().filter_map(|name| keywords.get(*name))
}

fn lists<'a>(
    keywords: &'a Keywords,
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a Value> {
    one_each(keywords, names)
        .filter_map(Value::as_array)
        .flatten()
}

fn maps<'a>(
    keywords: &'a Keywords,
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a Value> {
    one_each(keywords, names)
        .filter_map(Value::as_object)
        .flat_map(Map::values)
}

fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
