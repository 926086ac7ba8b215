//! What does this bash text do? Pure: no I/O, no process. See `README.md`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod check;
mod cwd;
mod destructive;
mod display;
mod effects;
mod environment;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod history;
mod in_place;
mod inspect;
mod lexer;
mod links;
mod mention;
mod paths;
mod place;
mod prefix;
mod program;
mod quiet;
mod raw;
mod reading;
mod report;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod unroll;
mod wrapper;
mod zsh;

pub use check::{CATALOGUE, Check, Entry, Finding};
pub use display::exit_meaning;
pub use history::prints_history;
pub use in_place::{InPlace, in_place};
pub use inspect::inspect;
pub use links::{FileLinks, LinkResolver};
pub use mention::Mention;
pub use place::Place;
pub use quiet::QUIET;
pub use reading::Join;
pub use report::{Report, SimpleCommand, Verdict};
pub use table::Class;
