//! Spans on their way to a collector: what arrives there, and that one that is slow, dead
//! or wrong costs no call.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const STAGES: [&str; 9] = [
    "lookup",
    "schema",
    "input",
    "pre-hooks",
    "permission",
    "call",
    "mapping",
    "persist",
    "post-hooks",
];

/// Calls a tool with this collector in the environment.
fn call(variable: &str, endpoint: &str) -> (Output, Duration) {
    static WARM: OnceLock<()> = OnceLock::new();
    // Compiling the tool is not what is measured.
    WARM.get_or_init(|| {
        run(&[]);
    });
    let started = Instant::now();
    let output = run(&[(variable, endpoint)]);
    (output, started.elapsed())
}

fn run(variables: &[(&str, &str)]) -> Output {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("secret-plan.txt"), "attack at dawn\n").unwrap();
    let places = Path::new(env!("CARGO_TARGET_TMPDIR")).join("otlp");
    Command::new(env!("CARGO_BIN_EXE_toolbay"))
        .args(["call", "Read", r#"{"file_path": "secret-plan.txt"}"#])
        .current_dir(project.path())
        .env_clear()
        .env("HOME", project.path())
        .env("XDG_CACHE_HOME", places.join("cache"))
        .env("XDG_STATE_HOME", places.join("state"))
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// The call did what it does without a collector.
#[track_caller]
fn assert_served(output: &Output) {
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(out.contains("attack at dawn"), "{output:?}");
}

/// A collector that takes one delivery: the request line and the body.
fn collector(answer: &'static str) -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let request = read_request(&stream);
        (&stream).write_all(answer.as_bytes()).unwrap();
        let _ = sender.send(request);
    });
    (endpoint, received)
}

fn read_request(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (first.trim().to_owned(), body)
}

/// A message of the wire format: the parts that are bytes, with their field numbers.
fn parts(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        match tag & 7 {
            0 => {
                varint(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (part, rest) = bytes.split_at(length);
                found.push((tag >> 3, part));
                bytes = rest;
            }
            5 => bytes = &bytes[4..],
            other => panic!("wire type {other}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The parts with one number, all along the way.
fn below<'a>(bytes: &'a [u8], way: &[u64]) -> Vec<&'a [u8]> {
    let Some((number, rest)) = way.split_first() else {
        return vec![bytes];
    };
    let parts = parts(bytes).into_iter();
    let wanted = parts.filter(|(found, _)| found == number);
    wanted.flat_map(|(_, part)| below(part, rest)).collect()
}

/// The first of them as text.
fn text(bytes: &[u8], way: &[u64]) -> String {
    let first = below(bytes, way).first().copied().unwrap_or_default();
    String::from_utf8_lossy(first).into_owned()
}

#[test]
fn a_collector_gets_the_call_and_its_nine_stages() {
    let (endpoint, received) = collector("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let (output, _) = call("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
    assert_served(&output);
    let (first, body) = received.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(first, "POST /v1/traces HTTP/1.1");

    // Numbers as in opentelemetry/proto/trace/v1/trace.proto.
    let resource = below(&body, &[1, 1, 1]);
    let service = resource
        .iter()
        .find(|field| text(field, &[1]) == "service.name");
    assert_eq!(text(service.unwrap(), &[2, 1]), "toolbay");
    let spans = below(&body, &[1, 2, 2]);
    let names: Vec<String> = spans.iter().map(|span| text(span, &[5])).collect();
    let mut wanted: Vec<String> = STAGES.map(|stage| format!("stage {stage}")).to_vec();
    wanted.push("call".into());
    assert_eq!(names, wanted, "in the order in which they end");

    let call = spans.last().unwrap();
    for stage in &spans[..9] {
        assert_eq!(
            below(stage, &[4]),
            below(call, &[2]),
            "its parent is the call"
        );
    }
    let fields = |span: &[u8]| -> Vec<(String, String)> {
        let fields = below(span, &[9]).into_iter();
        let fields = fields.map(|field| (text(field, &[1]), text(field, &[2, 1])));
        fields.filter(|(_, value)| !value.is_empty()).collect()
    };
    let decision = (
        "decision".to_owned(),
        "read-only inside the roots".to_owned(),
    );
    assert_eq!(fields(spans[4]), [decision]);
    let class = ("class".to_owned(), "ok".to_owned());
    assert!(fields(call).contains(&class), "{:?}", fields(call));

    let all = String::from_utf8_lossy(&body);
    for private in ["secret-plan", "attack"] {
        assert!(!all.contains(private), "{private} went out: {all}");
    }
    // No path at all. Looked for in the texts only: a lone `/` is also a byte of some numbers.
    for (name, value) in spans.iter().flat_map(|span| fields(span)) {
        assert!(!value.contains('/'), "{name}: {value} went out");
    }
    assert!(!names.join(" ").contains('/'), "{names:?}");
}

#[test]
fn a_collector_that_is_dead_slow_or_cross_costs_no_call() {
    // Connections are taken, and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_address = silent.local_addr().unwrap();
    // Nobody listens there any more.
    let refused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (cross, _received) = collector("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
    for endpoint in [
        format!("http://{silent_address}/v1/traces"),
        format!("http://{refused}/v1/traces"),
        format!("{cross}/v1/traces"),
    ] {
        let (output, took) = call("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &endpoint);
        assert_served(&output);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{endpoint}");
        // Two seconds of patience, and time for a busy machine.
        assert!(took < Duration::from_secs(10), "{endpoint}: {took:?}");
    }
}

#[test]
fn an_endpoint_that_cannot_be_used_is_told() {
    let endpoint = "https://collector.example";
    let (output, _) = call("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    assert_served(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("warning: no spans are sent: "), "{said}");
}
