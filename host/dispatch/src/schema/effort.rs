//! How much work a value and a schema make together, counted before it is done.
//!
//! A few hundred bytes of schema can ask for more steps than there are atoms, through
//! references alone. This walk meets the pairs of schema and value that a validator may
//! meet, at least as often, and gives up in time.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Document, keywords, number, words};

/// Steps for all that is done for one call. All of them take half a second, or a whole
/// one in patterns; an ordinary call takes some hundreds.
const STEPS_OF_A_CALL: u64 = 1_000_000;
/// Steps that one schema may take for a value without parts. Who needs more has a
/// schema that refers to itself without end, or doubles at each step.
const STEPS_OF_A_LEAF: u64 = 10_000;
/// Schemas within schemas, references counted. Each is a few stack frames of the
/// validator, and a call may run on a thread with a small stack.
const MOST_LEVELS: usize = 200;
/// Bytes of text that count as one step when they are copied.
const BYTES_OF_A_STEP: usize = 16;
/// States of a pattern times bytes of a text that count as one step, at the pace of the
/// engine's slowest way.
const MATCHES_OF_A_STEP: usize = 64;

/// The work goes beyond what a call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

impl TooMuch {
    pub(super) fn sentence(self) -> &'static str {
        "the input is too large or too deeply nested to be checked against the tool's schema; \
         send less at a time"
    }
}

/// What is left to spend.
pub(super) struct Effort {
    left: u64,
}

impl Effort {
    pub(super) fn of_a_call() -> Self {
        Self {
            left: STEPS_OF_A_CALL,
        }
    }

    /// Pays for one validation of the value.
    pub(super) fn measure(&mut self, document: &Document, value: &Value) -> Result<(), TooMuch> {
        self.find_pointed(document, value).map(drop)
    }

    /// Pays likewise, and gives the places where a number with a needless point stands
    /// for an integer.
    pub(super) fn find_pointed(
        &mut self,
        document: &Document,
        value: &Value,
    ) -> Result<Vec<String>, TooMuch> {
        self.walk(&document.root, &document.patterns, &document.root, value)
    }

    /// Whether the schema is one that a validator gets through at all.
    pub(super) fn suffices_for(document: &Value, schema: &Value) -> bool {
        let mut effort = Self {
            left: STEPS_OF_A_LEAF,
        };
        effort
            .walk(document, &HashMap::new(), schema, &Value::Null)
            .is_ok()
    }

    fn walk(
        &mut self,
        document: &Value,
        patterns: &HashMap<String, usize>,
        schema: &Value,
        value: &Value,
    ) -> Result<Vec<String>, TooMuch> {
        let mut walk = Walk {
            document,
            patterns,
            effort: self,
            pointed: Vec::new(),
        };
        walk.visit(schema, value, &Place::ROOT, 0)?;
        Ok(walk.pointed)
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooMuch> {
        let steps = u64::try_from(steps).map_err(|_| TooMuch)?;
        self.left = self.left.checked_sub(steps).ok_or(TooMuch)?;
        Ok(())
    }

    /// Pays for a copy of the value.
    pub(super) fn spend_copy(&mut self, value: &Value) -> Result<(), TooMuch> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(1),
            Value::String(text) => self.spend(1 + text.len() / BYTES_OF_A_STEP),
            Value::Array(items) => {
                self.spend(1)?;
                items.iter().try_for_each(|item| self.spend_copy(item))
            }
            Value::Object(map) => {
                self.spend(1)?;
                map.iter().try_for_each(|(name, inner)| {
                    self.spend(name.len() / BYTES_OF_A_STEP)?;
                    self.spend_copy(inner)
                })
            }
        }
    }
}

/// Where the walk is, without an allocation a step.
struct Place<'a> {
    above: Option<&'a Place<'a>>,
    step: Step<'a>,
    /// Length of the pointer that leads here.
    bytes: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Property(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    const ROOT: Place<'static> = Place {
        above: None,
        step: Step::Item(0),
        bytes: 0,
    };

    fn below(&'a self, step: Step<'a>) -> Self {
        let length = match step {
            Step::Property(name) => name.len(),
            Step::Item(_) => 8,
        };
        Self {
            above: Some(self),
            step,
            bytes: self.bytes + length,
        }
    }

    fn pointer(&self) -> String {
        let Some(above) = self.above else {
            return String::new();
        };
        match self.step {
            Step::Property(name) => words::below(&above.pointer(), name),
            Step::Item(index) => format!("{}/{index}", above.pointer()),
        }
    }
}

