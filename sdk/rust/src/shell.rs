//! Commands of the operating system, in a cage.

pub use crate::bindings::imports::toolbay::host::shell::{
    Command, Exit, Finding, Report, inspect, run, run_in_background,
};
