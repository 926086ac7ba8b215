//! Our own reading: it ends, it does not panic, and it makes nothing up.
#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &str| {
    if let Some(commands) = toolbay_shell::fuzzing::lexer(script) {
        assert!(!commands.is_empty());
        reading::check(script, &commands);
    }
});
