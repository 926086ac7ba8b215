//! The `toolbay` program.

use std::process::ExitCode;

use clap::Parser;
use toolbay_cli::{args::Args, commands};

fn main() -> ExitCode {
    let args = Args::parse();
    commands::run(args)
}
