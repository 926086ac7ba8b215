//! What an error of the validator says about how to mend it.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::{number, wanted, words};

/// Where more could be meant than these, trying them all is guessing.
const MOST_WAYS: usize = 8;

/// One value put in the place of another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) at: String,
    /// Without a value, the property is left out.
    pub(super) to: Option<Value>,
}

impl Change {
    pub(super) fn to(at: &str, value: Value) -> Self {
        Self {
            at: at.to_owned(),
            to: Some(value),
        }
    }

    pub(super) fn sentence(&self, old: &Value) -> String {
        let (place, old) = (words::place(&self.at), words::value(old));
        match &self.to {
            Some(new) => format!("{place}: {old} became {}", words::value(new)),
            None => format!("{place}: {old} was left out"),
        }
    }
}

/// What could be done about one error.
pub(super) struct Proposal {
    pub(super) at: String,
    /// Each way is a set of changes; a sure proposal has one.
    pub(super) ways: Vec<Vec<Change>>,
    pub(super) sure: bool,
}

pub(super) fn propose(error: &ValidationError<'_>) -> Option<Proposal> {
    let at = error.instance_path().as_str();
    let given = &**error.instance();
    let one = |change: Change, sure: bool| {
        Some(Proposal {
            at: at.to_owned(),
            ways: vec![vec![change]],
            sure,
        })
    };
    if given.is_null() {
        let leave_out = Change {
            at: at.to_owned(),
            to: None,
        };
        return one(leave_out, false);
    }
    match error.kind() {
        Kind::Type { kind } => {
            let wanted = wanted::types(kind);
            if let Some(value) = converted(given, &wanted) {
                return one(Change::to(at, value), true);
            }
            // The value may be the only item of a list that was meant.
            if wanted.contains(&JsonType::Array) {
                let list = Value::Array(vec![given.clone()]);
                return one(Change::to(at, list), false);
            }
            None
        }
        Kind::Enum { options } => {
            let value = same_text(given, options.as_array()?)?;
            one(Change::to(at, value), true)
        }
        Kind::Constant { expected_value } => {
            let value = same_text(given, std::slice::from_ref(expected_value))?;
            one(Change::to(at, value), true)
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => choose(at, context),
        _ => None,
    }
}

/// The branches whose every error can be mended.
fn choose(at: &str, branches: &[Vec<ValidationError<'static>>]) -> Option<Proposal> {
    let mut ways: Vec<Vec<Change>> = Vec::new();
    let mut sure = true;
    for branch in branches.iter().filter(|errors| !errors.is_empty()) {
        let proposals: Option<Vec<Proposal>> = branch.iter().map(propose).collect();
        let Some(proposals) = proposals else { continue };
        if proposals.iter().any(|proposal| proposal.ways.len() != 1) {
            continue;
        }
        sure &= proposals.iter().all(|proposal| proposal.sure);
        let way: Vec<Change> = proposals
            .into_iter()
            .flat_map(|proposal| proposal.ways)
            .flatten()
            .collect();
        if !ways.contains(&way) {
            ways.push(way);
        }
        if ways.len() > MOST_WAYS {
            return None;
        }
    }
    (!ways.is_empty()).then(|| Proposal {
        at: at.to_owned(),
        sure: sure && ways.len() == 1,
        ways,
    })
}

/// The same value as one of the wanted types, if it is plain which.
fn converted(given: &Value, wanted: &[JsonType]) -> Option<Value> {
    let wants = |kind: JsonType| wanted.contains(&kind);
    match given {
        Value::String(text) => {
            let number = if wants(JsonType::Number) {
                number::spelled(text)
            } else if wants(JsonType::Integer) {
                number::spelled_integer(text)
            } else {
                None
            };
            let boolean = || match text.trim() {
                "true" if wants(JsonType::Boolean) => Some(Value::Bool(true)),
                "false" if wants(JsonType::Boolean) => Some(Value::Bool(false)),
                _ => None,
            };
            let parts = || match text.trim_start().as_bytes().first() {
                Some(b'[') if wants(JsonType::Array) => serde_json::from_str(text).ok(),
                Some(b'{') if wants(JsonType::Object) => serde_json::from_str(text).ok(),
                _ => None,
            };
            number.map(Value::Number).or_else(boolean).or_else(parts)
        }
        Value::Number(_) | Value::Bool(_) => {
            let only_text = wanted
                .iter()
                .all(|kind| matches!(kind, JsonType::String | JsonType::Null));
            (only_text && wants(JsonType::String)).then(|| Value::String(given.to_string()))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The one option that is written like the value.
fn same_text(given: &Value, options: &[Value]) -> Option<Value> {
    let given = text_of(given)?;
    let mut alike = options
        .iter()
        .filter(|option| text_of(option).as_deref() == Some(&given));
    let only = alike.next()?;
    alike.next().is_none().then(|| only.clone())
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
