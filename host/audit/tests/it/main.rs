//! The log on a real disk: tampered with, killed, shared, and with no room left.
// Tests fail by panicking, start themselves as other programs, and say aloud what this
// machine does not let them try.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

/// Logs to work with.
mod support;

/// What somebody does to the files is found.
mod tamper;

/// A log that is put back or removed is found from outside of its folder.
mod anchor;

/// States that a crash can leave, each made by hand; then real crashes.
mod crash;
mod kill;

/// Several programs at once, and one that is stopped.
mod share;

/// A disk without room.
mod full;

/// Reading the log.
mod show;
