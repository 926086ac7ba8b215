//! Two questions.

use toolbay_conformance::{ask, fixture};

fixture!(
    "test_elicitation",
    r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#,
    |input| {
        let message = input["message"].as_str().unwrap_or_default();
        let answers = ask(&[("username", message), ("email", "And your email address?")])?;
        Ok(toolbay_sdk::Outcome::text(format!(
            "User response: {answers:?}"
        )))
    }
);
