//! MCP: our tools for every client that speaks it ([`serve_stdio`],
//! [`serve_http`]); of the other direction
//! what a foreign tool is called here ([`ToolName`]) and how little its hints count ([`Hints`]).
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod client;
mod hints;
mod name;
mod server;

pub use hints::{Effects, Hints};
pub use name::ToolName;
pub use server::{
    Access, Bays, Bench, Elicit, HttpQuotas, HttpSetting, Opening, Routes, Tokens, serve_http,
    serve_stdio,
};
