//! Cages from the outside: real commands in real cages, as root and as an ordinary user.
//!
//! What this machine cannot run is said aloud, and fails where CI is set.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    // The lock only keeps tests apart; each has a runtime of its own.
    clippy::await_holding_lock
)]

// The library as a host uses it.
mod api;
// Nothing is left of a command, whatever happened to it or to its host.
mod endings;
// The cases in `tests/cases`, a line each, in every cage that this machine can build.
mod escapes;
// Ordinary work still works.
mod everyday;
// What protected links lead to is closed.
mod links;
// All memory of a command counts.
mod memory;
// Changes by other processes open nothing: while commands run, at each open, and by moving.
mod meanwhile;
mod mounted;
mod moved;
mod opened;
// One command can be held to a part of the session's paths.
mod narrowed;
mod zones;
// What was judged starts nothing else.
mod programs;
mod rustup;
// git reads nothing back that it would not have written.
mod readback;
// No folder becomes a repository, and none that is one stops being it.
mod lookalikes;
// No command writes what the user's git runs.
mod repositories;
// Paths and hosts mean what they say.
mod settings;
// Servers can be talked to.
mod talking;
// The terminal is the user's.
mod terminal;
// A worker only computes.
mod worker;
// What the others need.
mod shared;
mod world;
