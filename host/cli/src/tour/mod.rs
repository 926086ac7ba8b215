//! What the tour shows: a script of calls, and the project it runs on.
//!
//! This is the one place of the host that names tools: it plays the part of the
//! model.

pub mod project;
mod script;

pub use script::{SCRIPT, Step};
