//! A foreign schema: taken as it is, cleaned, or refused.

use serde_json::{Map, Value};

use super::bounds;
use super::text::clean;

/// Texts for people inside a schema, which models read too.
const PROSE: [&str; 3] = ["description", "title", "$comment"];

/// The schema of an object, without anything that leads elsewhere.
pub(super) fn sanitised(schema: &Map<String, Value>) -> Result<Value, String> {
    let mut budget = Budget {
        values: bounds::SCHEMA_VALUES,
        bytes: bounds::SCHEMA_BYTES,
    };
    let mut value = budget.copy_map(schema, 0)?;
    let Value::Object(map) = &mut value else {
        return Err("it is no object".into());
    };
    match map.get("type") {
        None => {
            map.insert("type".into(), "object".into());
        }
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return Err("it is not about an object".into()),
    }
    Ok(value)
}

fn is_official(draft: &str) -> bool {
    let rest = draft
        .strip_prefix("https://")
        .or_else(|| draft.strip_prefix("http://"));
    let name = rest.and_then(|rest| rest.strip_prefix("json-schema.org/"));
    let Some(name) = name.and_then(|name| name.trim_end_matches('#').strip_suffix("/schema"))
    else {
        return false;
    };
    [
        "draft/2020-12",
        "draft/2019-09",
        "draft-07",
        "draft-06",
        "draft-04",
    ]
    .contains(&name)
}

/// As the language has them.
fn is_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    first && name.len() <= 256 && name.chars().all(rest)
}

/// What may still be copied. It is spent before anything is kept.
struct Budget {
    values: usize,
    bytes: usize,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let too_large = || "it is too large".to_owned();
        self.values = self.values.checked_sub(1).ok_or_else(too_large)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }

    fn copy(&mut self, value: &Value, depth: usize) -> Result<Value, String> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.spend(8)?;
                Ok(value.clone())
            }
            Value::String(text) => {
                self.spend(text.len())?;
                Ok(Value::String(text.clone()))
            }
            Value::Array(values) => {
                self.deeper(depth)?;
                let copied = values.iter().map(|value| self.copy(value, depth + 1));
                copied.collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(map) => self.copy_map(map, depth),
        }
    }

    fn copy_map(&mut self, map: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        self.deeper(depth)?;
        let mut copied = Map::new();
        for (key, value) in map {
            self.spend(key.len())?;
            match (key.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target))
                    if !target.starts_with('#') =>
                {
                    return Err("it refers to something outside of itself".into());
                }
                // Where it claims to be from is of no use, and changes what references mean.
                ("$id", Value::String(_)) => continue,
                // Which language it is written in, if that is one that everybody knows.
                ("$schema", Value::String(draft)) if !is_official(draft) => continue,
                // References inside may lead there.
                ("$anchor" | "$dynamicAnchor", Value::String(name)) if !is_name(name) => continue,
                _ => {}
            }
            let value = match value {
                Value::String(text) if PROSE.contains(&key.as_str()) => {
                    self.spend(text.len().min(bounds::DESCRIPTION))?;
                    Value::String(clean(text, bounds::DESCRIPTION))
                }
                value => self.copy(value, depth + 1)?,
            };
            copied.insert(key.clone(), value);
        }
        Ok(Value::Object(copied))
    }

    fn deeper(&mut self, depth: usize) -> Result<(), String> {
        self.spend(2)?;
        if depth >= bounds::SCHEMA_DEPTH {
            return Err("it is nested too deeply".into());
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Result<Value, String> {
        sanitised(value.as_object().unwrap())
    }

    #[test]
    fn honest_schemas_stay_and_prose_is_cleaned() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "required": ["a"], "$anchor": "top",
            "properties": {"a": {"type": "string", "enum": ["x"], "description": "the a"}},
            "$defs": {"t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}},
        });
        assert_eq!(of(schema.clone()), Ok(schema));
        assert_eq!(of(json!({})), Ok(json!({"type": "object"})));
        let dirty = json!({
            "$schema": "https://a.example/schema", "$id": "https://a.example/x",
            "$anchor": "https://a.example/y",
            "properties": {"description": {"description": "a\u{202e}b\u{e0041}\u{7}"}},
        });
        let clean = json!({
            "type": "object", "properties": {"description": {"description": "ab"}},
        });
        assert_eq!(of(dirty), Ok(clean));
    }

    #[test]
    fn bombs_and_strange_references_are_refused() {
        let mut deep = json!({"type": "string"});
        for _ in 0..bounds::SCHEMA_DEPTH {
            deep = json!({"properties": {"a": deep}});
        }
        let wide: Map<String, Value> = (0..bounds::SCHEMA_VALUES)
            .map(|n| (n.to_string(), json!({"type": "string"})))
            .collect();
        for (schema, part) in [
            (deep, "nested"),
            (json!({"properties": wide}), "large"),
            (json!({"enum": ["x".repeat(bounds::SCHEMA_BYTES)]}), "large"),
            (json!({"$ref": "https://a.example/s.json"}), "outside"),
            (
                json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
                "outside",
            ),
            (json!({"type": "array"}), "not about an object"),
            (json!({"type": ["object"]}), "not about an object"),
        ] {
            let error = of(schema).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
