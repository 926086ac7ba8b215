//! The integration tests: one binary, because each further one is one more link
//! against wasmtime.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

// Search results are those of ripgrep.
mod search_differential;
// The README leads a plugin author to a working tool.
mod template;
