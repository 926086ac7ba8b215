//! What the program says about itself: a log for people, a trace for programs.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, filter};

use crate::places;

/// Starts logging as `TOOLBAY_LOG` says, and tracing into a file: a line of JSON for
/// every call and every stage of one, when it ends, with its times.
pub fn start(trace: Option<&Path>) -> anyhow::Result<()> {
    let log = places::log_filter().map(|wanted| {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_filter(EnvFilter::new(wanted))
    });
    let trace = match trace {
        None => None,
        Some(path) => {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path)
                .with_context(|| format!("--trace {}", path.display()))?;
            let calls = filter::filter_fn(|metadata| metadata.target() == "toolbay::call");
            let layer = tracing_subscriber::fmt::layer()
                .json()
                .with_span_events(FmtSpan::CLOSE)
                .with_writer(Mutex::new(file))
                .with_filter(calls);
            Some(layer)
        }
    };
    if log.is_none() && trace.is_none() {
        return Ok(());
    }
    // A second subscriber cannot happen; were it so, the first one serves.
    let _ = tracing_subscriber::registry()
        .with(log)
        .with(trace)
        .try_init();
    Ok(())
}
