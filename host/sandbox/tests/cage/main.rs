//! Cages from the outside: real commands in real cages, as root and as an ordinary user.
//!
//! `escapes` runs the cases in `tests/cases`, a line each, in every cage that this machine
//! can build. `api` uses the library as a host does. `everyday` proves that ordinary work still
//! works, `endings` that nothing is left of a command, whatever happened to it or to its host,
//! `memory` that all of it counts, `meanwhile`, `mounted` and `opened` that changes by other processes open nothing, `narrowed` and `zones` that one
//! command can be held to a part of the session's paths, `programs` that what was judged starts nothing else, `repositories`
//! that no command writes what the user's git runs, `settings` that paths and hosts mean what they say, `talking` that servers
//! can be talked to, `worker` that a worker only computes. `world` and `shared` make what they need.
//! What this machine cannot run is said aloud and counted.
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

mod api;
mod endings;
mod escapes;
mod everyday;
mod meanwhile;
mod memory;
mod mounted;
mod narrowed;
mod opened;
mod programs;
mod repositories;
mod settings;
mod shared;
mod talking;
mod worker;
mod world;
mod zones;
