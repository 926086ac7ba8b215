//! What the program says about itself: a log for people, a trace for programs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use tracing::Metadata;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, filter};

use crate::places;

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// What has to be ended with the program.
#[derive(Default)]
pub struct Logging {
    #[cfg(feature = "otlp")]
    spans: Option<crate::otlp::Spans>,
}

impl Logging {
    /// Hands over what is still on its way. Takes a bounded time, and never fails.
    pub fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(spans) = self.spans {
            spans.finish();
        }
    }
}

/// Starts logging as `TOOLBAY_LOG` says, and tracing into a file: a line of JSON for
/// every call and every stage of one, when it ends, with its times.
pub fn start(trace: Option<&Path>) -> anyhow::Result<Logging> {
    let mut layers: Vec<BoxedLayer> = Vec::new();
    if let Some(wanted) = places::log_filter() {
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_filter(EnvFilter::new(wanted));
        layers.push(layer.boxed());
    }
    if let Some(path) = trace {
        let layer = tracing_subscriber::fmt::layer()
            .json()
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(Mutex::new(open(path)?))
            .with_filter(filter::filter_fn(is_of_a_call));
        layers.push(layer.boxed());
    }
    let logging = export(&mut layers);
    if !layers.is_empty() {
        // A second subscriber cannot happen; were it so, the first one serves.
        let _ = tracing_subscriber::registry().with(layers).try_init();
    }
    Ok(logging)
}

fn open(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("--trace {}", path.display()))
}

fn is_of_a_call(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "toolbay::call"
}

/// Sends the same to a collector, if the environment names one. A mistake in there is
/// told and costs no call: the variables may be meant for other programs.
#[cfg(feature = "otlp")]
fn export(layers: &mut Vec<BoxedLayer>) -> Logging {
    let Some(endpoint) = places::otlp_endpoint() else {
        return Logging::default();
    };
    match crate::otlp::layer(&endpoint) {
        Ok((layer, spans)) => {
            let layer = layer.with_filter(filter::filter_fn(is_of_a_call));
            layers.push(layer.boxed());
            Logging { spans: Some(spans) }
        }
        Err(error) => {
            let warning = crate::style::Style::for_errors().warn("warning:");
            eprintln!("{warning} no spans are sent: {error:#}");
            Logging::default()
        }
    }
}

#[cfg(not(feature = "otlp"))]
fn export(_: &mut Vec<BoxedLayer>) -> Logging {
    Logging::default()
}
