//! A look over a stranger's schema before it is compiled: what would fetch, loop, or
//! grow without bound is refused here, in words for its author.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::effort::Effort;
use super::keywords;
use super::pattern;
use super::words::cut;

/// More than any honest tool's; each becomes a handful of allocations.
const MOST_SCHEMAS: usize = 10_000;
/// States of all patterns together, some tens of bytes each. An ordinary pattern has
/// less than a hundred, one with `\p{L}` thousands.
const MOST_STATES: usize = 300_000;
/// Lengths of the pointers to all parts together: the compiler keeps one for each.
const MOST_POINTER_BYTES: usize = 16 * 1024 * 1024;
/// How much of the schema an error repeats.
const SHOWN: usize = 80;

/// Gives the weight of each pattern.
pub(super) fn survey(document: &Value) -> Result<HashMap<String, usize>, String> {
    let mut left = MOST_POINTER_BYTES;
    pay_for_pointers(document, 0, &mut left)
        .ok_or("the schema has too many long names within each other")?;
    let mut survey = Survey {
        document,
        seen: HashSet::new(),
        patterns: HashMap::new(),
        states: 0,
        has_old_ids: document
            .get("$schema")
            .and_then(Value::as_str)
            .is_some_and(|dialect| dialect.contains("draft-04")),
    };
    let mut waiting = vec![document];
    while let Some(schema) = waiting.pop() {
        // One object in memory is one schema, however many references lead to it.
        if !survey.seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        if survey.seen.len() > MOST_SCHEMAS {
            return Err(format!("the schema has more than {MOST_SCHEMAS} parts"));
        }
        let Some(keywords) = schema.as_object() else {
            continue;
        };
        waiting.extend(survey.reference(keywords)?);
        survey.patterns(keywords)?;
        if !Effort::suffices_for(document, schema) {
            return Err(
                "the schema refers to itself without end, or to so many parts that \
                 checking one value takes too long"
                    .into(),
            );
        }
        waiting.extend(keywords::all(keywords));
    }
    Ok(survey.patterns)
}

/// Nothing is left when this gives nothing.
fn pay_for_pointers(value: &Value, length: usize, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(length)?;
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| pay_for_pointers(item, length + 4, left)),
        Value::Object(map) => map
            .iter()
            .try_for_each(|(name, inner)| pay_for_pointers(inner, length + 1 + name.len(), left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
    }
}

struct Survey<'a> {
    document: &'a Value,
    seen: HashSet<*const Value>,
    patterns: HashMap<String, usize>,
    states: usize,
    /// In the oldest dialect `id` is what `$id` is later.
    has_old_ids: bool,
}

impl<'a> Survey<'a> {
    /// The schema that this one refers to. Other documents are never fetched, and
    /// nothing may change what a reference counts from.
    fn reference(&self, keywords: &'a Map<String, Value>) -> Result<Option<&'a Value>, String> {
        for keyword in ["$dynamicRef", "$recursiveRef", "$id"] {
            if keywords.contains_key(keyword) {
                return Err(format!(
                    "the schema uses `{keyword}`, which is not supported; use `$ref` with a \
                     place in the same schema, such as \"#/$defs/item\""
                ));
            }
        }
        if self.has_old_ids && keywords.get("id").is_some_and(Value::is_string) {
            return Err("the schema uses `id` below its top, which is not supported".into());
        }
        let Some(reference) = keywords.get("$ref") else {
            return Ok(None);
        };
        let Some(text) = reference.as_str() else {
            return Err("a `$ref` in the schema is not a text".into());
        };
        if text != "#" && !text.starts_with("#/") {
            return Err(format!(
                "the schema refers to {}; only places in the same schema can be referred to, \
                 such as \"#/$defs/item\"",
                cut(&format!("{text:?}"), SHOWN)
            ));
        }
        match keywords::target(self.document, text) {
            Some(target) => Ok(Some(target)),
            None => Err(format!(
                "the schema refers to {}, which it does not have",
                cut(&format!("{text:?}"), SHOWN)
            )),
        }
    }

    fn patterns(&mut self, keywords: &'a Map<String, Value>) -> Result<(), String> {
        let named = keywords.get("patternProperties").and_then(Value::as_object);
        let named = named.into_iter().flat_map(Map::keys).map(String::as_str);
        let own = keywords.get("pattern").and_then(Value::as_str);
        for text in named.chain(own) {
            if self.patterns.contains_key(text) {
                continue;
            }
            let states = pattern::states(text);
            self.states = self.states.saturating_add(states);
            if self.states > MOST_STATES {
                return Err(format!(
                    "the schema's patterns are too large together, up to {}; repeat fewer times",
                    cut(&format!("{text:?}"), SHOWN)
                ));
            }
            self.patterns.insert(text.to_owned(), states);
        }
        Ok(())
    }
}
