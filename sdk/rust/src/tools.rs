//! The tools of this session, for a tool that looks for one.

pub use crate::bindings::imports::toolbay::host::tools::{Entry, entries};
