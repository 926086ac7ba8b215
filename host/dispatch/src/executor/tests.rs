//! Turns with tools that are made for it: random ones against the rules in their
//! simplest form, and a few in which one rule can be seen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolbay_contract::{
    Content, Failure, FileSeen, KillSwitch, Modifier, OnError, OnInterrupt, Outcome, Progress,
    ToolUse,
};
use toolbay_policy::Claims;

use super::*;
use crate::testing::{FakeTool, dispatch_of};

/// What a call did, in the order in which it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Trace {
    Began(String),
    Ended(String),
}

type Log = Arc<Mutex<Vec<Trace>>>;

/// Manners by tool name: `shared` or `alone`, `cancel` or `finish`, `kin` or `lone`.
fn tool_names() -> Vec<String> {
    let mut names = Vec::new();
    for run in ["shared", "alone"] {
        for interrupt in ["finish", "cancel"] {
            for error in ["lone", "kin"] {
                names.push(format!("{run}_{interrupt}_{error}"));
            }
        }
    }
    names
}

fn dispatch(log: &Log) -> Arc<Dispatch> {
    let tools = tool_names().into_iter().map(|name| {
        let log = log.clone();
        FakeTool::named(&name)
            .claims(Claims {
                read_only: name.starts_with("shared"),
                concurrency_safe: name.starts_with("shared"),
                destructive: None,
            })
            .info(|info| {
                if name.contains("cancel") {
                    info.interrupt = OnInterrupt::Cancel;
                }
                if name.contains("kin") {
                    info.error = OnError::CancelSiblings;
                }
            })
            .on_call(move |permit, environment| {
                let log = log.clone();
                async move {
                    let input: Value = serde_json::from_str(permit.input()).unwrap();
                    let id = permit.call_id().to_string();
                    let note = |trace| log.lock().unwrap().push(trace);
                    note(Trace::Began(id.clone()));
                    // However it ends, also by a panic, it has ended.
                    let _ended = Ended(log.clone(), id.clone());
                    for _ in 0..input["steps"].as_u64().unwrap_or(0) {
                        tokio::task::yield_now().await;
                    }
                    (environment.progress)(&id, Progress::Percent(50));
                    match input["do"].as_str().unwrap() {
                        "ok" => Ok(Outcome {
                            content: vec![Content::Text(format!("{id} is done"))],
                            modifiers: vec![Modifier::FileSeen(FileSeen {
                                path: "/last".into(),
                                digest: id,
                                whole: true,
                                shown: None,
                            })],
                            ..Outcome::default()
                        }),
                        "fail" => Err(Failure::Tool {
                            message: format!("{id} failed"),
                            code: None,
                            retryable: false,
                        }),
                        "hang" => {
                            environment.kill.thrown().await;
                            Err(Failure::Killed(environment.kill.reason().unwrap()))
                        }
                        _ => panic!("as it was told to"),
                    }
                }
            })
            .shared()
    });
    dispatch_of(tools.collect())
}

struct Ended(Log, String);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(Trace::Ended(self.1.clone()));
    }
}

fn call(id: usize, tool: &str, input: Value) -> ToolUse {
    ToolUse {
        id: format!("call{id}"),
        name: tool.into(),
        input,
    }
}

/// All events until the turn is over. A turn that hangs fails its test.
async fn drain(mut events: Events) -> Vec<Event> {
    let mut all = Vec::new();
    let work = async {
        while let Some(event) = events.recv().await {
            all.push(event);
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), work).await;
    assert!(ended.is_ok(), "the turn hangs after {all:?}");
    all
}

