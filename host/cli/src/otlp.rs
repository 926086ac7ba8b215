//! Sends the spans of calls and their stages to a collector (OTLP over HTTP).
//!
//! Telemetry leaves the machine, so what goes out is listed here, field by field: names,
//! words of our own, rules, numbers and times. A collector that is slow, dead or wrong
//! costs at most [`PATIENCE`] when the program ends, and never a call.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::Context;
use opentelemetry::trace::{Status, TracerProvider};
use opentelemetry::{KeyValue, StringValue, Value};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, RetryPolicy, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanEvents, SpanExporter, SpanLinks};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// How long one delivery may take. A collector answers within milliseconds; whoever
/// waits for the program to end pays the rest.
const PATIENCE: Duration = Duration::from_secs(2);

/// The fields of spans that may go out.
const FIELDS: [&str; 9] = [
    "id", "tool", "class", "stage", "bytes", "decision", "rule", "busy_ns", "idle_ns",
];

/// The span of a stage says which one in this field.
const STAGE_NAME: &str = "name";

/// Call ids and names of tools come from the model, and may be anything.
const LONGEST_TEXT: usize = 200;

/// Spans on their way out.
pub struct Spans {
    provider: SdkTracerProvider,
}

impl Spans {
    /// Sends what is left, within [`PATIENCE`].
    pub fn finish(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(%error, "not all spans were sent");
        }
    }
}

/// A layer that sends spans to this endpoint.
pub fn layer<S>(endpoint: &str) -> anyhow::Result<(impl Layer<S> + use<S>, Spans)>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    anyhow::ensure!(
        endpoint.starts_with("http://"),
        "{endpoint:?} does not begin with http:// (there is no TLS here: a collector nearby passes spans on)"
    );
    let inner = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(Client::new())
        .with_protocol(Protocol::HttpBinary)
        .with_retry_policy(RetryPolicy::disabled())
        .with_timeout(PATIENCE)
        .with_endpoint(endpoint)
        .build()
        .context("the exporter cannot be made")?;
    let provider = SdkTracerProvider::builder()
        .with_resource(Resource::builder().with_service_name("toolbay").build())
        .with_batch_exporter(Sieve { inner })
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("toolbay"))
        .with_location(false)
        .with_threads(false)
        .with_target(false);
    Ok((layer, Spans { provider }))
}

/// Lets through what may go out.
#[derive(Debug)]
struct Sieve<E> {
    inner: E,
}

impl<E: SpanExporter> SpanExporter for Sieve<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.inner.export(batch.into_iter().map(sift).collect());
        let sent = sent.await;
        if let Err(error) = &sent {
            tracing::warn!(%error, "spans were not sent");
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

fn sift(mut span: SpanData) -> SpanData {
    if let Some(stage) = text(&span.attributes, STAGE_NAME) {
        span.name = Cow::Owned(format!("stage {stage}"));
    }
    span.status = match text(&span.attributes, "class") {
        Some(class) if class != "ok" => Status::error(class.to_owned()),
        Some(_) | None => Status::Unset,
    };
    span.attributes
        .retain(|field| FIELDS.contains(&field.key.as_str()));
    span.attributes.iter_mut().for_each(shorten);
    span.events = SpanEvents::default();
    span.links = SpanLinks::default();
    span
}

fn text<'a>(fields: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let field = fields.iter().find(|field| field.key.as_str() == key)?;
    match &field.value {
        Value::String(text) => Some(text.as_str()),
        // A stage's name and a result's class are texts; what is none is not ours.
        _ => None,
    }
}

fn shorten(field: &mut KeyValue) {
    if let Value::String(text) = &field.value {
        let short: String = text.as_str().chars().take(LONGEST_TEXT).collect();
        field.value = Value::String(StringValue::from(short));
    }
}

/// A plain HTTP client: no proxy and no redirect, so that spans go where they are sent.
#[derive(Debug)]
struct Client {
    agent: ureq::Agent,
}

impl Client {
    fn new() -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Self {
            agent: config.into(),
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Client {
    /// Blocks, as it may: the exporter has a thread of its own.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, body.to_vec());
        let (parts, mut body) = self.agent.run(request)?.into_parts();
        // Answers are a few bytes; ten megabytes is where the client itself stops.
        let body = body.read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

#[cfg(test)]
mod tests;
