//! A question whose state the suite changes.

use toolbay_conformance::{NONE, ask, fixture};

fixture!(
    "test_input_required_result_tampered_state",
    NONE,
    |_input| {
        ask(&[("confirm", "Please confirm")])?;
        Ok(toolbay_sdk::Outcome::text("confirmed"))
    }
);
