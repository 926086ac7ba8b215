//! What `std::fs` lacks for careful editing: naming a content, and replacing a
//! file in one step that keeps its mode.

pub use crate::bindings::imports::toolbay::host::files::{
    Expectation, ReplaceError, digest, replace,
};
