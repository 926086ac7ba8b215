//! A failure.

use toolbay_conformance::{NONE, fixture};

fixture!("test_error_handling", NONE, |_input| Err(
    toolbay_sdk::ToolError::failed("This tool intentionally returns an error for testing",)
));
