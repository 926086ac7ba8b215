//! Logins against servers of our own that misbehave on demand. `tests/oidc.rs` has one
//! that we did not write.
#![allow(clippy::unwrap_used, clippy::expect_used)]

/// A web server that answers as a test wants, and remembers what it was asked.
mod web;

/// An authorisation server and an MCP server on top of it, and somebody with a browser.
mod realm;

/// Logging in, and everything that can come between.
mod login;

/// Using, renewing and ending a login.
mod keys;

/// Several programs at once, and one that is killed.
mod processes;

/// A server of the bridge that wants to know who asks.
mod bridge;

/// A program on its own account.
mod machine;

/// Tokens by an identity provider.
mod enterprise;

/// No secret shows up anywhere.
mod secrets;