fn results(events: &[Event]) -> Vec<&ToolResult> {
    let results = events.iter().filter_map(|event| match event {
        Event::Result(result) => Some(&**result),
        _ => None,
    });
    results.collect()
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Checks the log of one turn against the rules, without any machine.
fn check_log(log: &[Trace], tools: &HashMap<String, String>, cap: usize, context: &str) {
    let mut running: Vec<&str> = Vec::new();
    let mut last_alone = None;
    for trace in log {
        match trace {
            Trace::Began(id) => {
                running.push(id);
                assert!(running.len() <= cap, "more than the cap; {context}");
                if running.len() > 1 {
                    let shared = running.iter().all(|id| tools[*id].starts_with("shared"));
                    assert!(shared, "{running:?} run together; {context}");
                }
                if tools[id].starts_with("alone") {
                    let number: usize = id["call".len()..].parse().unwrap();
                    assert!(Some(number) > last_alone, "out of order; {context}");
                    last_alone = Some(number);
                }
            }
            Trace::Ended(id) => running.retain(|running| running != id),
        }
    }
    assert_eq!(running, Vec::<&str>::new(), "left running; {context}");
}

#[tokio::test]
async fn random_turns_keep_the_rules() {
    // Panics are part of the game; their traces are not.
    std::panic::set_hook(Box::new(|_| {}));
    let names = tool_names();
    for seed in 1..=3_000_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let log = Log::default();
        let cap = 1 + dice.below(4) as usize;
        let setting = TurnSetting {
            cap,
            budget: if dice.below(4) == 0 {
                Budget::Together
            } else {
                Budget::AsTheyCome
            },
        };
        let (executor, events) = Executor::start(dispatch(&log), setting, KillSwitch::new());
        let count = 1 + dice.below(10) as usize;
        let mut tools = HashMap::new();
        let mut wanted = Vec::new();
        for number in 0..count {
            let tool = names[dice.below(8) as usize].clone();
            let what = match dice.below(12) {
                0..=7 => "ok",
                8..=9 => "fail",
                10 => "hang",
                _ => "panic",
            };
            let steps = dice.below(6);
            tools.insert(format!("call{number}"), tool.clone());
            wanted.push(what);
            executor.add(call(number, &tool, json!({"do": what, "steps": steps})));
            for _ in 0..dice.below(8) {
                tokio::task::yield_now().await;
            }
            if dice.below(25) == 0 {
                executor.interrupt();
            }
        }
        for _ in 0..dice.below(30) {
            tokio::task::yield_now().await;
        }
        let stopped = wanted.contains(&"hang") || dice.below(5) == 0;
        if dice.below(2) == 0 {
            executor.close();
        }
        if stopped {
            // One that finishes and hangs is ended by nothing but this.
            executor.interrupt();
            executor.discard();
        }
        drop(executor);

        let context = format!("seed {seed}: {wanted:?}, cap {cap}");
        let events = drain(events).await;
        let results = results(&events);
        assert_eq!(results.len(), count, "{context}");
        for (number, result) in results.iter().enumerate() {
            let id = format!("call{number}");
            assert_eq!(result.id, id, "{context}");
            let text = result.text();
            let own = match wanted[number] {
                "ok" => text == format!("{id} is done"),
                "fail" => text.contains(&format!("{id} failed")),
                "panic" => text.contains("toolbay itself broke"),
                _ => false,
            };
            let made_up = ["stopped this turn", "thrown away", "ran beside this one"]
                .iter()
                .any(|part| text.contains(part));
            assert!(own || made_up, "{id}: {text}; {context}");
            assert_eq!(
                result.is_error,
                wanted[number] != "ok" || made_up,
                "{context}"
            );
        }
        assert!(
            matches!(events.last(), Some(Event::Over { .. })),
            "{context}"
        );
        check_log(&log.lock().unwrap(), &tools, cap, &context);
    }
    drop(std::panic::take_hook());
}

