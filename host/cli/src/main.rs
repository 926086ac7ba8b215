//! The `toolbay` program.

use std::process::ExitCode;

use clap::Parser;
use toolbay_cli::{args::Args, commands};

fn main() -> ExitCode {
    // The program is its own helper: as such it builds the walls of a cage and never returns.
    toolbay_sandbox::helper::main_if_asked();
    let args = Args::parse();
    commands::run(args)
}
