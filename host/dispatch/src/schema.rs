//! Whether an input fits a tool's schema, and what little can be done so that it does.
//!
//! The schema is a stranger's and the input a model's. Both are looked over before the
//! validator sees them, so that neither can make it hang or fetch anything.

mod effort;
mod explain;
mod keywords;
mod nearest;
mod number;
mod pattern;
mod propose;
mod repair;
mod survey;
mod wanted;
mod words;

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use toolbay_contract::ToolInfo;

use effort::{Effort, TooMuch};
pub use nearest::nearest;
use repair::Repaired;

/// What one compiled pattern may take, should it be larger than the survey reckons.
const PATTERN_BYTES: usize = 8 * 1024 * 1024;

/// JSON nests 128 deep at most, the compiler follows eight references at once, and takes
/// up to 13 KB a level without optimisation; four times that. Unused pages cost nothing.
const COMPILER_STACK: usize = 64 * 1024 * 1024;

/// A tool's schema, compiled once.
pub struct Schema {
    document: Document,
    validator: Validator,
}

/// A schema that was looked over.
struct Document {
    root: Value,
    /// How heavy each of its patterns is.
    patterns: HashMap<String, usize>,
}

/// An input that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    pub value: Value,
    /// What was changed to make it fit, a sentence each.
    pub changed: Vec<String>,
}

impl Schema {
    /// Reads a JSON Schema. The error says what its author should change.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.len() > ToolInfo::MAX_BYTES {
            return Err(format!(
                "the schema is {} bytes long; at most {} are accepted",
                text.len(),
                ToolInfo::MAX_BYTES
            ));
        }
        let mut root: Value = serde_json::from_str(text)
            .map_err(|error| format!("the schema is not JSON: {error}"))?;
        let Some(keywords) = root.as_object_mut() else {
            return Err("the schema must be a JSON object".into());
        };
        // All references are local, so the document's own name serves nothing; without
        // it, nobody can pose as a document that the validator knows.
        keywords.remove("$id");
        keywords.remove("id");
        let patterns = survey::survey(&root)?;
        let validator = build(&root)?;
        Ok(Self {
            document: Document { root, patterns },
            validator,
        })
    }

    /// Makes the input fit where that takes no guessing; the error is for the model.
    /// An input that fits is not changed, but for `5.0` where an integer is wanted: it
    /// becomes the same number without a point, which more tools can read.
    pub fn shape(&self, input: Value) -> Result<Shaped, String> {
        let too_much = |TooMuch| TooMuch.sentence().to_owned();
        let mut effort = Effort::of_a_call();
        let repaired = repair::repair(self, input, &mut effort).map_err(too_much)?;
        match repaired {
            Repaired::Fits(shaped) => Ok(shaped),
            Repaired::Fails(value) => {
                let errors = self.errors(&value, &mut effort).map_err(too_much)?;
                Err(explain::explain(errors, &self.document.root))
            }
        }
    }

    /// The errors of a value, paid for.
    fn errors<'a>(
        &'a self,
        value: &'a Value,
        effort: &mut Effort,
    ) -> Result<impl Iterator<Item = ValidationError<'a>> + use<'a>, TooMuch> {
        effort.measure(&self.document, value)?;
        Ok(self.validator.iter_errors(value))
    }
}

/// Compiles on a stack of its own: the compiler recurses as deep as a schema is nested,
/// several times over through references, and a stack that runs out ends the process.
fn build(root: &Value) -> Result<Validator, String> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(PATTERN_BYTES)
                .dfa_size_limit(PATTERN_BYTES),
        );
    std::thread::scope(|scope| {
        let compiling = std::thread::Builder::new()
            .stack_size(COMPILER_STACK)
            .spawn_scoped(scope, || {
                let built = options.build(root);
                built.map_err(|error| explain::unusable(&error))
            })
            .map_err(|error| format!("the schema cannot be compiled now: {error}"))?;
        let done = compiling.join();
        done.unwrap_or_else(|_| Err("the schema makes the validator break".into()))
    })
}

#[cfg(test)]
mod tests;
