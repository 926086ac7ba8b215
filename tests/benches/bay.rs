//! Benchmarks: what Toolbay costs beside the bare thing.
//!
//! Every figure is a ratio to a floor or a peer that was measured in the same run,
//! both sides taking turns, so that a slow or busy machine shifts both. Nothing is
//! asserted: a goal that is missed is printed as missed.
//!
//!     cargo build --release
//!     cargo bench -p toolbay-tests --bench bay                  all groups
//!     cargo bench -p toolbay-tests --bench bay -- call grep     only these
//!     cargo bench -p toolbay-tests --bench bay -- --quick       fewer rounds
// Benchmarks print, fail by panicking, and start the programs that they compare with.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

/// Taking turns, percentiles, and the table at the end.
#[path = "bay/measure.rs"]
mod measure;
#[path = "bay/table.rs"]
mod table;

/// What is measured with: an engine without a host, a session, programs, files.
#[path = "bay/bare.rs"]
mod bare;
#[path = "bay/program.rs"]
mod program;
#[path = "bay/session.rs"]
mod session;
#[path = "bay/tree.rs"]
mod tree;

/// The groups.
#[path = "bay/call.rs"]
mod call;
#[path = "bay/grep.rs"]
mod grep;
#[path = "bay/mcp.rs"]
mod mcp;
#[path = "bay/read.rs"]
mod read;
#[path = "bay/registry.rs"]
mod registry;
#[path = "bay/start.rs"]
mod start;
#[path = "bay/turn.rs"]
mod turn;

use measure::Effort;
use table::Table;

type Group = fn(Effort, &mut Table);

const GROUPS: [(&str, Group); 7] = [
    ("call", call::run),
    ("grep", grep::run),
    ("mcp", mcp::run),
    ("read", read::run),
    ("start", start::run),
    ("registry", registry::run),
    ("turn", turn::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, folder] = arguments.as_slice()
        && mode == registry::CHILD
    {
        return registry::child(folder);
    }
    // Backtraces cost whichever side makes errors on its way.
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(&arguments).env_remove("RUST_BACKTRACE");
        let status = again.status().unwrap();
        std::process::exit(status.code().unwrap_or(1));
    }
    let (flags, names): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|argument| argument.starts_with("--"));
    let effort = if flags.contains(&"--quick") {
        Effort::Quick
    } else {
        Effort::Full
    };
    if let Some(name) = names
        .iter()
        .find(|name| GROUPS.iter().all(|(group, _)| group != *name))
    {
        let all: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
        eprintln!("there is no group {name}; there are: {}", all.join(", "));
        std::process::exit(2);
    }
    let mut table = Table::default();
    for (name, group) in GROUPS {
        if names.is_empty() || names.contains(&name) {
            println!("\n== {name}");
            group(effort, &mut table);
        }
    }
    println!("\n{table}");
}
