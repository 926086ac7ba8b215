//! The composition root: settings become a session, a session runs commands.
//!
//! Only this crate reads the environment, prints, and knows every other crate.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
// Printing is this crate's job.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod args;
pub mod audit;
pub mod builtin;
pub mod caged;
pub mod classifier;
pub mod commands;
pub mod compiler;
pub mod compose;
pub mod interrupt;
pub mod log;
#[cfg(feature = "otlp")]
mod otlp;
mod own_file;
pub mod places;
pub mod prompt;
pub mod servers;
pub mod session_file;
pub mod settings;
pub mod settings_file;
pub mod spinner;
pub mod style;
pub mod tour;
pub mod trust;
pub mod view;
