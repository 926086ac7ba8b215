//! What a record costs beside a plain append, and what it costs to verify one.
//!
//! Both sides take turns in the same run, so that a busy machine shifts both. Nothing is
//! asserted.
//!
//!     cargo bench -p toolbay-audit
// Benchmarks print and fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use toolbay_audit::{Actor, Key, Log, Options, redact, verify};
use toolbay_contract::{About, AuditEvent, Behavior, Called, Decided};

const ROUNDS: usize = 20;
const EACH: usize = 1_000;

fn decided() -> AuditEvent {
    AuditEvent::Decided(Decided {
        caller: None,
        tool: "Look".into(),
        call_id: "toolu_0123456789".into(),
        plugin: Some(format!("sha256:{}", "ab".repeat(32))),
        ruling: Behavior::Allow,
        by: "rule".into(),
        reason: "the allow rule `Look(./src/**)` covers it".into(),
        rule: Some("Look(./src/**)".into()),
        source: Some("user /home/me/.toolbay/settings.json:4".into()),
        subjects: vec![About {
            kind: "path".into(),
            text: "/home/me/project/src/main.rs".into(),
        }],
        input: "{\"file_path\":\"/home/me/project/src/main.rs\",\"limit\":200}".into(),
    })
}

fn called() -> AuditEvent {
    AuditEvent::Called(Called {
        tool: "Look".into(),
        call_id: "toolu_0123456789".into(),
        plugin: None,
        class: "done".into(),
        reason: None,
        limits: vec![("memory".into(), 1 << 28), ("deadline_ms".into(), 120_000)],
        bytes_in: 61,
        bytes_out: 4096,
        micros: 412,
    })
}

/// The median of what each took.
fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    all[all.len() / 2].as_secs_f64() * 1e6
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, key| {
        let mut options = Options::new(folder.path().join(name), "s-1", Actor::default());
        options.key = key;
        Log::open(options).unwrap()
    };
    let keyed = open("keyed", Some(Key::from_bytes([7; 32])));
    let plain = open("plain", None);
    let mut bare = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.path().join("bare"))
        .unwrap();
    // As long as the records are.
    let line = [b'x'; 700];
    let (decided, called) = (decided(), called());

    let mut took: [Vec<Duration>; 4] = Default::default();
    for _ in 0..ROUNDS {
        for _ in 0..EACH {
            let start = Instant::now();
            bare.write_all(&line).unwrap();
            took[0].push(start.elapsed());
            for (slot, log, event) in [
                (1, &plain, &decided),
                (2, &keyed, &decided),
                (3, &keyed, &called),
            ] {
                let start = Instant::now();
                log.record(event).unwrap();
                took[slot].push(start.elapsed());
            }
        }
    }
    let [bare, plain_cost, keyed_cost, call_cost] = took.map(median);
    println!("append of 700 bytes           {bare:8.2} µs");
    for (name, cost) in [
        ("decision, without a key", plain_cost),
        ("decision, with a key", keyed_cost),
        ("call, with a key", call_cost),
    ] {
        println!(
            "{name:<28}  {cost:8.2} µs  {:.1} times an append",
            cost / bare
        );
    }

    let start = Instant::now();
    let report = verify(
        &folder.path().join("keyed"),
        Some(&Key::from_bytes([7; 32])),
    )
    .unwrap();
    let each = start.elapsed().as_secs_f64() * 1e6 / report.records as f64;
    println!(
        "verify, with a key            {each:8.2} µs a record ({} records)",
        report.records
    );

    let long = "{\"content\":\"fn main() { let key = read(path)?; }\\n\" : 12} ".repeat(150);
    let start = Instant::now();
    for _ in 0..1_000 {
        black_box(redact(black_box(&long)));
    }
    let each = start.elapsed().as_secs_f64() * 1e6 / 1e3;
    println!("redacting {} bytes          {each:8.2} µs", long.len());
}
