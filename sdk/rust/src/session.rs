//! State that outlives a call.

pub use crate::bindings::imports::toolbay::host::session::{SeenFile, get, put, seen};
