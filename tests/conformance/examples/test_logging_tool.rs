//! Three lines of a log, for the protocol without sessions.

use toolbay_conformance::{NONE, fixture, log_three_lines};

fixture!("test_logging_tool", NONE, |_input| log_three_lines());
