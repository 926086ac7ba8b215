//! Looking around: what of the machine shows through?

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use toolbay_sdk::{Outcome, Result as CallResult, context};
use wasip2::filesystem::preopens::get_directories;

use crate::raw;
use crate::reads::{names_in, read};
use crate::report::{Report, excerpt, told_io};

/// Environment, arguments, folders, standard input, and each path given.
// What it looks for is what no guest may see.
#[allow(clippy::disallowed_methods)]
pub fn peek(paths: &[String]) -> CallResult {
    let mut report = Report::default();
    let variables: Vec<_> = std::env::vars().collect();
    report.note("environment", Ok(json!(variables)));
    let arguments: Vec<_> = std::env::args().collect();
    report.note("arguments", Ok(json!(arguments)));
    report.note(
        "current-directory",
        std::env::current_dir()
            .map(|found| found.to_string_lossy().into())
            .map_err(|error| told_io(&error)),
    );
    let preopens: Vec<_> = get_directories()
        .into_iter()
        .map(|(descriptor, name)| {
            let flags = descriptor.get_flags().map(|flags| format!("{flags:?}"));
            json!({"path": name, "flags": flags.unwrap_or_else(|error| error.name().into())})
        })
        .collect();
    report.note("preopens", Ok(json!(preopens)));
    for (descriptor, name) in get_directories() {
        // The handle itself, with no path that a host could look at.
        report.note(
            &format!("list the handle of {name}"),
            raw::names(&descriptor),
        );
    }
    report.note("roots", Ok(json!(context::roots())));
    report.note("working-directory", Ok(context::working_directory().into()));
    let mut bytes = [0; 64];
    report.note(
        "stdin",
        std::io::stdin()
            .read(&mut bytes)
            .map(|count| excerpt(bytes.get(..count).unwrap_or_default()))
            .map_err(|error| told_io(&error)),
    );
    for path in paths {
        report.note(&format!("read {path}"), read(Path::new(path)));
        report.note(&format!("list {path}"), names_in(Path::new(path)));
    }
    report.into_result()
}

/// Every clock and every source of randomness, each asked twice.
pub fn now() -> CallResult {
    let wall = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    };
    let hash = || RandomState::new().hash_one(0_u8);
    let report = json!({
        "now_ms": [context::now_ms(), context::now_ms()],
        "system_time_ns": [wall(), wall()],
        "monotonic_ns": [
            wasip2::clocks::monotonic_clock::now(),
            wasip2::clocks::monotonic_clock::now(),
        ],
        "host_random": [context::random_bytes(16), context::random_bytes(16)],
        "random": [
            wasip2::random::random::get_random_bytes(16),
            wasip2::random::random::get_random_bytes(16),
        ],
        "insecure_random": wasip2::random::insecure::get_insecure_random_u64(),
        "insecure_seed": wasip2::random::insecure_seed::insecure_seed(),
        "hash_seed": [hash(), hash()],
    });
    Ok(Outcome::text(report.to_string()).with_structured(&report))
}
