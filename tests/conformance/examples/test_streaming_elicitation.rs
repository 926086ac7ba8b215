//! A question in the middle of a call.

use toolbay_conformance::{NONE, ask, fixture};

fixture!("test_streaming_elicitation", NONE, |_input| {
    let answers = ask(&[("answer", "Is anybody there?")])?;
    Ok(toolbay_sdk::Outcome::text(format!("{answers:?}")))
});
