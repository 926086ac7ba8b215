//! Ending badly, and answers that are not what the contract says.

use toolbay_sdk::{Outcome, Result};

// To panic is the act.
#[allow(clippy::panic)]
pub fn panic() -> Result {
    panic!("the rogue panics: 100% \u{1b}[31mred\u{1b}[0m");
}

/// The bare instruction, with no word to standard error before it.
pub fn trap() -> Result {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}

/// A text that is no text: guests of other languages can send it by mistake.
// Rust's own types forbid such a string, so it takes `unsafe` to make one; it is
// only ever moved to the host.
#[allow(unsafe_code)]
pub fn bad_utf8() -> Result {
    let text = unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe, b'b']) };
    Ok(Outcome::text(text))
}

/// `structured` that is not JSON.
pub fn bad_json() -> Result {
    Ok(Outcome {
        structured: Some("{\"half\":".into()),
        ..Outcome::text("the structured part is broken")
    })
}

/// JSON that is nested deeper than a careless parser's stack.
pub fn deep_json(depth: usize) -> Result {
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    Ok(Outcome {
        structured: Some(nested),
        ..Outcome::text(format!("nested {depth} deep"))
    })
}
