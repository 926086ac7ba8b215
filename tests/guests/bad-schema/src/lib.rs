//! A tool whose input schema is not JSON, in its section and when asked alike.

use toolbay_sdk::{Info, Outcome, Result, Tool};

struct BadSchema;

impl Tool for BadSchema {
    type Input = serde_json::Value;

    const INFO: Info =
        Info::new("BadSchema", "Has a broken schema.").schema(r#"{"type":"object","properties":"#);

    fn is_read_only(_: &Self::Input) -> bool {
        true
    }

    fn call(_: Self::Input) -> Result {
        Ok(Outcome::text("called without a schema"))
    }
}

toolbay_sdk::export!(BadSchema);
