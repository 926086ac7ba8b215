//! Toolbay's tools for any agent that speaks MCP.
//!
//! A `tools/call` is a call like any other: nine stages, permissions, budgets, audit. What would
//! be asked at a terminal is asked through the client; one that cannot be asked gets no for an
//! answer, with the reason. Nothing but the protocol is ever written to its stream.
//!
//! Each client has a session of its own: what it has read, allowed and started is not another's.

// Roots and the log are on their way out of the protocol; clients of today still use both.
#![allow(deprecated)]

mod asking;
mod bounded;
mod call;
mod client;
mod handler;
mod house;
mod http;
mod kept;
mod logging;
mod news;
mod offered;
mod plain;
mod result;
mod roots;
mod rounds;
mod routes;
mod stdio;

pub use asking::Elicit;
pub use house::{Bays, Bench, Opening};
pub use http::{Access, HttpQuotas, HttpSetting, Tokens, serve_http};
pub use routes::Routes;
pub use stdio::serve_stdio;
