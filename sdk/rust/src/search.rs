//! Native walking and matching of file trees.

pub use crate::bindings::imports::toolbay::host::search::{
    ContextLines, Entry, Hit, Line, Listing, Order, Page, Pattern, Scope, Want, Window, files,
    left_out, matches, type_names,
};