struct Walk<'a> {
    document: &'a Value,
    patterns: &'a HashMap<String, usize>,
    effort: &'a mut Effort,
    pointed: Vec<String>,
}

impl Walk<'_> {
    fn visit(
        &mut self,
        schema: &Value,
        value: &Value,
        place: &Place<'_>,
        level: usize,
    ) -> Result<(), TooMuch> {
        if level > MOST_LEVELS {
            return Err(TooMuch);
        }
        // An error here would hold the whole pointer.
        self.effort.spend(1 + place.bytes / BYTES_OF_A_STEP / 4)?;
        let Some(keywords) = schema.as_object() else {
            return Ok(());
        };
        self.pay_for_keywords(keywords, value)?;
        if wants_integer(keywords) && number::without_point(value).is_some() {
            self.pointed.push(place.pointer());
        }
        // To know what is left unevaluated, a validator asks the others once more.
        let unevaluated = ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| keywords::target(self.document, reference));
        for _ in 0..=usize::from(unevaluated) {
            for inner in keywords::in_place(keywords).chain(target) {
                self.visit(inner, value, place, level + 1)?;
            }
        }
        match value {
            Value::Object(map) => {
                for (name, property) in map {
                    let place = place.below(Step::Property(name));
                    for inner in keywords::of_property(keywords, name) {
                        self.visit(inner, property, &place, level + 1)?;
                    }
                    if let Some(names) = keywords.get("propertyNames") {
                        let name = Value::String(name.clone());
                        self.visit(names, &name, &place, level + 1)?;
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let place = place.below(Step::Item(index));
                    for inner in keywords::of_item(keywords, index) {
                        self.visit(inner, item, &place, level + 1)?;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    /// What the keywords cost that look at this value alone.
    fn pay_for_keywords(
        &mut self,
        keywords: &Map<String, Value>,
        value: &Value,
    ) -> Result<(), TooMuch> {
        for list in ["enum", "required"] {
            let length = keywords
                .get(list)
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            self.effort.spend(length)?;
        }
        let pattern = keywords.get("pattern").and_then(Value::as_str);
        if let (Value::String(text), Some(pattern)) = (value, pattern) {
            self.pay_for_match(pattern, text.len())?;
        }
        if let Value::Object(map) = value {
            let known = keywords.get("properties").and_then(Value::as_object);
            self.effort.spend(known.map_or(0, Map::len))?;
            if let Some(patterns) = keywords.get("patternProperties").and_then(Value::as_object) {
                let bytes: usize = map.keys().map(String::len).sum();
                for pattern in patterns.keys() {
                    self.effort.spend(map.len())?;
                    self.pay_for_match(pattern, bytes)?;
                }
            }
        }
        // An error copies the value it is about, and a choice keeps those of every branch.
        for choice in ["anyOf", "oneOf"] {
            let branches = keywords.get(choice).and_then(Value::as_array);
            for _ in branches.into_iter().flatten() {
                self.effort.spend_copy(value)?;
            }
        }
        if keywords.contains_key("uniqueItems") && value.is_array() {
            self.effort.spend_copy(value)?;
        }
        Ok(())
    }

    fn pay_for_match(&mut self, pattern: &str, bytes: usize) -> Result<(), TooMuch> {
        let states = self.patterns.get(pattern).copied().unwrap_or(usize::MAX);
        self.effort
            .spend(states.saturating_mul(bytes) / MATCHES_OF_A_STEP)
    }
}

fn wants_integer(keywords: &Map<String, Value>) -> bool {
    match keywords.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => {
            let has = |wanted: &str| names.iter().any(|name| name == wanted);
            has("integer") && !has("number")
        }
        _ => false,
    }
}
