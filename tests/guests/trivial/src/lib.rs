//! The least a tool can do: it says back the text that it was given.
//!
//! Whatever a call of it costs is the host's own cost, so the benchmarks and the
//! test with a thousand plugins measure with it.

use serde::Deserialize;
use toolbay_sdk::{Info, Keep, Outcome, Result, Tool};

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    text: String,
}

struct Trivial;

impl Tool for Trivial {
    type Input = Input;

    const INFO: Info = Info::new("Trivial", "Says back the text that it was given.")
        .schema(
            r#"{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}"#,
        )
        .keep(Keep::End);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> Result {
        Ok(Outcome::text(input.text))
    }
}

toolbay_sdk::export!(Trivial);
