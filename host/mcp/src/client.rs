//! Foreign tools: the servers that speak MCP, as tools of this host.
//!
//! [`config`] says what files may say about servers. [`Servers`] connects them when somebody
//! needs them, each in its own time: `link` is one connection, `wire` the ways to make one,
//! `remote` a server with its state. A `tool` of a server goes through the same stages, budgets
//! and log as any other. Whatever a server says is a stranger's word: `bounds` gives it an end,
//! `schema`, `text` and `definition` take out what must not be in it.

mod asked;
mod asking;
pub mod auth;
mod bounds;
pub mod config;
mod definition;
mod departures;
mod handler;
mod keyring;
mod launch;
mod link;
mod memory;
pub(crate) mod news;
pub(crate) mod prompts;
mod remote;
mod resources;
mod result;
mod sampling;
mod schema;
mod servers;
mod state;
mod template;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod tool;
pub(crate) mod watching;
mod wire;

pub use asking::{AskPerson, Asker, Elicitation, Elicited};
pub use departures::Departures;
pub use keyring::Keyring;
pub use launch::{Instance, Launched, Launcher, NoLauncher};
pub use memory::{Described, InMemory, Memory, ToolKey};
pub use sampling::{Sampler, Sampling};
pub use servers::{Servers, Surroundings};
pub use state::{Offers, State, Status};
