//! Background work: shells and agents alike.

pub use crate::bindings::imports::toolbay::host::tasks::{
    Entry, Snapshot, State, list, read, stop,
};
