//! Turns through the executor: calls that hide behind the model's own time, many calls
//! in a row, and what a long session keeps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolbay_contract::{KillSwitch, Tool, ToolUse};
use toolbay_dispatch::{Dispatch, Event, Events, Executor, TurnSetting};
use toolbay_runtime::Plugin;

use crate::measure::{Effort, Times};
use crate::session::{Bench, permit};
use crate::table::{Goal, Table, judged};

/// Calls in a row that are measured together.
const MANY: usize = 1_000;
/// A model that speaks for two seconds, and calls as it goes.
const STREAM: Duration = Duration::from_secs(2);
const STREAMED: u32 = 10;
const SLEEP: Duration = Duration::from_secs(1);

pub fn run(effort: Effort, table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(folder.path());
    overlap(effort, &bench, table);
    many(effort, &bench, table);
    memory(effort, &bench, table);
}

/// Calls that start while the model still speaks.
fn overlap(effort: Effort, bench: &Bench, table: &mut Table) {
    let rounds = match effort {
        Effort::Quick => 1,
        Effort::Full => 3,
    };
    let times = (0..rounds).map(|_| {
        let dispatch = Arc::new(bench.session());
        bench.waiting.block_on(async {
            let started = Instant::now();
            let (executor, events) =
                Executor::start(dispatch, TurnSetting::default(), KillSwitch::new());
            for number in 1..=STREAMED {
                tokio::time::sleep_until((started + STREAM * number / STREAMED).into()).await;
                let input = json!({"act": "sleep", "ms": SLEEP.as_millis() as u64, "n": number});
                executor.add(block(number as usize, "Rogue", input));
            }
            executor.close();
            assert_eq!(results(events).await, STREAMED as usize);
            started.elapsed()
        })
    });
    let ours = Times::new(times.collect());
    ours.print("ten calls of a second, streamed over two");
    let floor = Times::new(vec![STREAM + SLEEP]);
    let peer = ("the stream and one call", &floor);
    table.compare(
        "Ten 1 s calls while a model speaks for 2 s",
        &ours,
        peer,
        Goal::AtMost(1.15),
    );
}

/// Many calls that do nothing, through the whole executor and by the runtime alone.
fn many(effort: Effort, bench: &Bench, table: &mut Table) {
    let tool = bench.tool("Trivial");
    let rounds = effort.rounds(20);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    let mut serial = 0;
    for round in 0..=rounds {
        let dispatch = Arc::new(bench.session());
        let took = bench.waiting.block_on(turn_of_many(dispatch, &mut serial));
        let alone = bench
            .waiting
            .block_on(runtime_alone(bench, &tool, &mut serial));
        // The first one warms up.
        if round > 0 {
            ours.push(took);
            floor.push(alone);
        }
    }
    let (ours, floor) = (Times::new(ours), Times::new(floor));
    ours.print("1,000 queued calls that do nothing");
    floor.print("the runtime's own time for them");
    let peer = ("inspect and act of each", &floor);
    table.compare(
        "1,000 queued calls that do nothing",
        &ours,
        peer,
        Goal::AtMost(2.0),
    );
}

async fn turn_of_many(dispatch: Arc<Dispatch>, serial: &mut usize) -> Duration {
    let started = Instant::now();
    let (executor, events) = Executor::start(dispatch, TurnSetting::default(), KillSwitch::new());
    for _ in 0..MANY {
        *serial += 1;
        executor.add(block(*serial, "Trivial", trivial(*serial)));
    }
    executor.close();
    assert_eq!(results(events).await, MANY);
    started.elapsed()
}

/// How many good results come until the turn is over.
async fn results(mut events: Events) -> usize {
    let mut results = 0;
    while let Some(event) = events.recv().await {
        if let Event::Result(result) = event {
            assert!(!result.is_error, "{}", result.text());
            results += 1;
        }
    }
    results
}

async fn runtime_alone(bench: &Bench, tool: &Plugin, serial: &mut usize) -> Duration {
    let environment = bench.environment();
    let policy = bench.policy();
    let started = Instant::now();
    for _ in 0..MANY {
        *serial += 1;
        let input: Arc<str> = trivial(*serial).to_string().into();
        let claims = tool.claims(&input).await.unwrap();
        let permit = permit(&policy, input, claims);
        tool.call(permit, environment.clone()).await.unwrap();
    }
    started.elapsed()
}

/// What a session holds after two and after ten thousand calls.
fn memory(effort: Effort, bench: &Bench, table: &mut Table) {
    let dispatch = Arc::new(bench.session());
    let mut serial = 10_000_000;
    let mut calls = |thousands: usize| {
        for _ in 0..thousands {
            bench
                .waiting
                .block_on(turn_of_many(dispatch.clone(), &mut serial));
        }
        resident()
    };
    let early = calls(2);
    let late = calls(match effort {
        Effort::Quick => 2,
        Effort::Full => 8,
    });
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    println!(
        "memory after 2,000 calls {}, at the end {}",
        megabytes(early),
        megabytes(late)
    );
    let grown = late as f64 / early as f64;
    table.add([
        "Memory of a session after 10,000 calls".into(),
        megabytes(late),
        format!("{} (after 2,000)", megabytes(early)),
        format!("{grown:.2}×"),
        judged("≤ 1.05×".into(), grown <= 1.05),
    ]);
}

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kilobytes << 10
}

fn trivial(serial: usize) -> serde_json::Value {
    json!({ "text": format!("call {serial}") })
}

fn block(id: usize, name: &str, input: serde_json::Value) -> ToolUse {
    ToolUse {
        id: format!("call_{id}"),
        name: name.into(),
        input,
    }
}
