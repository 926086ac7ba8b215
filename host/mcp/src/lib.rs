//! MCP in both directions: names and hints.
//!
//! So far the pure part: what a foreign tool is called here ([`ToolName`]), and how
//! little its own hints count ([`Hints`]).

mod hints;
mod name;

pub use hints::{Effects, Hints};
pub use name::ToolName;
