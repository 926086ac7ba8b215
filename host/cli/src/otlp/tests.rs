use super::*;
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind};
use std::time::SystemTime;

fn span(fields: &[(&'static str, &str)]) -> SpanData {
    let mut events = SpanEvents::default();
    events.events.push(Event::with_name("a secret event"));
    SpanData {
        span_context: SpanContext::empty_context(),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: "stage".into(),
        start_time: SystemTime::UNIX_EPOCH,
        end_time: SystemTime::UNIX_EPOCH,
        attributes: fields
            .iter()
            .map(|(key, value)| KeyValue::new(*key, (*value).to_owned()))
            .collect(),
        dropped_attributes_count: 0,
        events,
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::default(),
    }
}

#[test]
fn only_listed_fields_go_out_and_long_ones_are_shortened() {
    let long = "x".repeat(10_000);
    let sifted = sift(span(&[
        ("name", "permission"),
        ("decision", "denied"),
        ("input", "secret"),
        ("id", &long),
    ]));
    assert_eq!(sifted.name, "stage permission");
    assert_eq!(
        sifted.attributes,
        [
            KeyValue::new("decision", "denied"),
            KeyValue::new("id", "x".repeat(200)),
        ]
    );
    assert!(sifted.events.events.is_empty());
}

#[test]
fn a_failed_call_is_marked_by_its_class() {
    for (class, status) in [("ok", Status::Unset), ("denied", Status::error("denied"))] {
        assert_eq!(sift(span(&[("class", class)])).status, status);
    }
}

#[test]
fn an_endpoint_that_needs_more_than_http_is_refused_at_once() {
    for endpoint in ["https://collector.example/v1/traces", "localhost:4318", ""] {
        let made = layer::<tracing_subscriber::Registry>(endpoint);
        let error = made
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("http://"), "{endpoint:?}: {error}");
    }
}
