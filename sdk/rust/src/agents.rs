//! Agents below this one.

pub use crate::bindings::imports::toolbay::host::agents::{Brief, spawn, wait};
