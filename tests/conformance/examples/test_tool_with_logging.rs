//! Three lines of a log.

use toolbay_conformance::{NONE, context, fixture, pass};

fixture!("test_tool_with_logging", NONE, |_input| {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        context::log(context::Level::Info, line);
        pass(50);
    }
    Ok(toolbay_sdk::Outcome::text("Logged three lines."))
});
