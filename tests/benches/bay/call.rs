//! A call of the smallest tool: what the host adds to the bare engine.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolbay_contract::Tool;
use toolbay_dispatch::Dispatch;
use toolbay_policy::{Claims, Policy};
use toolbay_runtime::Plugin;
use toolbay_tests::guests;

use crate::bare::Bare;
use crate::measure::{Effort, Side, take_turns, time};
use crate::session::{Bench, call, permit};
use crate::table::{Goal, Table, judged};

/// How long nothing happens before a sparse call: the time a model takes for a few
/// words, after which caches are cold and threads asleep.
const IDLE: Duration = Duration::from_millis(20);

/// One measurement of throughput.
const SPAN: Duration = Duration::from_millis(500);

struct Sides {
    bench: Bench,
    bare: Arc<Bare>,
    tool: Arc<Plugin>,
    policy: Policy,
    dispatch: Arc<Dispatch>,
    serial: AtomicU64,
}

pub fn run(effort: Effort, table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    let sides = Sides::new(folder.path());
    hot(&sides, effort, table);
    sparse(&sides, effort, table);
    throughput(&sides, effort, table);
}

/// One after the other without a pause. Each is compared with the bare engine alone:
/// were there more of ours in a round, the floor would find the caches cold.
fn hot(sides: &Sides, effort: Effort, table: &mut Table) {
    let rounds = effort.rounds(5_000);
    let mut beside_bare = |what: &str, side: Side<'_>, goal: Goal| {
        let [bare, ours] = take_turns(rounds, [sides.bare(), side]);
        bare.print("bare engine");
        ours.print(what);
        table.compare(what, &ours, ("bare engine", &bare), goal);
    };
    beside_bare("Call, act phase alone", sides.act(), Goal::AtMost(1.25));
    let missed = sides.inspect_and_act(Inputs::Distinct);
    beside_bare("Call, inspect and act", missed, Goal::AtMost(2.5));
    let remembered = sides.inspect_and_act(Inputs::Same);
    beside_bare(
        "Call, inspect and act, input seen before",
        remembered,
        Goal::None,
    );
    beside_bare("Call, the whole dispatch", sides.whole(), Goal::None);

    let spawn = || time(|| Command::new("/bin/true").status().unwrap());
    let [whole, spawn] = take_turns(effort.rounds(500), [sides.whole(), Box::new(spawn)]);
    spawn.print("starting /bin/true");
    table.compare(
        "Call, the whole dispatch",
        &whole,
        ("starting `/bin/true`", &spawn),
        Goal::None,
    );
}

/// Each call after a pause, when whatever could fall asleep has done so.
fn sparse(sides: &Sides, effort: Effort, table: &mut Table) {
    let mut beside_bare = |what: &str, side: Side<'_>, goal: Goal| {
        let sides = [after_pause(sides.bare()), after_pause(side)];
        let [bare, ours] = take_turns(effort.rounds(200), sides);
        bare.print("bare engine, sparse");
        ours.print(what);
        table.compare(what, &ours, ("bare engine", &bare), goal);
    };
    beside_bare(
        "Sparse call, act phase alone",
        sides.act(),
        Goal::AtMost(1.25),
    );
    let missed = sides.inspect_and_act(Inputs::Distinct);
    beside_bare("Sparse call, inspect and act", missed, Goal::AtMost(2.5));
}

