//! Ten thousand calls, good and bad, on one runtime: afterwards it holds what it
//! held before. They run in a process of their own, so that what other tests hold
//! is not counted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbay_contract::KillReason;
use toolbay_runtime::Limits;
use toolbay_tests::guests;

use super::{Disk, act, alone, assert_still_serves, own_bay, stock};

const CALLS: usize = 10_000;

/// From here on nothing may grow: pools are filled, caches are warm.
const SETTLED: usize = 2_000;

/// What may grow by chance. A leak of a page a call would be 31 MiB.
const MOST_GROWTH: u64 = 24 << 20;

/// Set in the process that makes the calls.
const CHILD: &str = "TOOLBAY_TEST_SOAK";

/// One call in so many runs until it is ended.
const ENDLESS: usize = 200;

fn nth(number: usize, root: &std::path::Path) -> (&'static str, Value, &'static str) {
    if number.is_multiple_of(ENDLESS) {
        return ("loop", json!({}), "cancelled");
    }
    match number % 10 {
        0 => ("echo", json!({"text": format!("call {number}")}), "call"),
        1 => ("panic", json!({}), "it panicked or aborted"),
        2 => ("hog", json!({"mib": 64}), "got_mib"),
        3 => (
            "recursion",
            json!({"lean": number % 20 == 3}),
            "endless recursion?",
        ),
        4 => ("write-every-way", json!({"dir": root}), r#""succeeded":[]"#),
        5 => ("exit", json!({"code": 1}), "exit("),
        6 => ("output-flood", json!({"mib": 2}), "are accepted"),
        7 => ("trap", json!({}), "it panicked or aborted"),
        8 => ("progress-flood", json!({"count": 20}), "sent 20"),
        _ => ("ok", json!({}), "ok"),
    }
}

#[test]
fn ten_thousand_calls_leave_nothing_behind() {
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(soak());
    }
    let output = alone(module_path!(), "ten_thousand_calls_leave_nothing_behind")
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout
        .lines()
        .filter_map(|line| line.find("soak: ").map(|at| &line[at..]))
        .for_each(|figures| println!("{figures}"));
}

async fn soak() {
    let limits = Limits {
        memory_bytes: 8 << 20,
        output_bytes: 1 << 20,
        progress_events: 10,
        ..Limits::default()
    };
    let bay = own_bay().limits(limits).guest(guests::ROGUE).await;
    stock(&bay.root());
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    let disk = Disk::of(&[&root]);
    let started = Instant::now();
    let mut settled = None;
    for number in 1..=CALLS {
        let (name, more, part) = nth(number, &root);
        let text = if name == "loop" {
            let kill = running.kill.below();
            let call = running.call_with("Rogue", json!({"act": "loop"}), kill.clone());
            let after = async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                kill.throw(KillReason::Cancelled);
            };
            tokio::join!(call, after).0.text()
        } else {
            act(&running, name, more).await.text()
        };
        assert!(text.contains(part), "call {number} {name}: {text}");
        running.events.take();
        running.progress.lock().unwrap().clear();
        if number == SETTLED {
            settled = Some(Held::now());
        }
    }
    let (settled, last) = (settled.unwrap(), Held::now());
    println!("soak: {CALLS} calls in {:?}", started.elapsed());
    println!("soak: after {SETTLED}: {settled:?}; after {CALLS}: {last:?}");
    disk.assert_unchanged();
    assert_still_serves(&running).await;
    assert!(
        last.resident < settled.resident + MOST_GROWTH,
        "{settled:?} {last:?}"
    );
    // Threads that may block come and go with the calls.
    assert!(last.threads <= settled.threads + 4, "{settled:?} {last:?}");
    assert!(last.files <= settled.files + 2, "{settled:?} {last:?}");
}

/// What the process holds.
#[derive(Debug)]
struct Held {
    threads: u64,
    files: usize,
    resident: u64,
}

impl Held {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let number = |key: &str| -> u64 {
            status
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap()
        };
        Self {
            threads: number("Threads:"),
            files: std::fs::read_dir("/proc/self/fd").unwrap().count(),
            resident: number("VmRSS:") << 10,
        }
    }
}
