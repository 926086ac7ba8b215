//! Questions to the person at the other end.

pub use crate::bindings::imports::toolbay::host::ask_user::{Question, ask};