fn after_pause(mut side: Side<'_>) -> Side<'_> {
    Box::new(move || {
        std::thread::sleep(IDLE);
        side()
    })
}

fn throughput(sides: &Sides, effort: Effort, table: &mut Table) {
    let mut ours = [Vec::new(), Vec::new()];
    let mut floor = [Vec::new(), Vec::new()];
    for _ in 0..effort.rounds(10) {
        for tasks in [1, 2] {
            let dispatch = sides.dispatch.clone();
            ours[tasks - 1].push(sides.calls_in_a_second(tasks, move |input| {
                let dispatch = dispatch.clone();
                async move {
                    call(&dispatch, "Trivial", json!({ "text": input })).await;
                }
            }));
            let bare = sides.bare.clone();
            floor[tasks - 1].push(sides.calls_in_a_second(tasks, move |input| {
                let bare = bare.clone();
                async move { bare.call(&text(&input)).await }
            }));
        }
    }
    let [one, two] = ours.map(median);
    let [bare_one, bare_two] = floor.map(median);
    println!("calls a second: ours {one:.0} and {two:.0}, bare {bare_one:.0} and {bare_two:.0}");
    let (scaling, bare_scaling) = (two / one, bare_two / bare_one);
    table.add([
        "Calls a second on two threads".into(),
        format!("{two:.0}"),
        format!("{one:.0} (one thread)"),
        format!("{scaling:.2}×"),
        // What two threads can gain is the machine's to say; whether we waste any of it is ours.
        judged(
            "≥ 1.7×, or 0.9 of the bare engine's".into(),
            scaling >= 1.7 || scaling >= 0.9 * bare_scaling,
        ),
    ]);
    table.add([
        "The same on the bare engine".into(),
        format!("{bare_two:.0}"),
        format!("{bare_one:.0} (one thread)"),
        format!("{bare_scaling:.2}×"),
        String::new(),
    ]);
}

#[derive(Clone, Copy)]
enum Inputs {
    Distinct,
    Same,
}

impl Sides {
    fn new(folder: &Path) -> Self {
        let bench = Bench::new(folder);
        Self {
            bare: Arc::new(Bare::new(guests::TRIVIAL)),
            tool: bench.tool("Trivial"),
            policy: bench.policy(),
            dispatch: Arc::new(bench.session()),
            serial: AtomicU64::new(0),
            bench,
        }
    }
    /// An input that no call had before.
    fn next(&self) -> Arc<str> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        text(&format!("call {serial}")).into()
    }

    fn bare(&self) -> Side<'_> {
        Box::new(|| {
            let input = self.next().to_string();
            self.bench.waiting.block_on(async {
                let started = Instant::now();
                self.bare.call(&input).await;
                started.elapsed()
            })
        })
    }

    /// Only what a permit leads to.
    fn act(&self) -> Side<'_> {
        const READ_ONLY: Claims = Claims {
            read_only: true,
            concurrency_safe: true,
            destructive: None,
        };
        let environment = self.bench.environment();
        Box::new(move || {
            let permit = permit(&self.policy, self.next(), READ_ONLY);
            let environment = environment.clone();
            self.bench.waiting.block_on(async {
                let started = Instant::now();
                self.tool.call(permit, environment).await.unwrap();
                started.elapsed()
            })
        })
    }

    /// The claims, the decision about them, and the act.
    fn inspect_and_act(&self, inputs: Inputs) -> Side<'_> {
        let environment = self.bench.environment();
        let same: Arc<str> = text("the same").into();
        Box::new(move || {
            let input = match inputs {
                Inputs::Distinct => self.next(),
                Inputs::Same => same.clone(),
            };
            let environment = environment.clone();
            self.bench.waiting.block_on(async {
                let started = Instant::now();
                let claims = self.tool.claims(&input).await.unwrap();
                let permit = permit(&self.policy, input, claims);
                self.tool.call(permit, environment).await.unwrap();
                started.elapsed()
            })
        })
    }

    /// From the block to the result.
    fn whole(&self) -> Side<'_> {
        Box::new(|| {
            let serial = self.serial.fetch_add(1, Ordering::Relaxed);
            let input = json!({ "text": format!("call {serial}") });
            self.bench.waiting.block_on(async {
                let started = Instant::now();
                call(&self.dispatch, "Trivial", input).await;
                started.elapsed()
            })
        })
    }

    /// So many tasks that call one after the other, each on a thread of its own.
    fn calls_in_a_second<F>(
        &self,
        tasks: usize,
        work: impl Fn(String) -> F + Clone + Send + 'static,
    ) -> f64
    where
        F: Future<Output = ()> + Send,
    {
        let over = Arc::new(AtomicBool::new(false));
        let started = Instant::now();
        let running: Vec<_> = (0..tasks)
            .map(|task| {
                let (work, over) = (work.clone(), over.clone());
                let first = self.serial.fetch_add(1_000_000, Ordering::Relaxed);
                self.bench.waiting.spawn(async move {
                    let mut done = 0_u64;
                    while !over.load(Ordering::Relaxed) {
                        work(format!("task {task}, call {}", first + done)).await;
                        done += 1;
                    }
                    done
                })
            })
            .collect();
        std::thread::sleep(SPAN);
        over.store(true, Ordering::Relaxed);
        let done: u64 = running
            .into_iter()
            .map(|task| self.bench.waiting.block_on(task).unwrap())
            .sum();
        done as f64 / started.elapsed().as_secs_f64()
    }
}

fn text(text: &str) -> String {
    json!({ "text": text }).to_string()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
