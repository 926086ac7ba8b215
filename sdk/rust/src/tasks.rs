//! Background work: shells and agents alike.

pub use crate::bindings::imports::toolbay::host::tasks::{Snapshot, State, read, stop};
