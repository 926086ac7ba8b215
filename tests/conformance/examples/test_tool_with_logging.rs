//! Three lines of a log, for the protocol with sessions.

use toolbay_conformance::{NONE, fixture, log_three_lines};

fixture!("test_tool_with_logging", NONE, |_input| log_three_lines());
