//! The `toolbay` program.

use std::process::ExitCode;

use toolbay_cli::{args, commands};

fn main() -> ExitCode {
    // Before anything else: this may be a cage that is being built, or a component that is compiled.
    toolbay::become_helper_if_asked();
    commands::run(args::given())
}
