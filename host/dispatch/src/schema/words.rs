//! Places and values as a model reads them: on one line, and never long.

use serde_json::Value;

/// How much of a value is repeated to who sent it.
const SHOWN: usize = 60;
/// Longer names are not names but payload.
const LONGEST_NAME: usize = 40;
/// Deeper places than this are named by their end alone.
const MOST_STEPS: usize = 12;

/// At most so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A JSON pointer as people write places: `todos[0].content`.
pub(super) fn place(pointer: &str) -> String {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    if steps.is_empty() {
        return "the input".into();
    }
    let mut text = String::new();
    let hidden = steps.len().saturating_sub(MOST_STEPS);
    if hidden > 0 {
        text.push('…');
    }
    for step in &steps[hidden..] {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push_str(&format!("[{step}]"));
            continue;
        }
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&name(&unescaped(step)));
    }
    text
}

/// A name of a parameter; quoted where it would not read as one.
pub(super) fn name(text: &str) -> String {
    let reads = |character: char| character.is_alphanumeric() || "_-$@:".contains(character);
    if !text.is_empty() && text.chars().all(reads) {
        cut(text, LONGEST_NAME)
    } else {
        cut(&format!("{text:?}"), LONGEST_NAME)
    }
}

/// The pointer to a property of what another pointer leads to.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The step of a JSON pointer as the object has it.
pub(super) fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A value as it was given, shortened.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        // Cut first: quoting a megabyte to show its beginning is a waste.
        Value::String(text) => match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", Value::from(&text[..end])),
            None => Value::from(text.as_str()).to_string(),
        },
        Value::Array(items) if is_small(value) => {
            let inner: Vec<String> = items.iter().map(self::value).collect();
            cut(&format!("[{}]", inner.join(",")), SHOWN)
        }
        Value::Object(map) if is_small(value) => {
            let inner: Vec<String> = map
                .iter()
                .map(|(key, inner)| {
                    format!("{}:{}", cut(&format!("{key:?}"), SHOWN), self::value(inner))
                })
                .collect();
            cut(&format!("{{{}}}", inner.join(",")), SHOWN)
        }
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(map) => format!("an object with {} properties", map.len()),
    }
}

/// Whether a value has so few parts that writing it costs nothing.
fn is_small(value: &Value) -> bool {
    fn parts(value: &Value, left: usize) -> Option<usize> {
        let left = left.checked_sub(1)?;
        match value {
            Value::Array(items) => items.iter().try_fold(left, |left, item| parts(item, left)),
            Value::Object(map) => map.values().try_fold(left, |left, item| parts(item, left)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(left),
        }
    }
    parts(value, 16).is_some()
}
