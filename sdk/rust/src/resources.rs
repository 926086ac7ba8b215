//! What MCP servers of the session offer to be read.

pub use crate::bindings::imports::toolbay::host::resources::{Body, Entry, Part, entries, read};
