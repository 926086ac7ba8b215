//! One question.

use toolbay_conformance::{NONE, ask, fixture};

fixture!("test_input_required_result_elicitation", NONE, |_input| {
    let answers = ask(&[("user_name", "What is your name?")])?;
    let name = answers.concat().join(" ");
    Ok(toolbay_sdk::Outcome::text(format!("Hello, {name}!")))
});
