//! Progress in three steps.

use toolbay_conformance::{NONE, context, fixture, pass};

fixture!("test_tool_with_progress", NONE, |_input| {
    for percent in [0, 50, 100] {
        context::report(&context::Update::Percent(percent));
        pass(50);
    }
    Ok(toolbay_sdk::Outcome::text("Went from 0 to 100."))
});
