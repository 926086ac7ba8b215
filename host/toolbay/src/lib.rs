//! The tool system of an AI coding agent, made so that no tool has to be trusted.
//!
//! Nothing here reads the environment, the current folder or the command line, prints, or keeps state of
//! the whole process: what the library needs to know is in [`ProcessContext`] and [`Places`], and several
//! instances with different settings live in one process.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
// A test that cannot be run here says so.
#![cfg_attr(test, allow(clippy::print_stdout, clippy::print_stderr))]

mod builder;
mod builtin;
pub mod caged;
pub mod classifier;
pub mod compiler;
pub mod compose;
pub mod events;
mod own_file;
pub mod places;
mod process;
pub mod servers;
pub mod session_file;
pub mod settings;
pub mod settings_file;
pub mod trust;

pub use builder::{OpenError, SessionBuilder, SessionTurn, ToolSession, Toolbay, ToolbayBuilder};
pub use builtin::{Builtin, DEMOS, PLUGINS};
pub use places::{NoPlace, Places};
pub use process::ProcessContext;

/// The parts, for whoever needs more of one of them than a session shows.
pub use {
    toolbay_agent as agent, toolbay_audit as audit, toolbay_contract as contract,
    toolbay_dispatch as dispatch, toolbay_mcp as mcp, toolbay_policy as policy,
    toolbay_runtime as runtime, toolbay_sandbox as sandbox, toolbay_shell as shell,
};

/// Becomes a cage that is being built, or the compiler of a component, if this program was started as one,
/// and then never returns. The first thing in the `main` of a program whose sessions use
/// [`Helper::ThisProgram`](sandbox::cage::Helper); without it no command runs and no component compiles.
///
/// It comes before any thread is started, so not inside `#[tokio::main]`, which starts some before its
/// body: a process with several threads cannot build a cage, and commands are refused then.
pub fn become_helper_if_asked() {
    #[cfg(target_os = "linux")]
    {
        toolbay_sandbox::helper::main_if_asked();
        compiler::main_if_asked();
    }
}