#[tokio::test]
async fn a_turn_that_nobody_disturbs_gives_each_call_its_own_result() {
    let log = Log::default();
    let dispatch = dispatch(&log);
    let names = tool_names();
    let blocks: Vec<ToolUse> = (0..40)
        .map(|number| {
            let tool = &names[number % 8];
            call(number, tool, json!({"do": "ok", "steps": number % 5}))
        })
        .collect();
    let results = run_batch(dispatch, blocks, 3, KillSwitch::new()).await;
    for (number, result) in results.iter().enumerate() {
        assert_eq!(result.text(), format!("call{number} is done"));
    }
    assert_eq!(results.len(), 40);
}

#[tokio::test]
async fn what_calls_ask_of_the_session_is_done_in_call_order() {
    let log = Log::default();
    let dispatch = dispatch(&log);
    let (executor, events) =
        Executor::start(dispatch.clone(), TurnSetting::default(), KillSwitch::new());
    // The first takes longest, and yet the last one's word counts.
    for (number, steps) in [(0, 50), (1, 20), (2, 1)] {
        let input = json!({"do": "ok", "steps": steps});
        executor.add(call(number, "shared_finish_lone", input));
    }
    executor.close();
    drain(events).await;
    let seen = dispatch.session().seen("/last".as_ref()).unwrap();
    assert_eq!(seen.digest, "call2");
}

#[tokio::test]
async fn an_unknown_tool_and_a_bad_input_run_alone_and_fail_alone() {
    let log = Log::default();
    let (executor, events) =
        Executor::start(dispatch(&log), TurnSetting::default(), KillSwitch::new());
    executor.add(call(
        0,
        "shared_finish_kin",
        json!({"do": "ok", "steps": 5}),
    ));
    executor.add(call(1, "NoSuch", json!({})));
    executor.add(call(2, "shared_finish_kin", json!(["not", "an", "object"])));
    executor.add(call(3, "shared_finish_kin", json!({"do": "ok"})));
    drop(executor);
    let events = drain(events).await;
    let results = results(&events);
    let failed: Vec<bool> = results.iter().map(|result| result.is_error).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(results[1].stage, Some(crate::Stage::Lookup));
    assert_eq!(results[2].stage, Some(crate::Stage::Schema));
}

#[tokio::test]
async fn progress_comes_before_the_results_of_earlier_calls() {
    let log = Log::default();
    let (executor, mut events) =
        Executor::start(dispatch(&log), TurnSetting::default(), KillSwitch::new());
    executor.add(call(0, "shared_cancel_lone", json!({"do": "hang"})));
    executor.add(call(1, "shared_cancel_lone", json!({"do": "hang"})));
    let mut told = Vec::new();
    while told.len() < 2 {
        match events.recv().await.unwrap() {
            Event::Progress { id, .. } => told.push(id),
            Event::Started { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    executor.interrupt();
    executor.close();
    assert_eq!(results(&drain(events).await).len(), 2);
}

#[tokio::test]
async fn a_turn_that_nobody_listens_to_ends_its_calls() {
    let log = Log::default();
    let (executor, events) =
        Executor::start(dispatch(&log), TurnSetting::default(), KillSwitch::new());
    executor.add(call(0, "alone_finish_lone", json!({"do": "hang"})));
    while log.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(events);
    let ended = Trace::Ended("call0".into());
    while !log.lock().unwrap().contains(&ended) {
        tokio::task::yield_now().await;
    }
    drop(executor);
}

#[tokio::test]
async fn a_thrown_switch_ends_the_turn_with_a_result_for_each_call() {
    let log = Log::default();
    let kill = KillSwitch::new();
    let (executor, events) = Executor::start(dispatch(&log), TurnSetting::default(), kill.clone());
    executor.add(call(0, "alone_finish_lone", json!({"do": "hang"})));
    executor.add(call(1, "alone_finish_lone", json!({"do": "ok"})));
    while log.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    kill.throw(toolbay_contract::KillReason::Shutdown);
    executor.close();
    let events = drain(events).await;
    assert!(results(&events).iter().all(|result| result.is_error));
    assert_eq!(results(&events).len(), 2);
}
