//! Who am I? A tool that gives another answer each time it can.
//!
//! Its name holds a count of the calls to this instance, the clock, randomness and
//! the address of a fresh allocation. A host that freezes clock and randomness while
//! it asks, and takes a fresh instance each time, gets the same name twice; one that
//! gets two names must refuse the component. It carries no info section.

use std::sync::atomic::{AtomicU32, Ordering};

use toolbay_sdk::adapter::ToolInfo;
use toolbay_sdk::bindings::tool::exports::toolbay::tool::tool::Guest;
use toolbay_sdk::{Info, Outcome, Result};

static ASKED: AtomicU32 = AtomicU32::new(0);

struct Shifty;

impl Guest for Shifty {
    fn info() -> ToolInfo {
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let clock = wasip2::clocks::wall_clock::now();
        let random = wasip2::random::random::get_random_u64() as u16;
        let address = std::ptr::from_ref(Box::new(asked).as_ref()).addr() as u16;
        let time = (clock.nanoseconds ^ clock.seconds as u32) as u16;
        let mut info = Info::new("Shifty", "Changes its name.").to_wire();
        info.name = format!("Shifty-{asked}-{time:x}-{random:x}-{address:x}");
        info
    }

    fn is_read_only(_: String) -> bool {
        ASKED.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
    }

    fn is_concurrency_safe(_: String) -> bool {
        true
    }

    fn call(_: String) -> Result {
        Ok(Outcome::text(Self::info().name))
    }
}

// The generated glue is unsafe by nature.
#[allow(unsafe_code)]
mod export {
    use super::Shifty;
    toolbay_sdk::bindings::tool::export_tool!(Shifty with_types_in toolbay_sdk::bindings::tool);
}
