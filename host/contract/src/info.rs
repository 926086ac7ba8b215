//! Who a tool is, as the host knows it.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolbay_policy::SubjectKind;

/// The contract generation that a component speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContractVersion {
    #[serde(rename = "0.1")]
    V0_1,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SubjectAt {
    pub kind: SubjectKind,
    /// RFC 6901 pointer into the input.
    pub pointer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultLimit {
    #[default]
    Standard,
    Chars(u32),
    SelfManaged,
}

/// The part of a result that is shown where not all of it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    Start,
    End,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnInterrupt {
    #[default]
    Finish,
    Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    #[default]
    Isolate,
    CancelSiblings,
}

/// The annotation that says what to keep of a result.
const KEEP: &str = "keep";

/// What `info()` says. The JSON form is what a component's info section holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolInfo {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    pub summary: String,
    /// JSON Schema as text, as the component gave it.
    pub input_schema: String,
    #[serde(default)]
    pub output_schema: Option<String>,
    #[serde(default)]
    pub subjects: Vec<SubjectAt>,
    #[serde(default)]
    pub limit: ResultLimit,
    #[serde(default)]
    pub interrupt: OnInterrupt,
    #[serde(default)]
    pub error: OnError,
    #[serde(default)]
    pub deferred: bool,
    #[serde(default)]
    pub search_hint: Option<String>,
    #[serde(default)]
    pub annotations: Vec<(String, String)>,
}

/// Why an info is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InfoError {
    #[error("the tool name {0:?} is not 1 to 64 of A-Z a-z 0-9 _ -")]
    Name(String),
    #[error("the info is {0} bytes long; at most {1} are accepted")]
    TooLarge(usize, usize),
    #[error("the {0} schema is not JSON: {1}")]
    SchemaNotJson(&'static str, String),
    #[error("the {0} schema must be a JSON object whose type is \"object\"")]
    SchemaNotObject(&'static str),
    #[error("the subject pointer {0:?} is not a JSON pointer such as \"/file_path\"")]
    Pointer(String),
}

impl ToolInfo {
    /// More than any honest tool needs; what is over would only fill the model's
    /// context and our memory.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Checks what the types cannot.
    pub fn check(&self) -> Result<(), InfoError> {
        for name in std::iter::once(&self.name).chain(&self.aliases) {
            let fits = (1..=64).contains(&name.len())
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if !fits {
                return Err(InfoError::Name(name.chars().take(80).collect()));
            }
        }
        let size = self.size();
        if size > Self::MAX_BYTES {
            return Err(InfoError::TooLarge(size, Self::MAX_BYTES));
        }
        check_schema("input", &self.input_schema)?;
        if let Some(schema) = &self.output_schema {
            check_schema("output", schema)?;
        }
        for subject in &self.subjects {
            if !subject.pointer.is_empty() && !subject.pointer.starts_with('/') {
                return Err(InfoError::Pointer(subject.pointer.clone()));
            }
        }
        Ok(())
    }

    /// The part of its results that the tool wants to be kept, if it says so. A word
    /// that is not known is as good as none, so that words can be added.
    pub fn keep(&self) -> Option<Keep> {
        let mut annotations = self.annotations.iter();
        let (_, word) = annotations.find(|(key, _)| key == KEEP)?;
        match word.as_str() {
            "start" => Some(Keep::Start),
            "end" => Some(Keep::End),
            "both" => Some(Keep::Both),
            _ => None,
        }
    }

    /// Bytes of text in it.
    pub fn size(&self) -> usize {
        let option = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.name.len()
            + self.summary.len()
            + self.input_schema.len()
            + option(&self.output_schema)
            + option(&self.search_hint)
            + self.aliases.iter().map(String::len).sum::<usize>()
            + self
                .subjects
                .iter()
                .map(|subject| subject.pointer.len() + 8)
                .sum::<usize>()
            + self
                .annotations
                .iter()
                .map(|(key, value)| key.len() + value.len())
                .sum::<usize>()
    }
}

fn check_schema(which: &'static str, text: &str) -> Result<(), InfoError> {
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| InfoError::SchemaNotJson(which, error.to_string()))?;
    if value.get("type").and_then(serde_json::Value::as_str) == Some("object") {
        Ok(())
    } else {
        Err(InfoError::SchemaNotObject(which))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(json: serde_json::Value) -> ToolInfo {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn what_to_keep_is_an_annotation() {
        use serde_json::json;
        for (annotations, wanted) in [
            (json!([]), None),
            (json!([["simple", "end"]]), None),
            (json!([["keep", "start"]]), Some(Keep::Start)),
            (
                json!([["simple", "true"], ["keep", "end"]]),
                Some(Keep::End),
            ),
            (json!([["keep", "both"]]), Some(Keep::Both)),
            // Unknown words are none, and the first one counts.
            (json!([["keep", "End"]]), None),
            (json!([["keep", ""]]), None),
            (json!([["keep", "middle"], ["keep", "end"]]), None),
            (json!([["keep", "end"], ["keep", "both"]]), Some(Keep::End)),
        ] {
            let info = info(json!({
                "name": "A", "summary": "s", "input-schema": "{}", "annotations": annotations,
            }));
            assert_eq!(info.keep(), wanted, "{annotations}");
        }
    }

    #[test]
    fn bad_infos_are_refused_with_their_reason() {
        let good = serde_json::json!({"name": "A", "summary": "s", "input-schema": "{\"type\":\"object\"}"});
        assert_eq!(info(good.clone()).check(), Ok(()));
        for (key, value, part) in [
            ("name", serde_json::json!(""), "tool name"),
            ("name", serde_json::json!("a b"), "tool name"),
            ("input-schema", serde_json::json!("{"), "not JSON"),
            ("input-schema", serde_json::json!("[]"), "object"),
            (
                "summary",
                serde_json::json!("x".repeat(300_000)),
                "bytes long",
            ),
            (
                "subjects",
                serde_json::json!([{"kind": "path", "pointer": "x"}]),
                "pointer",
            ),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            let error = info(bad).check().unwrap_err().to_string();
            assert!(error.contains(part), "{key}: {error}");
        }
    }
}
