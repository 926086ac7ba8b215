//! The integration tests: one binary, because each further one is one more link
//! against wasmtime.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

// Inputs that are made to end the host.
mod bounds;
// Commands in cages.
mod bash;
mod bash_rules;
// The plugins' own cases.
mod cases;
// The program from outside.
mod cli;
// The file tools and the kernel.
mod file_tools;
// Components that misbehave, each in its own way.
mod guests;
// Nothing is left when the program is killed.
mod killed;
// Clients that speak MCP.
mod mcp;
// Commands without a cage.
mod outside;
// A call does what was permitted, and no more.
mod permits;
// Who may allow what.
mod policy;
// Runs the program, for the tests above.
mod program;
// Questions at a terminal.
mod prompt;
// Turns over the line protocol.
mod run;
// Search results are those of ripgrep.
mod search_differential;
// `sed -i` as an edit.
mod sed_edit;
// Commands that go on without their call.
mod tasks;
// Foreign MCP servers.
mod servers;
// The README leads a plugin author to a working tool.
mod template;
// Files that others brought along start nothing unasked.
mod walls;
