//! The `toolbay` program.

use std::process::ExitCode;

use toolbay_cli::{args, commands};

fn main() -> ExitCode {
    // Before anything else: this may be a cage that is being built.
    #[cfg(target_os = "linux")]
    toolbay_sandbox::helper::main_if_asked();
    // Or a component that is compiled.
    #[cfg(target_os = "linux")]
    toolbay_cli::compiler::main_if_asked();
    commands::run(args::given())
}
