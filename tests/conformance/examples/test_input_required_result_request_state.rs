//! A question whose answer comes with a state.

use toolbay_conformance::{NONE, ask, fixture};

fixture!("test_input_required_result_request_state", NONE, |_input| {
    ask(&[("confirm", "Please confirm")])?;
    // The host has checked the state, or this line would not be reached.
    Ok(toolbay_sdk::Outcome::text("state-ok"))
});
