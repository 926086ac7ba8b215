//! What a schema wants of a value, in words.

use std::fmt::Display;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::nearest::nearest;
use super::words;

/// Options and names that a line lists.
const MOST_LISTED: usize = 12;
/// Length of what is quoted from a schema.
const QUOTED: usize = 120;

/// The types that a `type` allows.
pub(super) fn types(kind: &TypeKind) -> Vec<JsonType> {
    match kind {
        TypeKind::Single(only) => vec![*only],
        TypeKind::Multiple(several) => several.iter().collect(),
    }
}

/// The line about a value that is wrong in itself.
pub(super) fn wanted_and_given(error: &ValidationError<'_>) -> String {
    let given = words::value(error.instance());
    let wanted = match error.kind() {
        Kind::Enum { options } => {
            let near = error.instance().as_str().and_then(|text| {
                let options = options.as_array().into_iter().flatten();
                nearest(text, options.filter_map(Value::as_str))
            });
            let hint = near.map(|near| format!("; did you mean {}?", words::value(&near.into())));
            let wanted = wanted_value(error).unwrap_or_default();
            return format!("wanted {wanted}, given {given}{}", hint.unwrap_or_default());
        }
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {}", some(limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", some(limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", some(limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", some(limit, "item")),
        Kind::MinProperties { limit } => format!("at least {}", some(limit, "property")),
        Kind::MaxProperties { limit } => format!("at most {}", some(limit, "property")),
        Kind::AdditionalItems { limit } => format!("at most {}", some(limit, "item")),
        Kind::Pattern { pattern } => {
            format!(
                "a text that matches the pattern {}",
                words::cut(pattern, QUOTED)
            )
        }
        Kind::UniqueItems => "no item twice".into(),
        Kind::Not { .. } => "another form: this one is ruled out".into(),
        Kind::Contains => "an item of the required form, which none is".into(),
        Kind::FalseSchema => "nothing here".into(),
        Kind::OneOfMultipleValid { .. } => "exactly one of the allowed forms, not several".into(),
        Kind::PropertyNames { error } => {
            return format!(
                "the name {given_name} is not allowed: {}",
                wanted_and_given(error),
                given_name = words::value(error.instance())
            );
        }
        _ => match wanted_value(error) {
            Some(wanted) => wanted,
            // The schema's part of the sentence alone: the value has its own limit.
            None => {
                return words::cut(
                    &error.masked_with("it").to_string().replace('\n', " "),
                    QUOTED,
                );
            }
        },
    };
    format!("wanted {wanted}, given {given}")
}

/// What is wanted, where it is a matter of this value alone.
pub(super) fn wanted_value(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        Kind::Type { kind } => {
            let names: Vec<String> = types(kind)
                .into_iter()
                .map(|kind| article(&kind.to_string()))
                .collect();
            Some(names.join(" or "))
        }
        Kind::Enum { options } => Some(one_of(options.as_array()?)),
        Kind::Constant { expected_value } => Some(words::value(expected_value)),
        _ => None,
    }
}

pub(super) fn one_of(options: &[Value]) -> String {
    let shown = &options[..options.len().min(MOST_LISTED)];
    let shown: Vec<String> = shown.iter().map(words::value).collect();
    format!("one of {}", list(&shown, options.len(), ", "))
}

pub(super) fn listed(all: &[String], between: &str) -> String {
    list(&all[..all.len().min(MOST_LISTED)], all.len(), between)
}

fn list(shown: &[String], count: usize, between: &str) -> String {
    let unsaid = count - shown.len();
    let mut text = shown.join(between);
    if unsaid > 0 {
        text.push_str(&format!(" and {unsaid} more"));
    }
    text
}

fn some(limit: &impl Display, what: &str) -> String {
    let limit = limit.to_string();
    match (limit.as_str(), what) {
        ("1", _) => format!("1 {what}"),
        (_, "property") => format!("{limit} properties"),
        _ => format!("{limit} {what}s"),
    }
}

pub(super) fn article(name: &str) -> String {
    match name {
        "array" | "integer" | "object" => format!("an {name}"),
        "null" => "null".into(),
        _ => format!("a {}", words::name(name)),
    }
}
