//! A tool that cannot even say who it is. It carries no info section.

// To panic is the point.
#![allow(clippy::panic)]

use toolbay_sdk::adapter::ToolInfo;
use toolbay_sdk::bindings::tool::exports::toolbay::tool::tool::Guest;
use toolbay_sdk::{Outcome, Result};

struct PanicsInInfo;

impl Guest for PanicsInInfo {
    fn info() -> ToolInfo {
        panic!("in info")
    }

    fn is_read_only(_: String) -> bool {
        true
    }

    fn is_concurrency_safe(_: String) -> bool {
        true
    }

    fn call(_: String) -> Result {
        Ok(Outcome::text("called without a name"))
    }
}

// The generated glue is unsafe by nature.
#[allow(unsafe_code)]
mod export {
    use super::PanicsInInfo;
    toolbay_sdk::bindings::tool::export_tool!(PanicsInInfo with_types_in toolbay_sdk::bindings::tool);
}
