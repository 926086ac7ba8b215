//! Texts that somebody wrote for a model to work by: the prompts of MCP servers.

pub use crate::bindings::imports::toolbay::host::skills::{
    Argument, Blob, Entry, Link, Message, Part, Speaker, entries, load,
};
