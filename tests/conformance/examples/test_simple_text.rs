//! One text.

use toolbay_conformance::{NONE, fixture};

fixture!("test_simple_text", NONE, |_input| Ok(
    toolbay_sdk::Outcome::text("This is a simple text response for testing.")
));
