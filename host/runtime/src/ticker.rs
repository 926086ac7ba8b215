//! The clock by which guests in endless loops are brought back.
//!
//! One thread moves the engine's epoch every few milliseconds; at each move a
//! running guest gives the thread back, and whoever waits for it can end it.
//! While nothing runs the thread sleeps: an idle host wakes nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// How often a guest is interrupted. Ten milliseconds leave room to end one within
/// a hundred, and cost nothing that can be measured.
const TICK: Duration = Duration::from_millis(10);

/// Ticks without any guest after which the thread goes to sleep.
const IDLE_TICKS: u32 = 50;

pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<Thread>,
}

struct Shared {
    running: AtomicUsize,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// Keeps the ticker awake while a guest runs.
pub(crate) struct Awake<'a>(&'a Shared);

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            running: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let engine = engine.weak();
        let for_thread = shared.clone();
        let handle = thread::Builder::new()
            .name("toolbay-epoch".into())
            .spawn(move || {
                let mut idle = 0;
                while !for_thread.stop.load(Ordering::Acquire) {
                    if idle >= IDLE_TICKS {
                        for_thread.asleep.store(true, Ordering::SeqCst);
                        if for_thread.running.load(Ordering::SeqCst) == 0 {
                            thread::park();
                        }
                        for_thread.asleep.store(false, Ordering::SeqCst);
                        idle = 0;
                        continue;
                    }
                    thread::park_timeout(TICK);
                    let Some(engine) = engine.upgrade() else {
                        return;
                    };
                    engine.increment_epoch();
                    idle = if for_thread.running.load(Ordering::SeqCst) == 0 {
                        idle + 1
                    } else {
                        0
                    };
                }
            })?;
        Ok(Self {
            shared,
            thread: Some(handle.thread().clone()),
        })
    }

    /// A guest is about to run.
    pub(crate) fn awake(&self) -> Awake<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst)
            && let Some(thread) = &self.thread
        {
            thread.unpark();
        }
        Awake(&self.shared)
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.unpark();
        }
    }
}
