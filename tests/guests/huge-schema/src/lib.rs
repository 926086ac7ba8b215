//! A tool whose `info()` answers with a schema of 100 MB: valid JSON, and far more
//! than a host should ever take over from a guest. It carries no info section.

use toolbay_sdk::adapter::ToolInfo;
use toolbay_sdk::bindings::tool::exports::toolbay::tool::tool::Guest;
use toolbay_sdk::{Info, Outcome, Result};

const SIZE: usize = 100_000_000;

struct HugeSchema;

impl Guest for HugeSchema {
    fn info() -> ToolInfo {
        let mut info = Info::new("HugeSchema", "Has a schema of 100 MB.").to_wire();
        let (start, end) = (r#"{"type":"object","description":""#, r#""}"#);
        let mut schema = String::with_capacity(SIZE);
        schema.push_str(start);
        schema.extend(std::iter::repeat_n('x', SIZE - start.len() - end.len()));
        schema.push_str(end);
        info.input_schema = schema;
        info
    }

    fn is_read_only(_: String) -> bool {
        true
    }

    fn is_concurrency_safe(_: String) -> bool {
        true
    }

    fn call(_: String) -> Result {
        Ok(Outcome::text("loaded in spite of its schema"))
    }
}

// The generated glue is unsafe by nature.
#[allow(unsafe_code)]
mod export {
    use super::HugeSchema;
    toolbay_sdk::bindings::tool::export_tool!(HugeSchema with_types_in toolbay_sdk::bindings::tool);
}
