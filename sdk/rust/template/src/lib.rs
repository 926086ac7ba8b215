//! A tool that greets. Rename it, and make it do something.

use serde::Deserialize;
use toolbay_sdk::{Info, JsonSchema, Outcome, Result, Tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolbay_sdk::schemars")]
struct Input {
    /// Who to greet.
    name: String,
}

struct Greet;

impl Tool for Greet {
    type Input = Input;
    const INFO: Info = Info::new("Greet", "Greets somebody.").schema_of::<Input>();

    fn is_read_only(_: &Input) -> bool {
        true
    }
    fn call(input: Input) -> Result {
        Ok(Outcome::text(format!("Hello, {}!", input.name)))
    }
}

toolbay_sdk::export!(Greet);
