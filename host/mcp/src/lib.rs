//! MCP: our tools for every client that speaks it ([`serve_stdio`]); of the other direction
//! what a foreign tool is called here ([`ToolName`]) and how little its hints count ([`Hints`]).

pub mod client;
mod hints;
mod name;
mod server;

pub use hints::{Effects, Hints};
pub use name::ToolName;
pub use server::{Elicit, Routes, serve_stdio};
