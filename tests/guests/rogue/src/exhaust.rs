//! Using up what a host has to bound: time, memory, stack, room.

// Flooding standard output is one of the misdeeds.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::hint::black_box;
use std::time::Duration;

use serde_json::json;
use toolbay_sdk::context::{self, Level};
use toolbay_sdk::search::{self, Pattern, Scope, Want, Window};
use toolbay_sdk::{Outcome, Result, ToolError};
use wasip2::clocks::monotonic_clock::subscribe_duration;

use crate::done;

pub fn run_forever() -> Result {
    let mut rounds = 0_u64;
    loop {
        rounds = black_box(rounds.wrapping_add(1));
    }
}

pub fn sleep(ms: u64) -> Result {
    std::thread::sleep(Duration::from_millis(ms));
    done("awake")
}

/// Waits inside the host, where no fuel and no epoch of the guest's code counts:
/// in a poll that is never ready, or, with a root, in a native search.
pub fn stuck_host_call(root: Option<&str>, regex: Option<&str>) -> Result {
    let Some(root) = root else {
        subscribe_duration(u64::MAX).block();
        return done("the poll came back");
    };
    let scope = Scope {
        root: root.into(),
        globs: Vec::new(),
        types: Vec::new(),
        hidden: true,
        ignored: true,
    };
    // The engine is linear for one match but starts anew after each: over a file of
    // capital letters without an end this one costs the square of its length.
    let pattern = Pattern {
        regex: regex.unwrap_or("(?s).*[^A-Z]|[A-Z]").into(),
        ignore_case: false,
        multiline: true,
    };
    let window = Window {
        skip: 0,
        limit: 0,
        max_bytes: u32::MAX,
    };
    let page = search::matches(&scope, &pattern, Want::Counts, window)?;
    done(format!("the search came back with {}", page.hits.len()))
}

/// Takes memory by the MiB and touches it, until it has what it wants or is refused.
pub fn hog(mib: usize) -> Result {
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut error = None;
    while held.len() < mib {
        let mut chunk = Vec::new();
        if let Err(refusal) = chunk.try_reserve_exact(1 << 20) {
            error = Some(refusal.to_string());
            break;
        }
        // Not zeroes: those may come from memory that was never touched.
        chunk.resize(1 << 20, 0xa5);
        held.push(black_box(chunk));
    }
    let got = held.len();
    // Room for the answer.
    drop(held);
    let report = json!({"wanted_mib": mib, "got_mib": got, "error": error});
    Ok(Outcome::text(report.to_string()).with_structured(&report))
}

/// Opens a file again and again and closes it never.
pub fn open_many(path: &str, count: usize) -> Result {
    let mut held = Vec::new();
    let mut error = None;
    while held.len() < count {
        match std::fs::File::open(path) {
            Ok(file) => held.push(file),
            Err(refusal) => {
                error = Some(refusal.to_string());
                break;
            }
        }
    }
    let got = held.len();
    drop(held);
    let report = json!({"wanted": count, "got": got, "error": error});
    Ok(Outcome::text(report.to_string()).with_structured(&report))
}

// Unbounded on purpose; the work after the call keeps it from becoming a loop.
#[allow(unconditional_recursion)]
pub fn recursion(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    let below = recursion(black_box(depth + 1));
    black_box(frame).iter().sum::<u64>().wrapping_add(below)
}

/// Needs nothing but frames of the machine itself: what is overflown is not the
/// stack inside the memory.
#[inline(never)]
pub fn lean_recursion(depth: u64) -> u64 {
    if depth == u64::MAX {
        return depth;
    }
    lean_recursion(depth + 1).wrapping_mul(3) ^ depth
}

pub fn progress_flood(count: u64) -> Result {
    for round in 0..count {
        context::progress(format!("progress {round}"));
    }
    done(format!("sent {count}"))
}

pub fn log_flood(count: u64) -> Result {
    for round in 0..count {
        context::log(Level::Info, &format!("log {round}"));
        println!("out {round}");
        eprintln!("error {round}");
    }
    done(format!("sent {count}"))
}

/// The good citizen of this crate: ends when asked to.
pub fn cancel_aware() -> Result {
    while !context::is_cancelled() {
        std::thread::sleep(Duration::from_millis(2));
    }
    // Tells this end from one that the host made.
    context::progress("noticed");
    Err(ToolError::Cancelled)
}
