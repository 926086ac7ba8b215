//! Two questions, one after the other.

use toolbay_conformance::{NONE, ask, fixture};

fixture!("test_input_required_result_multi_round", NONE, |_input| {
    let name = ask(&[("step1", "Step 1: What is your name?")])?;
    let colour = ask(&[("step2", "Step 2: What is your favorite color?")])?;
    Ok(toolbay_sdk::Outcome::text(format!(
        "{name:?} likes {colour:?}"
    )))
});
