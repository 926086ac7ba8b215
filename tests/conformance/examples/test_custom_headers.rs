//! An argument that is also a header.

use toolbay_conformance::fixture;

fixture!(
    "test_custom_headers",
    r#"{
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "query": {"type": "string"}
        },
        "additionalProperties": false
    }"#,
    |input| Ok(toolbay_sdk::Outcome::text(input.to_string()))
);
