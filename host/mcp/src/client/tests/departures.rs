//! Servers are told that it is over, all at once, and those that do not care are killed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use toolbay_contract::BoxFuture;

use super::fake::*;
use crate::client::config::StdioConfig;
use crate::client::{Departures, Instance, Launched, Launcher, Servers, State, Surroundings};

/// What a process does when its input ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// Says more than a pipe holds, then puts things in order and ends.
    Good,
    /// Goes on as if nothing was.
    None,
    /// Hardly reads after it has listed its tools, so that its input is full.
    Deaf,
}

/// What was seen of all processes.
#[derive(Default)]
struct Seen {
    started: AtomicUsize,
    told: AtomicUsize,
    in_order: AtomicUsize,
    /// For each that was killed: how many had been told by then.
    killed: Mutex<Vec<usize>>,
}

struct Processes(Manners, Arc<Seen>);

/// Ends with the process, however that comes.
struct Body {
    seen: Arc<Seen>,
    ended: bool,
}

impl Body {
    fn ends(mut self) {
        self.ended = true;
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if !self.ended {
            let told = self.seen.told.load(Ordering::SeqCst);
            self.seen.killed.lock().unwrap().push(told);
        }
    }
}

impl Launcher for Processes {
    fn launch<'a>(
        &'a self,
        _server: &'a str,
        _config: &'a StdioConfig,
        _instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>> {
        let (manners, seen) = (self.0, self.1.clone());
        seen.started.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let (input, reads) = tokio::io::duplex(1 << 10);
            let (mut writes, output) = tokio::io::duplex(1 << 10);
            let answer = honest(json!([tool("t")]), |_| vec![]);
            let body = Body {
                seen: seen.clone(),
                ended: false,
            };
            let life = async move {
                let mut lines = BufReader::new(reads).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let message = serde_json::from_str(&line).unwrap();
                    let is_list = line.contains("tools/list");
                    for say in answer(&message) {
                        let Say::Line(line) = say else { continue };
                        let _ = writes.write_all(format!("{line}\n").as_bytes()).await;
                    }
                    if is_list && manners == Manners::Deaf {
                        break;
                    }
                }
                if manners == Manners::Deaf {
                    // So slowly that what is sent to it would take minutes.
                    let mut reads = lines.into_inner();
                    while reads.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                seen.told.fetch_add(1, Ordering::SeqCst);
                if manners == Manners::None {
                    std::future::pending::<()>().await;
                }
                for _ in 0..100 {
                    writes.write_all(&[b'x'; 1 << 10]).await.unwrap();
                }
                seen.in_order.fetch_add(1, Ordering::SeqCst);
                body.ends();
                "it ended with the code 0".to_owned()
            };
            Ok(Launched {
                input: Box::new(input),
                output: Box::new(output),
                errors: Box::new(tokio::io::empty()),
                life: Box::pin(life),
            })
        })
    }
}

/// So many servers, each under its own name.
fn several(count: usize, manners: Manners) -> (Servers, Departures, Arc<Seen>) {
    let seen: Arc<Seen> = Arc::default();
    let departures = Departures::new();
    let configs = (0..count).map(|number| {
        let mut config = process();
        config.name = format!("s{number}");
        config
    });
    let around = Surroundings {
        departures: departures.clone(),
        ..around(Arc::new(Processes(manners, seen.clone())))
    };
    (Servers::new(configs.collect(), around), departures, seen)
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_server_that_is_told_gets_to_put_things_in_order() {
    // Whether somebody still holds the connection or not.
    for held in [true, false] {
        let (servers, departures, seen) = several(3, Manners::Good);
        servers.connect_all().await;
        let kept = held.then_some(servers);
        assert!(departures.all(LONG).await);
        assert_eq!(seen.in_order.load(Ordering::SeqCst), 3, "held: {held}");
        assert!(seen.killed.lock().unwrap().is_empty());
        drop(kept);
    }
}

#[tokio::test]
async fn ten_that_do_not_care_are_waited_for_together_and_killed() {
    let (servers, departures, seen) = several(10, Manners::None);
    servers.connect_all().await;
    assert!(departures.all(LONG).await);
    let killed = seen.killed.lock().unwrap().clone();
    assert_eq!(
        killed, [10; 10],
        "each was told before the first was killed"
    );
}

#[tokio::test]
async fn one_that_does_not_read_cannot_keep_its_input_open() {
    let (servers, departures, seen) = several(1, Manners::Deaf);
    servers.connect_all().await;
    let servers = Arc::new(servers);
    // More than its pipe holds: whoever sends this waits.
    let tool = find(&servers, "mcp__s0__t");
    let stuck = tokio::spawn(async move {
        let large = json!({"text": "x".repeat(1 << 20)});
        call(&*tool, large).await.is_err()
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(departures.all(LONG).await);
    assert_eq!(seen.told.load(Ordering::SeqCst), 1);
    assert!(stuck.await.unwrap());
}

#[tokio::test]
async fn a_session_that_ends_before_the_program_tells_its_servers_too() {
    let (servers, departures, seen) = several(2, Manners::Good);
    servers.connect_all().await;
    drop(servers);
    while seen.in_order.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(departures.all(LONG).await);
}

#[tokio::test]
async fn nothing_is_started_when_everything_ends() {
    let (servers, departures, seen) = several(1, Manners::Good);
    assert!(departures.all(LONG).await);
    let refused = servers.connect("s0").await.unwrap_err();
    assert!(refused.contains("about to end"), "{refused}");
    let state = servers.statuses().remove(0).state;
    assert!(matches!(state, State::Failed { .. }), "{state:?}");
    assert!(departures.all(LONG).await);
    assert_eq!(seen.started.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn whoever_is_in_a_hurry_need_not_wait() {
    let (servers, departures, _seen) = several(1, Manners::None);
    servers.connect_all().await;
    assert!(!departures.all(Duration::ZERO).await);
}
