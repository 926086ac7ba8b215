//! Builds plugins and test guests from build scripts.
//!
//! A build script that builds more of its own workspace must mind three things:
//! the inner cargo needs a target folder of its own, or it waits for the outer
//! one for ever; it must not inherit the outer one's flags, which are for another
//! target; and the target may not be installed yet.

// A build script talks to cargo through its output, and starts programs.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

mod cargo;
mod component;
mod rg;
mod target;

pub use component::{Component, components};
pub use rg::ripgrep;

/// Why a build step stopped, in words that say what to do.
pub type Error = String;

/// Runs a build script: an error becomes one that cargo shows, line by line.
pub fn run(script: impl FnOnce() -> Result<(), Error>) -> std::process::ExitCode {
    match script() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            for line in error.lines() {
                println!("cargo::error={line}");
            }
            std::process::ExitCode::FAILURE
        }
    }
}

/// A variable that cargo sets for build scripts.
pub fn variable(name: &str) -> Result<String, Error> {
    std::env::var(name).map_err(|_| format!("cargo did not set {name}"))
}
