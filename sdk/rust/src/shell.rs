//! Commands of the operating system, in a cage.

pub use crate::bindings::imports::toolbay::host::shell::{
    Command, Exit, Finding, Moved, Ran, Report, edited, edits, ended_in, exit_meaning, inspect,
    run, run_in_background, run_or_move,
};
