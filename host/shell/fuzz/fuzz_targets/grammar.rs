//! The grammar's reading: it ends, it does not panic, and it makes nothing up.
#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &str| {
    if let Some(commands) = toolbay_shell::fuzzing::grammar(script) {
        reading::check(script, &commands);
    }
});
