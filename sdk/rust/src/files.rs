//! What `std::fs` lacks for careful editing: naming a content, and replacing a
//! file in one step that keeps its mode.

/// The largest content that [`replace`] takes: a host ends a guest that hands over
/// more at once, unless it was set up otherwise.
pub const MOST_BYTES: usize = 16 << 20;

pub use crate::bindings::imports::toolbay::host::files::{
    Expectation, Overview, ReplaceError, digest, replace, survey,
};
