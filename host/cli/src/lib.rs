//! The program around the library: it parses, prints and asks.
//!
//! Only this crate reads the environment and prints.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
// Printing is this crate's job.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod args;
pub mod commands;
mod departures;
pub mod interrupt;
pub mod log;
pub mod options;
#[cfg(feature = "otlp")]
mod otlp;
pub mod places;
pub mod prompt;
pub mod spinner;
pub mod style;
pub mod tour;
pub mod view;
