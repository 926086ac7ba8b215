//! Schemas and inputs, by what should come of them.

mod hostile;
mod inputs;
mod messages;
mod random;
mod shapes;

use serde_json::{Value, json};

use super::{Schema, Shaped};

fn schema(schema: &Value) -> Schema {
    Schema::compile(&schema.to_string()).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// A schema with one optional parameter `x`.
fn about_x(x: &Value) -> Value {
    json!({"type": "object", "properties": {"x": x}, "additionalProperties": false})
}
